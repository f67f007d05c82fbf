//! Times: written in UTC for everybody, and told exactly to whoever can show them in the viewer's zone.

use model::Timestamp;

/// How exactly a time is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The day.
    Day,
    /// Day and minute.
    Minute,
}

/// A moment on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// RFC 3339, for machines.
    pub exact: String,
    /// In UTC, for people whose browser runs no script.
    pub text: String,
    /// What the script writes: `day` or `minute`.
    pub shown: &'static str,
}

impl Moment {
    /// A time as it is shown.
    pub fn of(ts: Timestamp, shown: Shown) -> Self {
        let exact = ts.to_string();
        let date = jiff::Timestamp::from_microsecond(ts.as_micros())
            .map(|moment| moment.to_zoned(jiff::tz::TimeZone::UTC));
        let text = match (&date, shown) {
            (Ok(date), Shown::Day) => date.strftime("%b %-d").to_string(),
            (Ok(date), Shown::Minute) => date.strftime("%b %-d, %H:%M UTC").to_string(),
            (Err(_), _) => exact.clone(),
        };
        let shown = match shown {
            Shown::Day => "day",
            Shown::Minute => "minute",
        };
        Self { exact, text, shown }
    }

    /// As an element, whose text the script puts into the viewer's zone.
    pub fn html(&self) -> String {
        let Self { exact, text, shown } = self;
        format!(r#"<time datetime="{exact}" data-shown="{shown}">{text}</time>"#)
    }

    /// Day and minute.
    pub fn minute(ts: Timestamp) -> Self {
        Self::of(ts, Shown::Minute)
    }
}

/// A day with its year, in UTC.
pub(crate) fn date(ts: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(ts.as_micros()) {
        Ok(moment) => moment.to_zoned(jiff::tz::TimeZone::UTC).strftime("%-d %b %Y").to_string(),
        Err(_) => ts.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_utc() {
        let ts = Timestamp::parse("2026-03-07T09:05:59.5+01:00").unwrap();
        let found = Moment::minute(ts);
        assert_eq!(found.text, "Mar 7, 08:05 UTC");
        assert_eq!(found.exact, "2026-03-07T08:05:59.500000Z");
        assert_eq!(Moment::of(ts, Shown::Day).text, "Mar 7");
    }
}
