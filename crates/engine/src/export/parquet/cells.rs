//! Converts a row to cells in the order of the schema.

use std::slice::IterMut;

use learn::{ExportFormat, Message, PreferenceRow, Provenance, RowContent};

use super::column::Column;

/// A value of one column, or of the two columns of a message list.
pub(super) enum Cell<'a> {
    Messages(&'a [Message]),
    Flag(bool),
    Text(&'a str),
    Texts(&'a [String]),
    Number(f64),
    Numbers(&'a [f64]),
}

/// `None` for a row of another format.
pub(super) fn row_cells(format: ExportFormat, row: &PreferenceRow) -> Option<Vec<Cell<'_>>> {
    use Cell::{Flag, Messages};
    let mut cells = match (format, &row.content) {
        (
            ExportFormat::Dpo | ExportFormat::Reward,
            RowContent::Dpo { prompt, chosen, rejected },
        ) => {
            vec![Messages(prompt), Messages(chosen), Messages(rejected)]
        }
        (ExportFormat::Kto, RowContent::Kto { prompt, completion, label }) => {
            vec![Messages(prompt), Messages(completion), Flag(*label)]
        }
        (ExportFormat::Sft, RowContent::Sft { messages }) => vec![Messages(messages)],
        (
            ExportFormat::OpenAiDpo,
            RowContent::OpenAi { input, preferred_output, non_preferred_output },
        ) => vec![
            Messages(&input.messages),
            Messages(preferred_output),
            Messages(non_preferred_output),
        ],
        (
            ExportFormat::Dpo
            | ExportFormat::Reward
            | ExportFormat::Kto
            | ExportFormat::Sft
            | ExportFormat::OpenAiDpo,
            _,
        ) => return None,
    };
    cells.extend(provenance_cells(&row.provenance));
    Some(cells)
}

fn provenance_cells(from: &Provenance) -> [Cell<'_>; 10] {
    [
        Cell::Text(&from.id),
        Cell::Text(from.source),
        Cell::Number(from.margin),
        Cell::Number(from.confidence),
        Cell::Text(from.split),
        Cell::Texts(&from.turn_ids),
        Cell::Texts(&from.conversation_ids),
        Cell::Text(&from.experiment),
        Cell::Numbers(&from.rewards),
        Cell::Numbers(&from.reward_weights),
    ]
}

impl Cell<'_> {
    /// Appends the cell to the next columns.
    pub(super) fn push_to(self, columns: &mut IterMut<'_, Column>) {
        let mut next = |put: &dyn Fn(&mut Column)| columns.next().into_iter().for_each(put);
        match self {
            Self::Messages(messages) => {
                next(&|roles| roles.put_texts(messages.iter().map(|m| m.role.as_word())));
                next(&|contents| contents.put_texts(messages.iter().map(|m| m.content.as_str())));
            }
            Self::Flag(flag) => next(&|column| column.put_flag(flag)),
            Self::Text(text) => next(&|column| column.put_text(text)),
            Self::Texts(texts) => next(&|c| c.put_texts(texts.iter().map(String::as_str))),
            Self::Number(number) => next(&|column| column.put_number(number)),
            Self::Numbers(numbers) => next(&|column| column.put_numbers(numbers)),
        }
    }
}
