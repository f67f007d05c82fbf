//! Start times of conversations: more on working days and around noon.
//!
//! The demo has a calendar of its own, which ends on a Wednesday afternoon. Loading it at another
//! time shifts all times and changes nothing else, so every load has the same patterns and choices.

use model::Timestamp;

use crate::rng::DemoRng;

pub(crate) const DEMO_DAYS: i64 = 30;

const HOUR_SECS: i64 = 3600;

const HOURS_PER_WEEK: i64 = 7 * 24;
/// Hour of the week at which the demo ends: Wednesday, 16:00.
const END_HOUR_OF_WEEK: i64 = 2 * 24 + 16;

/// Relative activity per hour of the day.
const HOURLY_WEIGHTS: [f64; 24] = [
    0.5, 0.3, 0.2, 0.2, 0.3, 0.6, 1.2, 2.4, 4.2, 5.6, 6.0, 5.2, 4.0, 5.0, 5.8, 5.4, 4.4, 3.2, 2.2,
    1.8, 1.6, 1.4, 1.0, 0.7,
];
/// Relative activity per weekday, from Monday.
const WEEKDAY_WEIGHTS: [f64; 7] = [1.1, 1.15, 1.1, 1.05, 0.9, 0.35, 0.3];

/// Random start times in the days before `now`, ascending.
pub(crate) fn start_times(now: Timestamp, count: usize, rng: &mut DemoRng) -> Vec<Timestamp> {
    let first = now.plus_secs(-DEMO_DAYS * 24 * HOUR_SECS);
    let hours: Vec<i64> = (0..DEMO_DAYS * 24).collect();
    let weights: Vec<f64> = hours.iter().map(|hour| hour_weight(*hour)).collect();
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
fn hour_weight(hour: i64) -> f64 {
    let of_week = hour_of_week(hour);
    let growth = 1.0 + 0.25 * hour as f64 / (DEMO_DAYS * 24) as f64;
    HOURLY_WEIGHTS[of_week % 24] * WEEKDAY_WEIGHTS[of_week / 24] * growth
}

/// Hour of the week, from Monday 0:00, of an hour since the start of the demo.
fn hour_of_week(hour: i64) -> usize {
    (END_HOUR_OF_WEEK - DEMO_DAYS * 24 + hour).rem_euclid(HOURS_PER_WEEK) as usize
}

/// Day of the demo with its fraction, from 0 to `DEMO_DAYS`.
pub(crate) fn day_number(now: Timestamp, moment: Timestamp) -> f64 {
    let before = (now.as_micros() - moment.as_micros()) as f64 / 1e6;
    DEMO_DAYS as f64 - before / (24 * HOUR_SECS) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[test]
    fn activity_peaks_at_noon_and_drops_at_weekends() {
        let moments = start_times(NOW, 6000, &mut DemoRng::new(3));
        let first = NOW.plus_secs(-DEMO_DAYS * 24 * HOUR_SECS).as_micros();
        let of_week = |at: &Timestamp| hour_of_week((at.as_micros() - first) / 3_600_000_000);
        let count = |wanted: &dyn Fn(usize) -> bool| {
            moments.iter().filter(|at| wanted(of_week(at))).count()
        };
        let (noon, night) =
            (count(&|hour| (9..15).contains(&(hour % 24))), count(&|hour| hour % 24 < 6));
        assert!(noon > 5 * night && night > 20, "{noon} {night}");
        let (mondays, saturdays) = (count(&|hour| hour / 24 == 0), count(&|hour| hour / 24 == 5));
        assert!(mondays > 2 * saturdays, "{mondays} {saturdays}");
        let days: Vec<f64> = moments.iter().map(|at| day_number(NOW, *at)).collect();
        assert!(days.iter().all(|day| (0.0..=30.0).contains(day)));
    }
}
