//! Writes rows as JSON lines.

use std::io::Write;

use learn::PreferenceRow;

use crate::error::ExportError;

pub fn write_jsonl(row: &PreferenceRow, output: &mut impl Write) -> Result<(), ExportError> {
    serde_json::to_writer(&mut *output, row).map_err(std::io::Error::from)?;
    Ok(output.write_all(b"\n")?)
}
