//! The columns of each format.

use ::parquet::errors::ParquetError;
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::Type;
use learn::ExportFormat;

use super::column::Column;

#[derive(Clone, Copy)]
enum ColumnKind {
    Messages,
    /// Messages nested one level deeper, as in OpenAI's format.
    Input,
    Flag,
    Text,
    Texts,
    Number,
    Numbers,
}

/// Columns that every format has in addition to its own.
const PROVENANCE: [(&str, ColumnKind); 10] = [
    ("id", ColumnKind::Text),
    ("source", ColumnKind::Text),
    ("margin", ColumnKind::Number),
    ("confidence", ColumnKind::Number),
    ("split", ColumnKind::Text),
    ("turn_ids", ColumnKind::Texts),
    ("conversation_ids", ColumnKind::Texts),
    ("experiment", ColumnKind::Text),
    ("rewards", ColumnKind::Numbers),
    ("reward_weights", ColumnKind::Numbers),
];

fn own_columns(format: ExportFormat) -> &'static [(&'static str, ColumnKind)] {
    use ColumnKind::{Flag, Input, Messages};
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

pub(super) fn build_schema(format: ExportFormat) -> Result<Type, ParquetError> {
    let all = own_columns(format).iter().chain(&PROVENANCE);
    let fields: String = all.map(|(name, kind)| kind.describe(name)).collect();
    parse_message_type(&format!("message rows {{ {fields} }}"))
}

/// Empty columns in the order of the schema.
pub(super) fn columns(format: ExportFormat) -> Vec<Column> {
    let all = own_columns(format).iter().chain(&PROVENANCE);
    all.flat_map(|(_, kind)| kind.columns()).collect()
}

impl ColumnKind {
    /// The Parquet schema of the column. No column is nullable.
    fn describe(self, name: &str) -> String {
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
            Self::Numbers => list(name, "required double element;"),
            Self::Flag => format!("required boolean {name}; "),
        }
    }

    fn columns(self) -> Vec<Column> {
        match self {
            Self::Messages | Self::Input => vec![Column::texts(), Column::texts()],
            Self::Texts => vec![Column::texts()],
            Self::Text => vec![Column::text()],
            Self::Number => vec![Column::numbers()],
            Self::Numbers => vec![Column::number_lists()],
            Self::Flag => vec![Column::flags()],
        }
    }
}
