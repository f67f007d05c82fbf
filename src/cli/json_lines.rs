//! Reads JSON Lines files, and files that hold one JSON array.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

/// Opens the file line by line. Each item of a JSON array is returned as one line.
pub(super) fn open_lines(mut file: File) -> std::io::Result<Box<dyn BufRead>> {
    let mut head = [0u8; 256];
    let read = file.read(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let is_array = head[..read].trim_ascii_start().starts_with(b"[");
    let reader = BufReader::with_capacity(1 << 20, file);
    if is_array {
        Ok(Box::new(BufReader::new(engine::ArrayLines::new(reader))))
    } else {
        Ok(Box::new(reader))
    }
}
