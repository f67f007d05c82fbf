//! When people talk: more on working days and around noon than at night.

use model::Timestamp;

use crate::dice::Dice;

/// Days that the story tells of.
pub(crate) const DAYS: i64 = 30;

const HOUR: i64 = 3600;

/// How much is going on in each hour of a day.
const BY_HOUR: [f64; 24] = [
    0.5, 0.3, 0.2, 0.2, 0.3, 0.6, 1.2, 2.4, 4.2, 5.6, 6.0, 5.2, 4.0, 5.0, 5.8, 5.4, 4.4, 3.2, 2.2,
    1.8, 1.6, 1.4, 1.0, 0.7,
];
/// And on each day of a week, from Thursday: 1970 began with one.
const BY_DAY: [f64; 7] = [1.05, 0.9, 0.35, 0.3, 1.1, 1.15, 1.1];

/// So many moments of the days before `now`, in order. The last one leaves time for its conversation.
pub(crate) fn moments(now: Timestamp, count: usize, dice: &mut Dice) -> Vec<Timestamp> {
    let first = now.plus_secs(-DAYS * 24 * HOUR);
    let hours: Vec<i64> = (0..DAYS * 24).collect();
    let weights: Vec<f64> = hours.iter().map(|hour| busy(first, *hour)).collect();
    let mut moments: Vec<Timestamp> = (0..count)
        .map(|_| {
            let hour = hours[dice.weighted(&weights)];
            let within = dice.between(0.0, HOUR as f64);
            first.plus_secs(hour * HOUR + within as i64)
        })
        .collect();
    moments.sort();
    moments
}

/// How much is going on in an hour of the story. There are a few more people every day.
fn busy(first: Timestamp, hour: i64) -> f64 {
    let hours = first.as_micros().div_euclid(HOUR * 1_000_000) + hour;
    let of_day = BY_HOUR[hours.rem_euclid(24) as usize];
    let of_week = BY_DAY[hours.div_euclid(24).rem_euclid(7) as usize];
    let growth = 1.0 + 0.25 * hour as f64 / (DAYS * 24) as f64;
    of_day * of_week * growth
}

/// Which day of the story a moment is in, with its fraction.
pub(crate) fn day_of(now: Timestamp, moment: Timestamp) -> f64 {
    let before = (now.as_micros() - moment.as_micros()) as f64 / 1e6;
    DAYS as f64 - before / (24 * HOUR) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Tuesday.
    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[test]
    fn there_is_more_at_noon_than_at_night_and_less_at_weekends() {
        let moments = moments(NOW, 6000, &mut Dice::new(3));
        let of_day = |moment: &Timestamp| (moment.as_micros() / 3_600_000_000) % 24;
        let noon = moments.iter().filter(|at| (9..15).contains(&of_day(at))).count();
        let night = moments.iter().filter(|at| (0..6).contains(&of_day(at))).count();
        assert!(noon > 5 * night && night > 20, "{noon} {night}");
        let weekday = |moment: &Timestamp| (moment.as_micros() / 86_400_000_000) % 7;
        // Friday of the first week of 1970 was its second day.
        let saturdays = moments.iter().filter(|at| weekday(at) == 2).count();
        let mondays = moments.iter().filter(|at| weekday(at) == 4).count();
        assert!(mondays > 2 * saturdays, "{mondays} {saturdays}");
        let days: Vec<f64> = moments.iter().map(|at| day_of(NOW, *at)).collect();
        assert!(days.iter().all(|day| (0.0..=30.0).contains(day)));
    }
}
