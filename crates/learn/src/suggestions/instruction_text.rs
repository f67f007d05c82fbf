//! Describes SQL edits as instructions.

use super::sanitisation;
use super::sql::{ClauseKind, SqlEdit};

/// The text after "When the question is about …,"; `None` when it cannot be quoted.
pub(super) fn describe_edit(edit: &SqlEdit) -> Option<String> {
    let safe = |text: &Option<String>| text.as_deref().map(sanitisation::sanitise_sql);
    match (safe(&edit.removed), safe(&edit.added)) {
        (None, Some(Some(added))) => Some(describe_added(edit.part, &added)),
        (Some(Some(removed)), None) => Some(describe_removed(edit.part, &removed)),
        (Some(Some(removed)), Some(Some(added))) => {
            Some(describe_replaced(edit.part, &removed, &added))
        }
        // The SQL is too long to quote.
        (Some(None), _) | (_, Some(None)) | (None, None) => None,
    }
}

/// For edits that share their columns but not their values.
pub(super) fn describe_columns(part: ClauseKind, columns: &str, example: &str) -> Option<String> {
    let (columns, example) =
        (sanitisation::sanitise_sql(columns)?, sanitisation::sanitise_sql(example)?);
    let filters = part == ClauseKind::Filter || part == ClauseKind::Having;
    filters.then(|| format!("add the condition on {columns} that it implies, as in {example}"))
}

fn describe_added(part: ClauseKind, added: &str) -> String {
    match part {
        ClauseKind::Filter => format!("filter {added} unless asked otherwise"),
        ClauseKind::Having => format!("keep only groups with {added} unless asked otherwise"),
        ClauseKind::Table => format!("use the table {added}"),
        ClauseKind::Join => format!("add {added}"),
        ClauseKind::Aggregate => format!("compute {added}"),
        ClauseKind::Distinct => format!("leave out duplicates ({added})"),
        ClauseKind::Group => format!("group by {added}"),
        ClauseKind::Column => format!("show {added} too"),
        ClauseKind::Order => format!("order by {added}"),
        ClauseKind::Limit => format!("show at most {added} rows unless asked otherwise"),
        ClauseKind::Combination => format!("combine the parts with {added}"),
    }
}

fn describe_removed(part: ClauseKind, removed: &str) -> String {
    match part {
        ClauseKind::Filter => format!("do not filter {removed} unless asked to"),
        ClauseKind::Having => format!("do not leave out groups by {removed} unless asked to"),
        ClauseKind::Table => format!("do not use the table {removed}"),
        ClauseKind::Join => format!("do not add {removed}"),
        ClauseKind::Aggregate => format!("do not compute {removed}"),
        ClauseKind::Distinct => "keep duplicates (no DISTINCT)".to_owned(),
        ClauseKind::Group => format!("do not group by {removed}"),
        ClauseKind::Column => format!("do not show {removed}"),
        ClauseKind::Order => format!("do not order by {removed}"),
        ClauseKind::Limit => format!("do not cut the result to {removed} rows unless asked to"),
        ClauseKind::Combination => format!("do not use {removed}"),
    }
}

fn describe_replaced(part: ClauseKind, removed: &str, added: &str) -> String {
    match part {
        ClauseKind::Filter | ClauseKind::Having => format!("filter {added} rather than {removed}"),
        ClauseKind::Table => format!("use the table {added} rather than {removed}"),
        ClauseKind::Join | ClauseKind::Distinct | ClauseKind::Combination => {
            format!("use {added} rather than {removed}")
        }
        ClauseKind::Aggregate => format!("compute {added} rather than {removed}"),
        ClauseKind::Group => format!("group by {added} rather than {removed}"),
        ClauseKind::Column => format!("show {added} rather than {removed}"),
        ClauseKind::Order => format!("order by {added} rather than {removed}"),
        ClauseKind::Limit => format!("show {added} rows rather than {removed}"),
    }
}
