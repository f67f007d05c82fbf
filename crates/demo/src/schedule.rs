//! Start times of conversations: more on working days and around noon.

use model::Timestamp;

use crate::rng::DemoRng;

pub(crate) const DEMO_DAYS: i64 = 30;

const HOUR_SECS: i64 = 3600;

/// Relative activity per hour of the day, in UTC.
const HOURLY_WEIGHTS: [f64; 24] = [
    0.5, 0.3, 0.2, 0.2, 0.3, 0.6, 1.2, 2.4, 4.2, 5.6, 6.0, 5.2, 4.0, 5.0, 5.8, 5.4, 4.4, 3.2, 2.2,
    1.8, 1.6, 1.4, 1.0, 0.7,
];
/// Relative activity per weekday, from Thursday, the weekday of 1970-01-01.
const WEEKDAY_WEIGHTS: [f64; 7] = [1.05, 0.9, 0.35, 0.3, 1.1, 1.15, 1.1];

/// Random start times in the days before `now`, ascending.
pub(crate) fn start_times(now: Timestamp, count: usize, rng: &mut DemoRng) -> Vec<Timestamp> {
    let first = now.plus_secs(-DEMO_DAYS * 24 * HOUR_SECS);
    let hours: Vec<i64> = (0..DEMO_DAYS * 24).collect();
    let weights: Vec<f64> = hours.iter().map(|hour| hour_weight(first, *hour)).collect();
    let mut moments: Vec<Timestamp> = (0..count)
        .map(|_| {
            let hour = hours[rng.pick_weighted(&weights)];
            let within = rng.next_between(0.0, HOUR_SECS as f64);
            first.plus_secs(hour * HOUR_SECS + within as i64)
        })
        .collect();
    moments.sort();
    moments
}

/// Relative activity in an hour of the demo; it grows slowly over the month.
fn hour_weight(first: Timestamp, hour: i64) -> f64 {
    let hours = first.as_micros().div_euclid(HOUR_SECS * 1_000_000) + hour;
    let of_day = HOURLY_WEIGHTS[hours.rem_euclid(24) as usize];
    let of_week = WEEKDAY_WEIGHTS[hours.div_euclid(24).rem_euclid(7) as usize];
    let growth = 1.0 + 0.25 * hour as f64 / (DEMO_DAYS * 24) as f64;
    of_day * of_week * growth
}

/// Day of the demo with its fraction, from 0 to `DEMO_DAYS`.
pub(crate) fn day_number(now: Timestamp, moment: Timestamp) -> f64 {
    let before = (now.as_micros() - moment.as_micros()) as f64 / 1e6;
    DEMO_DAYS as f64 - before / (24 * HOUR_SECS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Tuesday in UTC.
    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[test]
    fn activity_peaks_at_noon_and_drops_at_weekends() {
        let moments = start_times(NOW, 6000, &mut DemoRng::new(3));
        let of_day = |moment: &Timestamp| (moment.as_micros() / 3_600_000_000) % 24;
        let noon = moments.iter().filter(|at| (9..15).contains(&of_day(at))).count();
        let night = moments.iter().filter(|at| (0..6).contains(&of_day(at))).count();
        assert!(noon > 5 * night && night > 20, "{noon} {night}");
        let weekday = |moment: &Timestamp| (moment.as_micros() / 86_400_000_000) % 7;
        // 1970-01-03, day 2 since the epoch, was a Saturday.
        let saturdays = moments.iter().filter(|at| weekday(at) == 2).count();
        let mondays = moments.iter().filter(|at| weekday(at) == 4).count();
        assert!(mondays > 2 * saturdays, "{mondays} {saturdays}");
        let days: Vec<f64> = moments.iter().map(|at| day_number(NOW, *at)).collect();
        assert!(days.iter().all(|day| (0.0..=30.0).contains(day)));
    }
}
