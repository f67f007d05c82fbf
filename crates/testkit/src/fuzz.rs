//! Fuzzed rows: JSON with unusual values in unusual places, and bytes that are not JSON.
//! Used by tests and by `fuzz-detect`. A row is determined by its number.

use std::env;

use serde_json::{Map, Value, json};

/// Byte sequences that parsers commonly mishandle.
const HOSTILE_BYTES: [&[u8]; 16] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\u0000",
    b"\\ud800",
    b"\xff\xfe",
    "\u{202e}".as_bytes(),
    "🙂".as_bytes(),
    "不".as_bytes(),
    b"```",
    b"\n",
    b"null",
    b"-1e400",
];

/// Calls `check` with each row unchanged, then with fuzzed rows: `FUZZ_CASES` of them if set, else
/// `cases`. On a panic it prints the number of the row, which reproduces it.
pub fn fuzz_rows(rows: &[&str], cases: u64, mut check: impl FnMut(&[u8])) {
    let wanted = env::var_os("FUZZ_CASES");
    let wanted = wanted.and_then(|text| text.to_str().and_then(|text| text.parse().ok()));
    rows.iter().for_each(|row| check(row.as_bytes()));
    for number in 0..wanted.unwrap_or(cases) {
        let row = mangle_row(rows, number);
        let report = PanicReport { number, row: &row };
        check(&row);
        drop(report);
    }
}

/// The fuzzed row with this number.
pub fn mangle_row(rows: &[&str], number: u64) -> Vec<u8> {
    let mut random = SplitMix(number);
    let row = rows[random.next_below(rows.len())];
    let mut bytes = match serde_json::from_str::<Value>(row) {
        Ok(mut value) if random.next_below(4) > 0 => {
            for _ in 0..=random.next_below(3) {
                mangle_value(&mut value, &mut random);
            }
            value.to_string().into_bytes()
        }
        Ok(_) | Err(_) => row.as_bytes().to_vec(),
    };
    if random.next_below(3) == 0 {
        for _ in 0..=random.next_below(4) {
            mangle_bytes(&mut bytes, rows, &mut random);
        }
    }
    bytes
}

/// Prints the row when a check panics.
struct PanicReport<'a> {
    number: u64,
    row: &'a [u8],
}

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let shown = String::from_utf8_lossy(&self.row[..self.row.len().min(2000)]);
            eprintln!("fuzz_rows row {}: {shown}", self.number);
        }
    }
}

/// Replaces or adds one unusual value.
fn mangle_value(value: &mut Value, random: &mut SplitMix) {
    let deeper = random.next_below(4) > 0;
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let at = random.next_below(fields.len());
            let Some(name) = fields.keys().nth(at).cloned() else { return };
            match random.next_below(8) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let moved = fields.remove(&name).unwrap_or_default();
                    fields.insert(format!("{name}x"), moved);
                }
                2 => drop(fields.insert("extra".into(), unusual_value(random))),
                _ => {
                    fields.get_mut(&name).into_iter().for_each(|inner| mangle_value(inner, random))
                }
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = random.next_below(items.len());
            match random.next_below(4) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                _ => mangle_value(&mut items[at], random),
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => *value = unusual_value(random),
    }
}

fn unusual_value(random: &mut SplitMix) -> Value {
    match random.next_below(20) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(i64::MIN),
        5 => json!(1e308),
        6 => json!(-0.0),
        7 => json!(""),
        8 => json!(" "),
        9 => json!("a\u{0}b"),
        10 => json!("\u{202e}txet \u{feff}\u{200d}"),
        11 => json!("🙂".repeat(random.next_below(300))),
        12 => json!("x".repeat(random.next_below(3000))),
        13 => json!("9999-12-31T23:59:59.999999999999Z"),
        14 => json!("-0001-02-30T25:61:61+99:99"),
        15 => json!([]),
        16 => Value::Object(Map::new()),
        17 => json!([[[[[[[["deep"]]]]]]]]),
        18 => json!({"": {"role": "user", "content": [{"type": "text", "text": 1}]}}),
        _ => json!("../../etc/passwd' OR 1=1; --"),
    }
}

fn mangle_bytes(row: &mut Vec<u8>, rows: &[&str], random: &mut SplitMix) {
    let at = random.next_below(row.len() + 1);
    match random.next_below(6) {
        0 => row.truncate(at),
        1 => {
            drop(row.splice(
                at..at,
                HOSTILE_BYTES[random.next_below(HOSTILE_BYTES.len())].iter().copied(),
            ))
        }
        2 if at < row.len() => row[at] = random.next_below(256) as u8,
        3 => {
            let part = row[at..].to_vec();
            (0..random.next_below(20)).for_each(|_| row.extend(&part[..part.len().min(200)]));
        }
        4 => {
            let other = rows[random.next_below(rows.len())].as_bytes();
            let from = random.next_below(other.len() + 1);
            drop(row.splice(at..at, other[from..].iter().copied()));
        }
        _ => drop(row.drain(at..(at + random.next_below(20)).min(row.len()))),
    }
}

/// A seeded random number generator (splitmix64).
struct SplitMix(u64);

impl SplitMix {
    fn next_below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % most.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzzed_rows_are_reproducible_and_mostly_distinct_json() {
        let rows = [r#"{"a": {"b": [1, 2, "three"]}, "c": "d"}"#];
        let all: Vec<Vec<u8>> = (0..400).map(|number| mangle_row(&rows, number)).collect();
        assert_eq!(all[7], mangle_row(&rows, 7));
        let json = all.iter().filter(|row| serde_json::from_slice::<Value>(row).is_ok()).count();
        assert!((200..400).contains(&json), "{json} of 400 are JSON");
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert!(different.len() > 200, "{}", different.len());
    }
}
