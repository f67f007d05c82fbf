//! Phone numbers by the numbering plans of the common countries.

use super::number_run::Number;

/// Certainty of a number by its form alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// International: no other numbers look like it.
    Certain,
    /// Written like a phone number. A word before it may tell that it is none.
    Likely,
    /// Needs a word that says so.
    Possible,
}

/// National digits, without the prefix `0`, by country code. Others have 6 to 12.
const NATIONAL_DIGITS: &[(&str, std::ops::RangeInclusive<usize>)] = &[
    ("1", 10..=10),
    ("7", 10..=10),
    ("31", 9..=9),
    ("33", 9..=9),
    ("34", 9..=9),
    ("39", 6..=11),
    ("41", 9..=9),
    ("44", 9..=10),
    ("48", 9..=9),
    ("49", 6..=11),
    ("55", 10..=11),
    ("81", 9..=10),
    ("86", 10..=11),
    ("90", 10..=10),
    ("91", 10..=10),
];

/// Groups of numbers without a prefix, by their sizes and first digits.
struct Plan {
    sizes: &'static [usize],
    fits: fn(&[u8]) -> bool,
    form: Form,
}

const PLANS: &[Plan] = &[
    // North America. Three groups may also be of Italy or India.
    Plan { sizes: &[3, 3, 4], fits: |d| d[0] >= 2, form: Form::Likely },
    Plan { sizes: &[1, 3, 3, 4], fits: |d| d[0] == 1 && d[1] >= 2, form: Form::Likely },
    Plan { sizes: &[3, 7], fits: |d| d[0] == 3, form: Form::Likely },
    Plan { sizes: &[3, 7], fits: |d| d[0] >= 2, form: Form::Possible },
    Plan { sizes: &[3, 3, 2, 2], fits: |d| d[0] >= 2, form: Form::Likely },
    Plan { sizes: &[1, 3, 3, 2, 2], fits: |d| matches!(d[0], 7 | 8), form: Form::Likely },
    // Spain, Poland, Portugal.
    Plan { sizes: &[3, 3, 3], fits: |d| d[0] >= 4, form: Form::Likely },
    Plan { sizes: &[3, 2, 2, 2], fits: |d| d[0] >= 6, form: Form::Likely },
    Plan { sizes: &[2, 3, 2, 2], fits: |d| d[0] >= 1, form: Form::Likely },
    // Brazil, with the area code.
    Plan { sizes: &[2, 5, 4], fits: |d| is_brazilian(d) && d[2] == 9, form: Form::Likely },
    Plan { sizes: &[2, 1, 4, 4], fits: |d| is_brazilian(d) && d[2] == 9, form: Form::Likely },
    Plan { sizes: &[2, 9], fits: |d| is_brazilian(d) && d[2] == 9, form: Form::Likely },
    Plan { sizes: &[2, 4, 4], fits: is_brazilian, form: Form::Possible },
    Plan { sizes: &[5, 4], fits: |d| d[0] == 9, form: Form::Possible },
    // India and China.
    Plan { sizes: &[5, 5], fits: |d| d[0] >= 6, form: Form::Likely },
    Plan { sizes: &[4, 3, 3], fits: |d| d[0] >= 6, form: Form::Likely },
    Plan { sizes: &[3, 4, 4], fits: is_chinese_mobile, form: Form::Likely },
    Plan { sizes: &[7, 4], fits: is_chinese_mobile, form: Form::Likely },
    Plan { sizes: &[3, 8], fits: is_chinese_mobile, form: Form::Likely },
    Plan { sizes: &[11], fits: is_chinese_mobile, form: Form::Likely },
    // Numbers without separators.
    Plan { sizes: &[11], fits: |d| is_brazilian(d) && d[2] == 9, form: Form::Possible },
    Plan { sizes: &[11], fits: |d| matches!(d[0], 1 | 7 | 8), form: Form::Possible },
    Plan { sizes: &[10], fits: |d| d[0] >= 2, form: Form::Possible },
    Plan { sizes: &[9], fits: |d| d[0] >= 2, form: Form::Possible },
    // Short forms and those of smaller countries.
    Plan { sizes: &[2, 2, 2, 2], fits: |d| d[0] >= 1, form: Form::Possible },
    Plan { sizes: &[3, 4], fits: |d| d[0] >= 2, form: Form::Possible },
    Plan { sizes: &[4, 4], fits: |d| d[0] >= 2, form: Form::Possible },
    Plan { sizes: &[3, 3, 3, 2], fits: |d| d[0] >= 2, form: Form::Possible },
    Plan { sizes: &[2, 3, 4], fits: |d| d[0] >= 1, form: Form::Possible },
];

/// The form of a number, if it can be a phone number.
pub(super) fn phone_form(number: &Number<'_>) -> Option<Form> {
    let digits = &number.digits;
    if number.has_line_break() {
        return None;
    }
    if number.has_plus {
        let is_date = matches!(number.sizes.as_slice(), [size, 2, 2, ..] if *size >= 4);
        return (is_international(digits) && !is_date && !is_decimal(number))
            .then_some(Form::Certain);
    }
    if number.follows_call_link() && is_international(digits) {
        return Some(Form::Certain);
    }
    let form = match digits.as_slice() {
        [0, 0, rest @ ..] if number.sizes[0] >= 2 => {
            return (rest.len() >= 9 && is_international(rest)).then_some(Form::Certain);
        }
        [0, 1..=9, ..] => domestic_form(number),
        _ if number.has_bracket => bracket_form(number),
        _ => planned_form(number).or_else(|| {
            // A country code without its plus.
            let is_long = (11..=13).contains(&digits.len()) && is_international(digits);
            is_long.then_some(Form::Possible)
        }),
    };
    if is_decimal(number) { form.map(|_| Form::Possible) } else { form }
}

/// By the plans without a prefix. A slash or a wide separator is more often a list or a fraction.
fn planned_form(number: &Number<'_>) -> Option<Form> {
    let digits = &number.digits;
    let plan = PLANS.iter().find(|plan| plan.sizes == number.sizes && (plan.fits)(digits))?;
    let is_mobile_with_slash = plan.sizes == [3, 7];
    if number
        .separators()
        .any(|between| between.len() > 1 || (between == "/" && !is_mobile_with_slash))
    {
        return None;
    }
    let is_years = plan.sizes == [4, 4] && matches!(digits[..2], [1, 9] | [2, 0]);
    let form = if is_grouped_amount(number) { Form::Possible } else { plan.form };
    (!is_years).then_some(form)
}

/// A country code and a national number of a fitting length.
fn is_international(digits: &[u8]) -> bool {
    if digits.first().is_none_or(|first| *first == 0) {
        return false;
    }
    let starts_with = |code: &str| {
        code.bytes().map(|byte| byte - b'0').eq(digits.iter().copied().take(code.len()))
    };
    match NATIONAL_DIGITS.iter().find(|(code, _)| starts_with(code)) {
        Some((code, lengths)) => {
            let national = &digits[code.len()..];
            // `+49 (0)30 …` has the prefix of domestic calls too.
            let extra = usize::from(national.first() == Some(&0) && *code != "39");
            lengths.contains(&(national.len() - extra))
        }
        None => (8..=15).contains(&digits.len()),
    }
}

/// With the prefix `0` of Europe and Asia: 9 to 12 digits.
fn domestic_form(number: &Number<'_>) -> Option<Form> {
    let (digits, sizes) = (&number.digits, number.sizes.as_slice());
    if is_date(number) {
        return None;
    }
    let is_mobile = matches!(digits[..3], [0, 1, 5..=7]);
    match sizes {
        [10 | 11] => Some(if is_ascending(digits) { Form::Possible } else { Form::Likely }),
        [12] => is_mobile.then_some(Form::Likely),
        [9] => Some(Form::Possible),
        [2, 2, 2, 2, 2] | [2, 8] | [2, 7] | [2, 9] => Some(Form::Likely),
        [2, 4, 4] | [2, 3, 4] | [2, 3, 3] | [2, 3, 2, 2] | [2, 3, 3, 2] => Some(Form::Likely),
        [3..=6, rest @ ..] if rest.len() <= 5 && rest.iter().all(|size| *size >= 2) => {
            (9..=13).contains(&digits.len()).then_some(Form::Likely)
        }
        _ if number.has_bracket => (8..=13).contains(&digits.len()).then_some(Form::Likely),
        _ => None,
    }
}

/// `(415) 555-0132`, `(11) 95550-1234`.
fn bracket_form(number: &Number<'_>) -> Option<Form> {
    let is_code = matches!(number.sizes[0], 2..=4);
    (is_code && matches!(number.digits.len(), 9..=11)).then_some(Form::Likely)
}

fn is_brazilian(digits: &[u8]) -> bool {
    digits[0] != 0 && digits[1] != 0
}

fn is_chinese_mobile(digits: &[u8]) -> bool {
    digits[0] == 1 && digits[1] >= 3
}

/// One full stop, as in a coordinate.
fn is_decimal(number: &Number<'_>) -> bool {
    number.sizes.len() == 2 && number.is_separated_by(".")
}

/// Groups of three after the first, as in an amount.
fn is_grouped_amount(number: &Number<'_>) -> bool {
    let is_thousands = number.sizes[1..].iter().all(|size| *size == 3);
    let is_round = number.digits.ends_with(&[0, 0]) && number.is_separated_by(" ");
    number.sizes.len() > 1 && (is_thousands && number.is_separated_by(".") || is_round)
}

/// Day, month and year, before anything else.
fn is_date(number: &Number<'_>) -> bool {
    let digits = &number.digits;
    let is_day = digits[0] * 10 + digits[1] <= 31 && digits[2] * 10 + digits[3] <= 12;
    matches!(number.sizes.as_slice(), [2, 2, 4, ..])
        && is_day
        && matches!(digits[4..6], [1, 9] | [2, 0])
}

fn is_ascending(digits: &[u8]) -> bool {
    digits.windows(2).all(|pair| pair[0] + 1 == pair[1])
}
