//! A request in a few numbers: what it is about, and what it looks like.
//!
//! Twenty-four numbers are the direction of the text, folded by fixed signs; eight are plain to see.

/// How many there are.
pub const FEATURES: usize = 32;
/// Changes whenever the numbers do.
pub const FEATURES_VERSION: &str = "e1";

const FOLDED: usize = 24;
/// Features are kept in steps of this, up to four to both sides: one byte each.
const STEPS: f64 = 32.0;

/// The features of a request. `direction` is the text's unit vector, `hour` the hour of the day.
pub fn features(text: &str, direction: &[f32], hour: u8) -> Vec<f64> {
    let mut values = Vec::with_capacity(FEATURES);
    for row in 0..FOLDED {
        let folded = direction.iter().enumerate().map(|(column, value)| {
            if is_positive(row, column) { f64::from(*value) } else { -f64::from(*value) }
        });
        values.push(folded.sum());
    }
    values.extend(looks(text, hour));
    values
}

/// Each feature in a byte.
pub fn to_codes(features: &[f64]) -> Vec<i8> {
    features.iter().map(|value| (value * STEPS).round().clamp(-127.0, 127.0) as i8).collect()
}

/// The features of bytes.
pub fn from_codes(codes: &[i8]) -> Vec<f64> {
    codes.iter().map(|code| f64::from(*code) / STEPS).collect()
}

/// The same sign for the same place, always; about half of them positive.
fn is_positive(row: usize, column: usize) -> bool {
    let mut mixed = (row as u64) << 32 | column as u64;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) & 1 == 0
}

fn looks(text: &str, hour: u8) -> [f64; FEATURES - FOLDED] {
    let (mut letters, mut latin, mut digits, mut all) = (0.0, 0.0, 0.0, 0.0);
    for letter in text.chars() {
        all += 1.0;
        digits += f64::from(u8::from(letter.is_numeric()));
        if letter.is_alphabetic() {
            letters += 1.0;
            latin += f64::from(u8::from(u32::from(letter) < 0x250));
        }
    }
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let has = |yes: bool| if yes { 1.0 } else { 0.0 };
    let is_code = text.contains("```")
        || ["{", "};", "()", "=>", "</"].iter().any(|mark| text.contains(mark));
    let turn = f64::from(hour % 24) / 24.0 * std::f64::consts::TAU;
    [
        f64::ln_1p(all) / 4.0 - 1.0,
        has(is_code),
        has(text.contains(['?', '？', '¿', '؟'])),
        1.0 - share(latin, letters),
        share(digits, all) * 2.0,
        has(text.trim().contains('\n')),
        turn.sin() / 2.0,
        turn.cos() / 2.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_fit_into_bytes_and_tell_requests_apart() {
        let direction: Vec<f32> = (0..256).map(|n| ((n * 37 % 11) as f32 - 5.0) / 50.0).collect();
        let code = features("fn main() {}\nprintln!()", &direction, 9);
        let asked = features("Qui est là, et quand?", &direction, 9);
        assert_eq!(code.len(), FEATURES);
        assert_eq!(code[..FOLDED], asked[..FOLDED]);
        assert_ne!(code[FOLDED..], asked[FOLDED..]);
        let back = from_codes(&to_codes(&code));
        assert!(code.iter().zip(&back).all(|(a, b)| (a - b).abs() <= 0.5 / STEPS + 1e-12));
        assert_eq!(to_codes(&[1e9, -1e9, f64::NAN]), [127, -127, 0]);
    }

    #[test]
    fn signs_are_about_even() {
        let positive = (0..FOLDED).flat_map(|row| (0..256).map(move |column| (row, column)));
        let positive = positive.filter(|(row, column)| is_positive(*row, *column)).count();
        assert!((2_800..3_350).contains(&positive), "{positive}");
    }
}
