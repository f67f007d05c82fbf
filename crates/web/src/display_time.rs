//! Times on a page: UTC text, which the script converts to the viewer's time zone.

use model::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePrecision {
    Day,
    Minute,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayTime {
    pub exact: String,
    /// In UTC, shown when the script does not run.
    pub text: String,
    /// `day` or `minute`: the precision that the script formats with.
    pub shown: &'static str,
}

impl DisplayTime {
    pub fn new(ts: Timestamp, precision: TimePrecision) -> Self {
        let (shown, format) = match precision {
            TimePrecision::Day => ("day", "%b %-d"),
            TimePrecision::Minute => ("minute", "%b %-d, %H:%M UTC"),
        };
        Self { exact: ts.to_string(), text: format_utc(ts, format), shown }
    }

    /// A `time` element; the script replaces its text.
    pub fn to_html(&self) -> String {
        let Self { exact, text, shown } = self;
        format!(r#"<time datetime="{exact}" data-shown="{shown}">{text}</time>"#)
    }

    pub fn with_minutes(ts: Timestamp) -> Self {
        Self::new(ts, TimePrecision::Minute)
    }
}

/// Day, month and year in UTC.
pub(crate) fn format_date(ts: Timestamp) -> String {
    format_utc(ts, "%-d %b %Y")
}

fn format_utc(ts: Timestamp, format: &str) -> String {
    match jiff::Timestamp::from_microsecond(ts.as_micros()) {
        Ok(moment) => moment.to_zoned(jiff::tz::TimeZone::UTC).strftime(format).to_string(),
        Err(_) => ts.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_formatted_in_utc() {
        let ts = Timestamp::parse("2026-03-07T09:05:59.5+01:00").unwrap();
        let found = DisplayTime::with_minutes(ts);
        assert_eq!(found.text, "Mar 7, 08:05 UTC");
        assert_eq!(found.exact, "2026-03-07T08:05:59.500000Z");
        assert_eq!(DisplayTime::new(ts, TimePrecision::Day).text, "Mar 7");
    }
}
