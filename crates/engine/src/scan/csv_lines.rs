//! Streams a CSV file as JSON Lines, one object per row.

use std::io::{BufRead, Error, ErrorKind, Read};

use serde_json::{Map, Value};

/// A larger row has a quote that is not closed.
const MAX_ROW_BYTES: usize = 32 << 20;

/// Converts CSV (RFC 4180) whose first row has the names. Empty cells are null. Objects and lists
/// in JSON become JSON.
pub struct CsvLines<R> {
    inner: R,
    names: Option<Vec<String>>,
    line: Vec<u8>,
    /// Bytes of `line` that were read.
    taken: usize,
}

impl<R: BufRead> CsvLines<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, names: None, line: Vec::new(), taken: 0 }
    }

    /// Reads the next row into `line`. False at the end of the file.
    fn read_row(&mut self) -> std::io::Result<bool> {
        let mut row = Vec::new();
        // A quoted cell may hold line ends. Quotes inside cells are doubled, so a whole row has an
        // even number of quotes.
        loop {
            let read = self.inner.read_until(b'\n', &mut row)?;
            let quotes = row.iter().filter(|byte| **byte == b'"').count();
            if read == 0 || quotes.is_multiple_of(2) {
                break;
            }
            if row.len() > MAX_ROW_BYTES {
                return Err(Error::new(ErrorKind::InvalidData, "a quoted cell is not closed"));
            }
        }
        if row.is_empty() {
            return Ok(false);
        }
        let cells = split_row(&String::from_utf8_lossy(&row));
        (self.line, self.taken) = (b"\n".to_vec(), 0);
        match &self.names {
            None => self.names = Some(cells),
            Some(names) if cells.iter().any(|cell| !cell.is_empty()) => {
                let fields: Map<String, Value> =
                    names.iter().cloned().zip(cells.into_iter().map(read_cell)).collect();
                self.line = format!("{}\n", Value::Object(fields)).into_bytes();
            }
            Some(_) => {}
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for CsvLines<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.taken == self.line.len() && !self.read_row()? {
            return Ok(0);
        }
        let rest = &self.line[self.taken..];
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        Ok(length)
    }
}

fn read_cell(cell: String) -> Value {
    if cell.is_empty() {
        return Value::Null;
    }
    let json = cell.starts_with(['{', '[']).then(|| serde_json::from_str(&cell).ok()).flatten();
    json.unwrap_or(Value::String(cell))
}

fn split_row(row: &str) -> Vec<String> {
    let row = row.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = row.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_rows_become_lines_of_json() {
        let csv =
            "id,input,scores\r\n1,\"two\nlines, \"\"quoted\"\"\",\r\n2,x,\"[{\"\"a\"\":1}]\"\r\n";
        let mut out = String::new();
        CsvLines::new(csv.as_bytes()).read_to_string(&mut out).unwrap();
        let lines: Vec<&str> = out.lines().filter(|line| !line.is_empty()).collect();
        let expected = [
            "{\"id\":\"1\",\"input\":\"two\\nlines, \\\"quoted\\\"\",\"scores\":null}",
            "{\"id\":\"2\",\"input\":\"x\",\"scores\":[{\"a\":1}]}",
        ];
        assert_eq!(lines, expected);
    }
}
