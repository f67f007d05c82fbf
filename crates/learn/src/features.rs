//! Feature extraction for contextual routers.
//!
//! 24 features project the text's embedding with fixed random signs; 8 describe its surface.

pub const FEATURE_COUNT: usize = 32;
/// Raise it whenever any feature value changes.
pub const FEATURES_VERSION: &str = "e1";

const PROJECTED_FEATURES: usize = 24;
/// Resolution of the one-byte encoding, which covers −4 to 4.
const CODE_STEPS_PER_ONE: f64 = 32.0;

/// `direction` is the text's unit vector, `hour` the hour of the day.
pub fn extract_features(text: &str, direction: &[f32], hour: u8) -> Vec<f64> {
    let mut values = Vec::with_capacity(FEATURE_COUNT);
    for row in 0..PROJECTED_FEATURES {
        let folded = direction.iter().enumerate().map(|(column, value)| {
            if has_positive_sign(row, column) { f64::from(*value) } else { -f64::from(*value) }
        });
        values.push(folded.sum());
    }
    values.extend(surface_features(text, hour));
    values
}

pub fn quantize_features(features: &[f64]) -> Vec<i8> {
    features
        .iter()
        .map(|value| (value * CODE_STEPS_PER_ONE).round().clamp(-127.0, 127.0) as i8)
        .collect()
}

pub fn dequantize_features(codes: &[i8]) -> Vec<f64> {
    codes.iter().map(|code| f64::from(*code) / CODE_STEPS_PER_ONE).collect()
}

/// Fixed sign of a projection entry; about half are positive.
fn has_positive_sign(row: usize, column: usize) -> bool {
    let mut mixed = (row as u64) << 32 | column as u64;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) & 1 == 0
}

fn surface_features(text: &str, hour: u8) -> [f64; FEATURE_COUNT - PROJECTED_FEATURES] {
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
    fn features_survive_quantization_and_separate_requests() {
        let direction: Vec<f32> = (0..256).map(|n| ((n * 37 % 11) as f32 - 5.0) / 50.0).collect();
        let code = extract_features("fn main() {}\nprintln!()", &direction, 9);
        let question = extract_features("Qui est là, et quand?", &direction, 9);
        assert_eq!(code.len(), FEATURE_COUNT);
        assert_eq!(code[..PROJECTED_FEATURES], question[..PROJECTED_FEATURES]);
        assert_ne!(code[PROJECTED_FEATURES..], question[PROJECTED_FEATURES..]);
        let back = dequantize_features(&quantize_features(&code));
        assert!(
            code.iter().zip(&back).all(|(a, b)| (a - b).abs() <= 0.5 / CODE_STEPS_PER_ONE + 1e-12)
        );
        assert_eq!(quantize_features(&[1e9, -1e9, f64::NAN]), [127, -127, 0]);
    }

    #[test]
    fn projection_signs_are_balanced() {
        let positive =
            (0..PROJECTED_FEATURES).flat_map(|row| (0..256).map(move |column| (row, column)));
        let positive = positive.filter(|(row, column)| has_positive_sign(*row, *column)).count();
        assert!((2_800..3_350).contains(&positive), "{positive}");
    }
}
