//! CSV (RFC 4180).

use serde_json::Value;

/// One cell, not yet quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell(String);

impl Cell {
    /// A number or a fixed word as it is. Null is empty.
    pub(crate) fn exact(value: &Value) -> Self {
        Self(match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                value.to_string()
            }
        })
    }

    /// An id or a free text. Spreadsheets run cells that begin like a formula, so those get an apostrophe.
    pub(crate) fn free(value: &Value) -> Self {
        let Self(text) = Self::exact(value);
        match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
            true => Self(format!("'{text}")),
            false => Self(text),
        }
    }
}

pub(crate) fn write_csv(columns: &[&str], rows: impl Iterator<Item = Vec<Cell>>) -> String {
    let mut csv = columns.join(",");
    csv.push_str("\r\n");
    for row in rows {
        let cells: Vec<String> = row.iter().map(|Cell(text)| quote_cell(text)).collect();
        csv.push_str(&cells.join(","));
        csv.push_str("\r\n");
    }
    csv
}

fn quote_cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_are_disarmed() {
        let row = vec![
            Cell::exact(&json!("-1")),
            Cell::free(&json!("=1+1")),
            Cell::free(&json!("a \"b\", c")),
            Cell::exact(&json!(0.5)),
            Cell::exact(&Value::Null),
        ];
        let csv = write_csv(&["a", "b", "c", "d", "e"], std::iter::once(row));
        assert_eq!(csv, "a,b,c,d,e\r\n-1,'=1+1,\"a \"\"b\"\", c\",0.5,\r\n");
    }
}
