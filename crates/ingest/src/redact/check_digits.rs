//! Check digits of payment cards, bank accounts and national ids.

/// Luhn's check digit.
pub(super) fn has_luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Letters and digits whose number is 1 modulo 97, with letters counted from 10 to 35 (ISO 7064).
pub(super) fn is_one_modulo_97(characters: impl Iterator<Item = char>) -> bool {
    let mut rest = 0;
    for c in characters {
        let Some(value) = c.to_digit(36) else { return false };
        rest = if value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 };
    }
    rest == 1
}

/// Brazilian CPF: two check digits modulo 11.
pub(super) fn is_cpf(digits: &[u8]) -> bool {
    let check = |count: usize| {
        let sum: usize = (0..count).map(|at| usize::from(digits[at]) * (count + 1 - at)).sum();
        (sum * 10 % 11 % 10) as u8
    };
    digits.len() == 11
        && digits.iter().any(|digit| *digit != digits[0])
        && check(9) == digits[9]
        && check(10) == digits[10]
}

/// German tax id: among the first ten digits one occurs two or three times and the others at most
/// once; the last one is a check digit by ISO 7064, modulo 11 and 10.
pub(super) fn is_steuer_id(digits: &[u8]) -> bool {
    if digits.len() != 11 || digits[0] == 0 {
        return false;
    }
    let mut counts = [0_u8; 10];
    for digit in &digits[..10] {
        counts[usize::from(*digit)] += 1;
    }
    let repeated: Vec<u8> = counts.into_iter().filter(|count| *count > 1).collect();
    if !matches!(repeated.as_slice(), [2 | 3]) {
        return false;
    }
    let mut product = 10;
    for digit in &digits[..10] {
        let sum = match (u32::from(*digit) + product) % 10 {
            0 => 10,
            sum => sum,
        };
        product = sum * 2 % 11;
    }
    (11 - product) % 10 == u32::from(digits[10])
}

/// Polish PESEL: a date of birth from 1900 to 2099 and a weighted check digit.
pub(super) fn is_pesel(digits: &[u8]) -> bool {
    const WEIGHTS: [u32; 10] = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3];
    if digits.len() != 11 {
        return false;
    }
    let pair = |at: usize| digits[at] * 10 + digits[at + 1];
    let sum: u32 =
        digits.iter().zip(WEIGHTS).map(|(digit, weight)| u32::from(*digit) * weight).sum();
    matches!(pair(2), 1..=12 | 21..=32)
        && matches!(pair(4), 1..=31)
        && (10 - sum % 10) % 10 == u32::from(digits[10])
}

/// Indian Aadhaar: twelve digits, the last one by Verhoeff's scheme.
pub(super) fn is_aadhaar(digits: &[u8]) -> bool {
    const PERMUTED: [[u8; 10]; 8] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
        [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
        [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
        [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
        [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
        [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
        [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
    ];
    let check = digits.iter().rev().enumerate().fold(0, |sum, (place, digit)| {
        compose_dihedral(sum, PERMUTED[place % 8][usize::from(*digit)])
    });
    digits.len() == 12 && digits[0] >= 2 && check == 0
}

/// Product in the symmetry group of the pentagon, as Verhoeff's scheme needs it.
fn compose_dihedral(left: u8, right: u8) -> u8 {
    match (left < 5, right < 5) {
        (true, true) => (left + right) % 5,
        (true, false) => (left + right - 5) % 5 + 5,
        (false, true) => (left - right) % 5 + 5,
        (false, false) => (left + 5 - right) % 5,
    }
}

/// French INSEE number: sex, year, month, place, and a key of two digits modulo 97. The department
/// of Corsica has a letter, `2A` or `2B`.
pub(super) fn is_insee(characters: &[u8]) -> bool {
    if characters.len() != 15 || !has_insee_date(characters) {
        return false;
    }
    let corsica = match &characters[5..7] {
        b"2A" | b"2a" => Some((b'1', b'9')),
        b"2B" | b"2b" => Some((b'1', b'8')),
        _ => None,
    };
    let mut rest = 0_u64;
    for (at, byte) in characters.iter().enumerate().take(13) {
        let byte = match (at, corsica) {
            (5, Some((tens, _))) => tens,
            (6, Some((_, ones))) => ones,
            _ => *byte,
        };
        if !byte.is_ascii_digit() {
            return false;
        }
        rest = (rest * 10 + u64::from(byte - b'0')) % 97;
    }
    let (tens, ones) = (characters[13], characters[14]);
    let is_number = tens.is_ascii_digit() && ones.is_ascii_digit();
    is_number && 97 - rest == u64::from(tens - b'0') * 10 + u64::from(ones - b'0')
}

/// True when the first five digits are a sex, a year and a month.
pub(super) fn has_insee_date(characters: &[u8]) -> bool {
    let [sex, _, _, tens, ones, ..] = characters else { return false };
    matches!(sex, b'1' | b'2')
        && matches!((tens, ones), (b'0', b'1'..=b'9') | (b'1', b'0'..=b'2') | (b'2' | b'3', _))
}

/// Spanish DNI and NIE: the letter is the number modulo 23. A NIE begins with X, Y or Z.
pub(super) fn is_nif(characters: &[u8]) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let [first, digits @ .., letter] = characters else { return false };
    let first = match first.to_ascii_uppercase() {
        b'X' => b'0',
        b'Y' => b'1',
        b'Z' => b'2',
        other => other,
    };
    if characters.len() != 9 || !first.is_ascii_digit() || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let number = digits
        .iter()
        .fold(u64::from(first - b'0'), |sum, digit| sum * 10 + u64::from(digit - b'0'));
    LETTERS[(number % 23) as usize] == letter.to_ascii_uppercase()
}

/// Italian codice fiscale: the last of sixteen characters is a check letter.
pub(super) fn is_codice_fiscale(characters: &[u8]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let [code @ .., letter] = characters else { return false };
    if characters.len() != 16 {
        return false;
    }
    let sum: u32 = code
        .iter()
        .enumerate()
        .map(|(at, byte)| {
            let value = match byte.to_ascii_uppercase() {
                digit @ b'0'..=b'9' => digit - b'0',
                letter => letter.saturating_sub(b'A').min(25),
            };
            if at % 2 == 0 { ODD[usize::from(value)] } else { u32::from(value) }
        })
        .sum();
    u32::from(letter.to_ascii_uppercase().wrapping_sub(b'A')) == sum % 26
}

/// UK National Insurance number: no check digit, but prefixes that are never given out.
pub(super) fn is_nino(characters: &[u8]) -> bool {
    let [first, second, digits @ .., last] = characters else { return false };
    let prefix = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
    characters.len() == 9
        && digits.iter().all(u8::is_ascii_digit)
        && matches!(last.to_ascii_uppercase(), b'A'..=b'D')
        && prefix.iter().all(|letter| letter.is_ascii_uppercase() && !b"DFIQUV".contains(letter))
        && prefix[1] != b'O'
        && !matches!(&prefix, b"BG" | b"GB" | b"NK" | b"KN" | b"TN" | b"NT" | b"ZZ")
}

/// US social security number: no check digit, but areas, groups and serials that are never given
/// out.
pub(super) fn is_ssn(digits: &[u8]) -> bool {
    digits.len() == 9
        && digits[0] != 9
        && !matches!(digits[..3], [0, 0, 0] | [6, 6, 6])
        && digits[3..5] != [0, 0]
        && digits[5..] != [0, 0, 0, 0]
}
