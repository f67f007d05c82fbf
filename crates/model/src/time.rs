//! Timestamps in UTC microseconds, and the clock.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Microseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a time: RFC 3339 such as 2026-01-31T12:00:00Z, or Unix seconds or milliseconds")]
pub struct BadTime;

impl Timestamp {
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since 1970 UTC, never negative.
    pub fn as_unix_millis(self) -> u64 {
        u64::try_from(self.0 / 1000).unwrap_or(0)
    }

    /// Adds seconds, which may be negative.
    pub const fn plus_secs(self, secs: i64) -> Self {
        Self(self.0.saturating_add(secs.saturating_mul(1_000_000)))
    }

    /// Parses a time in any accepted form: RFC 3339, ISO 8601 without a zone (UTC), or Unix
    /// seconds or milliseconds as a number. Digits beyond microseconds are cut off.
    pub fn parse(text: &str) -> Result<Self, BadTime> {
        if let Some(number) = parse_number(text) {
            let moment = Self::from_unix(number);
            return jiff::Timestamp::from_microsecond(moment.0)
                .map(|_| moment)
                .map_err(|_| BadTime);
        }
        let spelt = text.replacen(' ', "T", 1);
        let zoned = spelt.parse::<jiff::Timestamp>();
        let moment = zoned.or_else(|_| format!("{spelt}Z").parse::<jiff::Timestamp>());
        Ok(Self(moment.map_err(|_| BadTime)?.as_microsecond()))
    }

    /// Converts Unix seconds, or milliseconds above 10^11. Numbers out of range saturate.
    pub fn from_unix(number: f64) -> Self {
        const MILLIS_ABOVE: f64 = 1e11;
        let seconds = if number.abs() > MILLIS_ABOVE { number / 1000.0 } else { number };
        Self((seconds * 1e6).round() as i64)
    }
}

/// A finite decimal number.
fn parse_number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

impl Timestamp {
    /// Parses one end of a window. It may lie beyond printable times: the last days of the year
    /// 9999 mean forever.
    pub fn parse_window_end(text: &str) -> Result<Self, BadTime> {
        let far = |text: &str| {
            let day: jiff::civil::Date = text.get(..10)?.parse().ok()?;
            let last = Self(jiff::Timestamp::MAX.as_second() * 1_000_000);
            (day.year() == 9999 && text.get(10..11) == Some("T")).then_some(last)
        };
        Self::parse(text).or_else(|bad| far(text).ok_or(bad))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with microseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => write!(f, "{moment:.6}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl From<Timestamp> for String {
    fn from(moment: Timestamp) -> Self {
        moment.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = BadTime;

    fn try_from(text: String) -> Result<Self, BadTime> {
        Self::parse(&text)
    }
}

/// A time window with both ends inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start: Timestamp,
    pub end: Timestamp,
}

/// A clock. The program uses the system time; tests set theirs.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Timestamp::parse(text).map(|t| t.to_string()), Ok(expected.to_owned()));
    }

    #[test]
    fn times_are_printed_in_utc_with_microseconds() {
        check("2025-11-06T17:47:02.162904Z", "2025-11-06T17:47:02.162904Z");
        check("2025-11-06T17:47:02Z", "2025-11-06T17:47:02.000000Z");
        check("2025-11-06T18:47:02.5+01:00", "2025-11-06T17:47:02.500000Z");
        check("2025-11-06T17:47:02.1629049Z", "2025-11-06T17:47:02.162904Z");
        check("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z");
    }

    #[test]
    fn window_may_end_at_the_end_of_time() {
        let end = Timestamp::parse_window_end("9999-12-31T23:59:59Z").unwrap();
        assert!(end.to_string().starts_with("9999-12-30T"), "{end}");
        let plain = Timestamp::parse_window_end("2025-11-06T17:47:02Z").unwrap();
        assert_eq!(plain.to_string(), "2025-11-06T17:47:02.000000Z");
        for bad in ["9999-99-99T00:00:00Z", "9999-12", "soon"] {
            assert_eq!(Timestamp::parse_window_end(bad), Err(BadTime), "{bad}");
        }
    }

    #[test]
    fn every_accepted_form_is_the_same_time() {
        let expected = "2025-11-06T17:47:02.162904Z";
        for text in [
            expected,
            "2025-11-06 17:47:02.162904+00:00",
            "2025-11-06T17:47:02.162904",
            "2025-11-06 17:47:02.162904",
            "1762451222.162904",
            "1762451222162.904",
        ] {
            check(text, expected);
        }
        check("1762451222", "2025-11-06T17:47:02.000000Z");
        check("1762451222162", "2025-11-06T17:47:02.162000Z");
        // The limit itself is in seconds.
        check("100000000000", "5138-11-16T09:46:40.000000Z");
        check("100000000001", "1973-03-03T09:46:40.001000Z");
    }

    #[test]
    fn text_that_is_no_time_is_refused() {
        for bad in ["", "yesterday", "2025-11-06", "2025-13-06T17:47:02Z", "1e300", "nan", "inf"] {
            assert_eq!(Timestamp::parse(bad), Err(BadTime), "{bad}");
        }
    }
}
