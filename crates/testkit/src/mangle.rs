//! Rows that something went wrong with: JSON with odd values in odd places, and bytes that are no JSON any more.
//! For tests and for `fuzz-detect`; a row follows from its number alone.

use std::env;

use serde_json::{Map, Value, json};

/// What parsers trip over, as bytes in a row.
const PIECES: [&[u8]; 16] = [
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

/// Calls `check` with each row as it is, and with mangled ones: so many as `FUZZ_CASES` says, else `cases`. When it
/// panics, the row's number is printed; the same number gives the same row again.
pub fn mangled(rows: &[&str], cases: u64, mut check: impl FnMut(&[u8])) {
    let wanted = env::var_os("FUZZ_CASES");
    let wanted = wanted.and_then(|text| text.to_str().and_then(|text| text.parse().ok()));
    rows.iter().for_each(|row| check(row.as_bytes()));
    for number in 0..wanted.unwrap_or(cases) {
        let row = mangle(rows, number);
        let told = Told { number, row: &row };
        check(&row);
        drop(told);
    }
}

/// Row number so and so.
pub fn mangle(rows: &[&str], number: u64) -> Vec<u8> {
    let mut random = Random(number);
    let row = rows[random.below(rows.len())];
    let mut bytes = match serde_json::from_str::<Value>(row) {
        Ok(mut value) if random.below(4) > 0 => {
            for _ in 0..=random.below(3) {
                spoil(&mut value, &mut random);
            }
            value.to_string().into_bytes()
        }
        Ok(_) | Err(_) => row.as_bytes().to_vec(),
    };
    if random.below(3) == 0 {
        for _ in 0..=random.below(4) {
            cut(&mut bytes, rows, &mut random);
        }
    }
    bytes
}

/// Says which row it was when a check panics.
struct Told<'a> {
    number: u64,
    row: &'a [u8],
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let shown = String::from_utf8_lossy(&self.row[..self.row.len().min(2000)]);
            eprintln!("mangled row {}: {shown}", self.number);
        }
    }
}

/// Puts something odd somewhere in it.
fn spoil(value: &mut Value, random: &mut Random) {
    let deeper = random.below(4) > 0;
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let at = random.below(fields.len());
            let Some(name) = fields.keys().nth(at).cloned() else { return };
            match random.below(8) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let moved = fields.remove(&name).unwrap_or_default();
                    fields.insert(format!("{name}x"), moved);
                }
                2 => drop(fields.insert("extra".into(), odd(random))),
                _ => fields.get_mut(&name).into_iter().for_each(|inner| spoil(inner, random)),
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = random.below(items.len());
            match random.below(4) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                _ => spoil(&mut items[at], random),
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => *value = odd(random),
    }
}

fn odd(random: &mut Random) -> Value {
    match random.below(20) {
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
        11 => json!("🙂".repeat(random.below(300))),
        12 => json!("x".repeat(random.below(3000))),
        13 => json!("9999-12-31T23:59:59.999999999999Z"),
        14 => json!("-0001-02-30T25:61:61+99:99"),
        15 => json!([]),
        16 => Value::Object(Map::new()),
        17 => json!([[[[[[[["deep"]]]]]]]]),
        18 => json!({"": {"role": "user", "content": [{"type": "text", "text": 1}]}}),
        _ => json!("../../etc/passwd' OR 1=1; --"),
    }
}

fn cut(row: &mut Vec<u8>, rows: &[&str], random: &mut Random) {
    let at = random.below(row.len() + 1);
    match random.below(6) {
        0 => row.truncate(at),
        1 => drop(row.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())),
        2 if at < row.len() => row[at] = random.below(256) as u8,
        3 => {
            let part = row[at..].to_vec();
            (0..random.below(20)).for_each(|_| row.extend(&part[..part.len().min(200)]));
        }
        4 => {
            let other = rows[random.below(rows.len())].as_bytes();
            let from = random.below(other.len() + 1);
            drop(row.splice(at..at, other[from..].iter().copied()));
        }
        _ => drop(row.drain(at..(at + random.below(20)).min(row.len()))),
    }
}

/// Numbers that follow from a first one.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
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
    fn rows_are_the_same_each_time_and_most_are_json_that_differs() {
        let rows = [r#"{"a": {"b": [1, 2, "three"]}, "c": "d"}"#];
        let all: Vec<Vec<u8>> = (0..400).map(|number| mangle(&rows, number)).collect();
        assert_eq!(all[7], mangle(&rows, 7));
        let json = all.iter().filter(|row| serde_json::from_slice::<Value>(row).is_ok()).count();
        assert!((200..400).contains(&json), "{json} of 400 are JSON");
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert!(different.len() > 200, "{}", different.len());
    }
}
