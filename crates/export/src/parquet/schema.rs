//! The columns of each shape.

use ::parquet::errors::ParquetError;
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::Type;
use learn::ExportFormat;

use super::column::Column;

/// What a column of a row holds.
#[derive(Clone, Copy)]
enum Holds {
    Messages,
    /// Messages one level further in, as OpenAI has them.
    Input,
    Flag,
    Text,
    Texts,
    Number,
}

/// The columns that every shape has beside its own.
const PROVENANCE: [(&str, Holds); 8] = [
    ("id", Holds::Text),
    ("source", Holds::Text),
    ("margin", Holds::Number),
    ("confidence", Holds::Number),
    ("split", Holds::Text),
    ("turn_ids", Holds::Texts),
    ("conversation_ids", Holds::Texts),
    ("experiment", Holds::Text),
];

fn own(format: ExportFormat) -> &'static [(&'static str, Holds)] {
    use Holds::{Flag, Input, Messages};
    match format {
        ExportFormat::Dpo | ExportFormat::Reward => {
            &[("prompt", Messages), ("chosen", Messages), ("rejected", Messages)]
        }
        ExportFormat::Kto => &[("prompt", Messages), ("completion", Messages), ("label", Flag)],
        ExportFormat::Sft => &[("messages", Messages)],
        ExportFormat::OpenAiDpo => {
            &[("input", Input), ("preferred_output", Messages), ("non_preferred_output", Messages)]
        }
    }
}

/// The schema of a file.
pub(super) fn of(format: ExportFormat) -> Result<Type, ParquetError> {
    let all = own(format).iter().chain(&PROVENANCE);
    let fields: String = all.map(|(name, holds)| holds.described(name)).collect();
    parse_message_type(&format!("message rows {{ {fields} }}"))
}

/// Empty columns in the order of the schema.
pub(super) fn columns(format: ExportFormat) -> Vec<Column> {
    let all = own(format).iter().chain(&PROVENANCE);
    all.flat_map(|(_, holds)| holds.columns()).collect()
}

impl Holds {
    /// In Parquet's own words. Nothing is ever null.
    fn described(self, name: &str) -> String {
        const MESSAGE: &str = "required group element { required binary role (STRING); required binary content (STRING); }";
        let list = |name: &str, element: &str| {
            format!("required group {name} (LIST) {{ repeated group list {{ {element} }} }} ")
        };
        match self {
            Self::Messages => list(name, MESSAGE),
            Self::Input => format!("required group {name} {{ {} }} ", list("messages", MESSAGE)),
            Self::Texts => list(name, "required binary element (STRING);"),
            Self::Text => format!("required binary {name} (STRING); "),
            Self::Number => format!("required double {name}; "),
            Self::Flag => format!("required boolean {name}; "),
        }
    }

    fn columns(self) -> Vec<Column> {
        match self {
            Self::Messages | Self::Input => vec![Column::texts(), Column::texts()],
            Self::Texts => vec![Column::texts()],
            Self::Text => vec![Column::text()],
            Self::Number => vec![Column::numbers()],
            Self::Flag => vec![Column::flags()],
        }
    }
}
