//! Bank accounts: IBANs of every country, with their length and checksum.

use std::ops::Range;

use super::check_digits::is_one_modulo_97;

/// Length by country.
const LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 \
    CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 \
    HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 \
    ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 \
    SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30 DZ26 AO25 \
    BJ28 BF28 CM27 CV25 CI28 GA27 IR26 MA28 MG27 ML28 MZ25 SN28";

/// Every IBAN has more digits.
pub(super) const FEWEST_DIGITS: usize = 7;

pub(super) fn find_ibans(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at + 15 <= bytes.len() {
        // Two letters and two digits.
        let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) else { break };
        let first = (at + digit).max(2);
        at = first + 1;
        let start = first - 2;
        let begins = bytes[start..first].iter().all(u8::is_ascii_alphabetic)
            && bytes.get(at).is_some_and(u8::is_ascii_digit)
            && !start.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric());
        if begins && let Some(end) = iban_end(bytes, start) {
            found.push(start..end);
            at = end;
        }
    }
    found
}

/// The end of the IBAN that begins here. Its groups may be in lower case and separated.
fn iban_end(bytes: &[u8], start: usize) -> Option<usize> {
    let length = length_of(&bytes[start..start + 2])?;
    let mut characters = Vec::with_capacity(length);
    let mut end = start;
    while characters.len() < length {
        let byte = *bytes.get(end)?;
        if byte.is_ascii_alphanumeric() {
            characters.push(char::from(byte));
        } else if !matches!(byte, b' ' | b'-' | b'.') || !bytes[end - 1].is_ascii_alphanumeric() {
            return None;
        }
        end += 1;
    }
    let is_whole = bytes.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let (head, tail) = characters.split_at(4);
    (is_whole && is_one_modulo_97(tail.iter().chain(head).copied())).then_some(end)
}

fn length_of(country: &[u8]) -> Option<usize> {
    let country = std::str::from_utf8(country).ok()?.to_ascii_uppercase();
    let entry = LENGTHS.split_ascii_whitespace().find(|entry| entry.starts_with(&country))?;
    entry[2..].parse().ok()
}
