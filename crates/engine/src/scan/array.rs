//! Streams a JSON array as lines, one item each.

use std::io::{BufRead, Read};

/// Puts each item of the outermost array on its own line.
pub struct ArrayLines<R> {
    inner: R,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl<R: BufRead> ArrayLines<R> {
    /// The reader's first byte must be `[`.
    pub fn new(inner: R) -> Self {
        Self { inner, depth: 0, in_text: false, escaped: false }
    }

    /// Converts one byte of the array.
    fn convert_byte(&mut self, byte: u8) -> u8 {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return byte;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => {
                self.depth += 1;
                return if self.depth == 1 { b' ' } else { byte };
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return if self.depth == 0 { b'\n' } else { byte };
            }
            b',' if self.depth == 1 => return b'\n',
            // A line end between tokens would split an item.
            b'\n' | b'\r' => return b' ',
            _ => {}
        }
        byte
    }
}

impl<R: BufRead> Read for ArrayLines<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(out)?;
        for byte in &mut out[..read] {
            *byte = self.convert_byte(*byte);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_items_become_lines() {
        let array = "[\n {\"a\": \"x,]\\\"[\",\n \"b\": [1, 2]},\n {\"c\": {}} ]\n";
        let mut out = String::new();
        ArrayLines::new(array.as_bytes()).read_to_string(&mut out).unwrap();
        let lines: Vec<&str> = out.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        assert_eq!(lines, ["{\"a\": \"x,]\\\"[\",  \"b\": [1, 2]}", "{\"c\": {}}"]);
    }
}
