//! Numbers with a check digit: payment cards (Luhn) and bank accounts (IBAN).

const LONGEST_CARD: usize = 19;

/// Replaces card numbers within a long run of digit groups.
pub(super) fn redact_cards(run: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    // Start and end of each digit group.
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for (at, c) in run.char_indices() {
        match groups.last_mut() {
            Some((_, end)) if is_digit(c) && *end == at => *end = at + 1,
            _ if is_digit(c) => groups.push((at, at + 1)),
            _ => {}
        }
    }
    let (mut text, mut done, mut first) = (String::new(), 0, 0);
    while first < groups.len() {
        // Every group has a digit, so a card spans at most this many. The list may be very long.
        let end = groups.len().min(first + LONGEST_CARD);
        let card = (first..end).rev().find(|last| {
            let part = &run[groups[first].0..groups[*last].1];
            is_card(part)
        });
        if let Some(last) = card {
            text.push_str(&run[done..groups[first].0]);
            text.push_str("[card]");
            done = groups[last].1;
            first = last + 1;
        } else {
            first += 1;
        }
    }
    (done > 0).then(|| text + &run[done..])
}

/// 15 to 34 characters whose number, with the first four moved to the end, is 1 modulo 97.
pub(super) fn is_iban(text: &str) -> bool {
    let plain: Vec<char> = text.chars().filter(|c| !matches!(c, ' ' | '\u{a0}')).collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let (head, tail) = plain.split_at(4);
    let rest = tail.iter().chain(head).try_fold(0_u32, |rest, c| {
        let value = c.to_digit(36)?;
        Some(if value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 })
    });
    rest == Some(1)
}

fn digits(text: &str) -> impl DoubleEndedIterator<Item = u32> + '_ {
    text.chars().filter_map(|c| c.to_digit(10))
}

/// 13 to 19 digits with a card prefix and a valid Luhn digit, not all equal.
fn is_card(text: &str) -> bool {
    let count = digits(text).count();
    let first = digits(text).next();
    let begins = first.is_some_and(|digit| (2..=6).contains(&digit));
    let fits = begins && (13..=LONGEST_CARD).contains(&count);
    if !fits || digits(text).all(|digit| Some(digit) == first) {
        return false;
    }
    let sum: u32 = digits(text)
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => digit,
            (_, double) if double > 9 => double - 9,
            (_, double) => double,
        })
        .sum();
    sum.is_multiple_of(10)
}
