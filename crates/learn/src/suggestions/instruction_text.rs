//! Says a change of a statement as an instruction.

use super::sanitisation;
use super::sql::{Edit, Part};

/// What to do, after "When the question is about …,"; `None` when it would teach nothing.
pub(super) fn what_to_do(edit: &Edit) -> Option<String> {
    let safe = |text: &Option<String>| text.as_deref().map(sanitisation::sql);
    match (safe(&edit.removed), safe(&edit.added)) {
        (None, Some(Some(added))) => added_part(edit.part, &added),
        (Some(Some(removed)), None) => removed_part(edit.part, &removed),
        (Some(Some(removed)), Some(Some(added))) => exchanged(edit.part, &removed, &added),
        // Too long to repeat.
        (Some(None), _) | (_, Some(None)) | (None, None) => None,
    }
}

/// The same when only the columns agree and their values differ from case to case.
pub(super) fn what_to_do_about(part: Part, columns: &str, example: &str) -> Option<String> {
    let (columns, example) = (sanitisation::sql(columns)?, sanitisation::sql(example)?);
    let filters = part == Part::Filter || part == Part::Having;
    filters.then(|| format!("add the condition on {columns} that it implies, as in {example}"))
}

fn added_part(part: Part, added: &str) -> Option<String> {
    Some(match part {
        Part::Filter => format!("filter {added} unless asked otherwise"),
        Part::Having => format!("keep only groups with {added} unless asked otherwise"),
        Part::Table => format!("use the table {added}"),
        Part::Join => format!("add {added}"),
        Part::Aggregate => format!("compute {added}"),
        Part::Distinct => format!("leave out duplicates ({added})"),
        Part::Group => format!("group by {added}"),
        Part::Column => format!("show {added} too"),
        Part::Order => format!("order by {added}"),
        Part::Limit => format!("show at most {added} rows unless asked otherwise"),
        Part::Combination => format!("combine the parts with {added}"),
    })
}

fn removed_part(part: Part, removed: &str) -> Option<String> {
    Some(match part {
        Part::Filter => format!("do not filter {removed} unless asked to"),
        Part::Having => format!("do not leave out groups by {removed} unless asked to"),
        Part::Table => format!("do not use the table {removed}"),
        Part::Join => format!("do not add {removed}"),
        Part::Aggregate => format!("do not compute {removed}"),
        Part::Distinct => "keep duplicates (no DISTINCT)".to_owned(),
        Part::Group => format!("do not group by {removed}"),
        Part::Column => format!("do not show {removed}"),
        Part::Order => format!("do not order by {removed}"),
        Part::Limit => format!("do not cut the result to {removed} rows unless asked to"),
        Part::Combination => format!("do not use {removed}"),
    })
}

fn exchanged(part: Part, removed: &str, added: &str) -> Option<String> {
    Some(match part {
        Part::Filter | Part::Having => format!("filter {added} rather than {removed}"),
        Part::Table => format!("use the table {added} rather than {removed}"),
        Part::Join => format!("use {added} rather than {removed}"),
        Part::Aggregate => format!("compute {added} rather than {removed}"),
        Part::Distinct => format!("use {added} rather than {removed}"),
        Part::Group => format!("group by {added} rather than {removed}"),
        Part::Column => format!("show {added} rather than {removed}"),
        Part::Order => format!("order by {added} rather than {removed}"),
        Part::Limit => format!("show {added} rows rather than {removed}"),
        Part::Combination => format!("use {added} rather than {removed}"),
    })
}
