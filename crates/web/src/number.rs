//! Numbers as people read them: with units, short, and the same width for the same size.

/// A share as a percentage, with one digit.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A whole number with commas between thousands.
pub fn count(number: u64) -> String {
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

/// Seconds, as milliseconds where they are few.
pub fn seconds(seconds: f64) -> String {
    if seconds < 0.9995 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 9.995 {
        format!("{seconds:.2} s")
    } else {
        format!("{seconds:.1} s")
    }
}

/// A number of a size that is not known before.
pub fn plain(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        small if small < 0.01 => format!("{number:.5}"),
        some if some < 10.0 => format!("{number:.3}"),
        many if many < 1000.0 => format!("{number:.1}"),
        most => count_signed(number, most),
    }
}

fn count_signed(number: f64, size: f64) -> String {
    let sign = if number < 0.0 { "−" } else { "" };
    format!("{sign}{}", count(size.round() as u64))
}

/// A number at a line of an axis: whole ones have no digits behind the point.
pub(crate) fn plain_level(number: f64) -> String {
    if (number - number.round()).abs() < 1e-9 && number >= 0.0 {
        return count(number.round() as u64);
    }
    format!("{number:.1}")
}

/// A difference of shares, in points, with its sign.
pub(crate) fn points(difference: f64) -> String {
    let sign = if difference < 0.0 { "−" } else { "+" };
    format!("{sign}{:.1} pts", difference.abs() * 100.0)
}

/// One word for one, another for none and many.
pub(crate) fn of<'a>(number: u64, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(percent(0.8312), "83.1%");
        assert_eq!((count(7), count(999), count(1000)), ("7".into(), "999".into(), "1,000".into()));
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(
            (seconds(0.25), seconds(1.25), seconds(31.0)),
            ("250 ms".into(), "1.25 s".into(), "31.0 s".into())
        );
        assert_eq!(
            (plain(0.0), plain(0.0042), plain(3.0), plain(-1500.2)),
            ("0".into(), "0.00420".into(), "3.000".into(), "−1,500".into())
        );
        assert_eq!((points(0.021), points(-0.2)), ("+2.1 pts".into(), "−20.0 pts".into()));
    }
}
