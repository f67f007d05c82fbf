//! Files of JSON lines, or of one JSON array.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

/// The file's lines. One that is a JSON array is read item by item, as if each stood on its own line.
pub(super) fn lines_of(mut file: File) -> std::io::Result<Box<dyn BufRead>> {
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
