//! Buffers the values of one column until its row group is written.

use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::writer::SerializedColumnWriter;

/// List columns also record where each row begins.
pub(super) struct Column {
    values: Values,
    lists: Option<Levels>,
    bytes: usize,
}

enum Values {
    Texts(Vec<ByteArray>),
    Numbers(Vec<f64>),
    Flags(Vec<bool>),
}

/// Definition and repetition level of every value or empty list.
#[derive(Default)]
struct Levels {
    present: Vec<i16>,
    continues: Vec<i16>,
}

impl Column {
    pub(super) fn text() -> Self {
        Self { values: Values::Texts(Vec::new()), lists: None, bytes: 0 }
    }

    pub(super) fn texts() -> Self {
        Self { lists: Some(Levels::default()), ..Self::text() }
    }

    pub(super) fn numbers() -> Self {
        Self { values: Values::Numbers(Vec::new()), lists: None, bytes: 0 }
    }

    /// Lists of numbers.
    pub(super) fn number_lists() -> Self {
        Self { lists: Some(Levels::default()), ..Self::numbers() }
    }

    pub(super) fn flags() -> Self {
        Self { values: Values::Flags(Vec::new()), lists: None, bytes: 0 }
    }

    /// Approximate size of the buffered values.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn put_text(&mut self, text: &str) {
        if let Values::Texts(values) = &mut self.values {
            values.push(ByteArray::from(text.as_bytes().to_vec()));
            self.bytes += text.len() + size_of::<ByteArray>();
        }
    }

    pub(super) fn put_texts<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let mut first = true;
        for text in texts {
            self.mark(1, i16::from(!first));
            self.put_text(text);
            first = false;
        }
        if first {
            self.mark(0, 0);
        }
    }

    pub(super) fn put_number(&mut self, number: f64) {
        if let Values::Numbers(values) = &mut self.values {
            values.push(number);
        }
    }

    pub(super) fn put_numbers(&mut self, numbers: &[f64]) {
        for (at, number) in numbers.iter().enumerate() {
            self.mark(1, i16::from(at > 0));
            self.put_number(*number);
        }
        if numbers.is_empty() {
            self.mark(0, 0);
        }
    }

    pub(super) fn put_flag(&mut self, flag: bool) {
        if let Values::Flags(values) = &mut self.values {
            values.push(flag);
        }
    }

    fn mark(&mut self, present: i16, continues: i16) {
        if let Some(levels) = &mut self.lists {
            levels.present.push(present);
            levels.continues.push(continues);
        }
    }

    /// Writes and clears all values.
    pub(super) fn write(
        &mut self,
        to: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let present = self.lists.as_ref().map(|levels| &levels.present[..]);
        let continues = self.lists.as_ref().map(|levels| &levels.continues[..]);
        match &mut self.values {
            Values::Texts(values) => {
                to.typed::<ByteArrayType>().write_batch(values, present, continues)?;
                values.clear();
            }
            Values::Numbers(values) => {
                to.typed::<DoubleType>().write_batch(values, present, continues)?;
                values.clear();
            }
            Values::Flags(values) => {
                to.typed::<BoolType>().write_batch(values, present, continues)?;
                values.clear();
            }
        }
        if let Some(levels) = &mut self.lists {
            levels.present.clear();
            levels.continues.clear();
        }
        self.bytes = 0;
        Ok(())
    }
}
