//! Payment cards, numeric national ids and phone numbers.

use super::Redactor;
use super::check_digits::{
    has_insee_date, has_luhn, is_aadhaar, is_cpf, is_insee, is_pesel, is_ssn, is_steuer_id,
};
use super::context::{Evidence, Meaning, evidence_for};
use super::number_run::{Number, find_runs};
use super::phone::{Form, phone_form};
use super::replacement::Replacement;

/// Words between a number and the word that tells its meaning, plus one.
const NEAR: usize = 2;
const NEAR_PHONE: usize = 2;
/// A French number has seven groups.
const MAX_ID_GROUPS: usize = 7;

enum NumberKind {
    Card,
    NationalId,
    Phone,
}

/// Numbers of the kinds that are switched on. A number of another kind is not taken for one of them.
pub(super) fn find_numbers(text: &str, redactor: &Redactor) -> Vec<Replacement> {
    let mut found = Vec::new();
    for run in find_runs(text) {
        run.visit_numbers(text, |number| {
            let Some(kind) = kind_of(text, number) else { return false };
            let (is_on, by) = match kind {
                NumberKind::Card => (redactor.card, "[card]"),
                NumberKind::NationalId => (redactor.national_id, "[national_id]"),
                NumberKind::Phone => (redactor.phone, "[phone]"),
            };
            if is_on {
                found.push(Replacement { range: number.range.clone(), by });
            }
            true
        });
    }
    found
}

fn kind_of(text: &str, number: &Number<'_>) -> Option<NumberKind> {
    if is_card(number) {
        let evidence = evidence_for(text, &number.range);
        // Numbers of other lengths than 16 are as often the ids of records.
        let is_named = evidence.is_some_and(|word| word.meaning == Meaning::Card);
        let is_plain = number.sizes.len() == 1;
        if is_plain && number.digits.len() > 16 && !number.digits.starts_with(&[6, 2]) && !is_named
        {
            return None;
        }
        return evidence.is_none_or(|word| !word.is_other(NEAR)).then_some(NumberKind::Card);
    }
    let (id, phone) = (id_form(number), phone_form(number));
    if (id.is_none() && phone.is_none()) || !number.stands_alone() {
        return None;
    }
    let evidence = evidence_for(text, &number.range);
    let says = |meaning| evidence.is_some_and(|word| word.meaning == meaning);
    // Groups as of a phone number, or a word such as "fax" before what can be one.
    let is_grouped = phone == Some(Form::Likely) && number.sizes.len() > 1;
    let is_phone_first = phone.is_some() && (says(Meaning::Phone) || is_grouped);
    let is_id_first = !is_phone_first || says(Meaning::NationalId);
    if is_id_first && id.is_some_and(|form| is_id(form, evidence)) {
        return Some(NumberKind::NationalId);
    }
    phone.is_some_and(|form| is_phone(form, evidence)).then_some(NumberKind::Phone)
}

fn is_id(form: Form, evidence: Option<Evidence>) -> bool {
    let says = |meaning| evidence.is_some_and(|word| word.meaning == meaning);
    match form {
        Form::Certain => true,
        Form::Likely => evidence.is_none_or(|word| !word.is_other(NEAR)),
        Form::Possible => says(Meaning::NationalId),
    }
}

fn is_phone(form: Form, evidence: Option<Evidence>) -> bool {
    let says = |meaning| evidence.is_some_and(|word| word.meaning == meaning);
    match form {
        Form::Certain => true,
        Form::Likely => {
            !says(Meaning::NationalId) && evidence.is_none_or(|word| !word.is_other(NEAR_PHONE))
        }
        Form::Possible => says(Meaning::Phone) || says(Meaning::Number),
    }
}

/// The form of a US, Brazilian, German, Polish, Indian or French id with a valid check digit.
fn id_form(number: &Number<'_>) -> Option<Form> {
    let digits = number.digits.as_slice();
    let is_simple = number.separators().all(|separator| separator.len() == 1);
    if number.has_plus
        || number.has_bracket
        || number.has_line_break()
        || !is_simple
        || number.sizes.len() > MAX_ID_GROUPS
    {
        return None;
    }
    let grouped = |form| Some(if number.sizes.len() > 1 { form } else { Form::Possible });
    match digits.len() {
        9 if is_ssn(digits) => match number.sizes.as_slice() {
            [3, 2, 4] => Some(Form::Likely),
            _ => (number.sizes.len() == 1).then_some(Form::Possible),
        },
        11 if number.sizes.len() > 5 => None,
        11 if is_cpf(digits) || is_steuer_id(digits) || is_pesel(digits) => Some(Form::Likely),
        12 if is_aadhaar(digits) => match number.sizes.as_slice() {
            [4, 4, 4] | [12] => grouped(Form::Likely),
            _ => None,
        },
        13 | 15 => {
            let characters: Vec<u8> = digits.iter().map(|digit| digit + b'0').collect();
            if is_insee(&characters) {
                let form = if number.sizes.len() >= 5 { Form::Certain } else { Form::Likely };
                return Some(form);
            }
            let is_without_key = digits.len() == 13 && has_insee_date(&characters);
            is_without_key.then_some(Form::Possible)
        }
        _ => None,
    }
}

/// A number of a card scheme with Luhn's check digit.
fn is_card(number: &Number<'_>) -> bool {
    let digits = number.digits.as_slice();
    let is_repeated = digits.chunks(4).all(|chunk| *chunk == digits[..chunk.len()]);
    number.separators().all(|separator| separator.len() == 1)
        && number.sizes.iter().all(|size| *size >= 2)
        && !number.is_within_longer()
        && is_card_scheme(digits)
        && !is_repeated
        && has_luhn(digits)
}

/// First digits and length of Visa, Mastercard, American Express, UnionPay and the smaller schemes.
fn is_card_scheme(digits: &[u8]) -> bool {
    let count = digits.len();
    if !(13..=19).contains(&count) {
        return false;
    }
    let prefix =
        |length: usize| digits[..length].iter().fold(0_u32, |sum, d| sum * 10 + u32::from(*d));
    match prefix(2) {
        40..=49 => matches!(count, 13 | 16 | 19),
        51..=55 => count == 16,
        22..=27 => count == 16 && matches!(prefix(4), 2200..=2204 | 2221..=2720),
        34 | 37 => count == 15,
        30 | 36 | 38 | 39 => count == 14 || (count == 16 && prefix(2) != 30),
        35 => count == 16 && (3528..=3589).contains(&prefix(4)),
        62 | 60 | 65 | 81 | 82 => matches!(count, 16..=19),
        50 | 56..=59 | 61 | 63 | 64 | 66..=69 => matches!(count, 16 | 18 | 19),
        _ => false,
    }
}
