//! Writes the facts of many turns in one statement.

use std::sync::LazyLock;

/// Columns of `turn_facts` after the turn, in write order. Capitals mark text columns.
const COLUMNS: &str =
    "project user ts MODEL PROMPT answered failed millis tokens cost ok not_ok neutral
    status both agree corrected retried heard refined ended abandoned negative comments_positive
    comments_negative comments_neutral STRATEGY";

/// One array per column. The last row of a turn wins.
pub(crate) static MANY: LazyLock<String> = LazyLock::new(|| {
    let columns: Vec<String> = COLUMNS.split_whitespace().map(str::to_lowercase).collect();
    let sort = |column: &str| match column.chars().all(|c| c.is_ascii_uppercase()) {
        true => "TEXT",
        false => "BIGINT",
    };
    let arrays: Vec<String> = (2..)
        .zip(COLUMNS.split_whitespace())
        .map(|(n, column)| format!("${n}::{}[]", sort(column)))
        .collect();
    let set: Vec<String> =
        columns.iter().map(|column| format!("{column} = excluded.{column}")).collect();
    let names = columns.join(", ");
    format!(
        "INSERT INTO turn_facts (turn, {names})
         SELECT DISTINCT ON (turn) turn, {names}
         FROM unnest($1::BIGINT[], {}) WITH ORDINALITY AS given (turn, {names}, number)
         ORDER BY turn, number DESC
         ON CONFLICT (turn) DO UPDATE SET {}",
        arrays.join(", "),
        set.join(", ")
    )
});
