//! Number formatting for pages.

/// Formats a share as a percentage with one decimal.
pub(crate) fn format_percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Formats a whole number with thousands separators.
pub fn format_count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats seconds; below one second, as milliseconds.
pub fn format_seconds(seconds: f64) -> String {
    if seconds < 0.9995 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 9.995 {
        format!("{seconds:.2} s")
    } else {
        format!("{seconds:.1} s")
    }
}

/// Formats a number of unknown magnitude.
pub fn format_number(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        small if small < 0.01 => format!("{number:.5}"),
        some if some < 10.0 => format!("{number:.3}"),
        many if many < 1000.0 => format!("{number:.1}"),
        most => {
            let sign = if number < 0.0 { "−" } else { "" };
            format!("{sign}{}", format_count(most.round() as u64))
        }
    }
}

/// Formats an axis label; whole numbers have no decimals.
pub(crate) fn format_axis_level(number: f64) -> String {
    if (number - number.round()).abs() < 1e-9 && number >= 0.0 {
        return format_count(number.round() as u64);
    }
    format!("{number:.1}")
}

/// Formats a difference of shares as signed percentage points.
pub(crate) fn format_points(difference: f64) -> String {
    let sign = if difference < 0.0 { "−" } else { "+" };
    format!("{sign}{:.1} pts", difference.abs() * 100.0)
}

/// Formats a count with its noun, such as "1 turn" or "1,200 turns".
pub(crate) fn count_noun(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", format_count(number), pluralize(number, one, many))
}

pub(crate) fn pluralize<'a>(number: u64, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_with_units_and_separators() {
        assert_eq!(format_percent(0.8312), "83.1%");
        assert_eq!(
            (format_count(7), format_count(999), format_count(1000)),
            ("7".into(), "999".into(), "1,000".into())
        );
        assert_eq!(format_count(1_234_567), "1,234,567");
        assert_eq!(
            (format_seconds(0.25), format_seconds(1.25), format_seconds(31.0)),
            ("250 ms".into(), "1.25 s".into(), "31.0 s".into())
        );
        assert_eq!(
            (format_number(0.0), format_number(0.0042), format_number(3.0), format_number(-1500.2)),
            ("0".into(), "0.00420".into(), "3.000".into(), "−1,500".into())
        );
        assert_eq!(
            (format_points(0.021), format_points(-0.2)),
            ("+2.1 pts".into(), "−20.0 pts".into())
        );
    }
}
