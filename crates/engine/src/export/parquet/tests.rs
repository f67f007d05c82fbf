use ::parquet::file::reader::{FileReader, SerializedFileReader};
use learn::{
    ExportRule, Exporter, PreferenceConversation, PreferenceTurn, TurnCorrection, TurnRating,
};
use serde_json::Value;

use super::*;
use crate::export::write_jsonl;

/// A conversation with a corrected second turn and a liked first one.
fn talk(at: usize) -> PreferenceConversation {
    let turn = |number: usize| PreferenceTurn {
        id: model::TurnId::new(format!("t{at}-{number}")).unwrap(),
        question: format!("question {number} of {at}, \"quoted\" and ünïcode"),
        answer: format!("answer {number} of {at}"),
        failed: false,
        asked_at: model::Timestamp::from_micros(0),
        verdict: None,
        rating: None,
        corrections: Vec::new(),
        regenerated: false,
        context_only: false,
        arms: Vec::new(),
        reward: learn::TurnReward { value: 0.25 * number as f64, weight: 1.0 },
    };
    let (mut first, mut second) = (turn(1), turn(2));
    let sure = model::UnitInterval::ONE;
    first.rating = Some(TurnRating { value: sure, confidence: sure });
    second.corrections = vec![TurnCorrection {
        corrected: format!("better {at}"),
        original: None,
        when: model::Timestamp::from_micros(0),
        confidence: sure,
    }];
    let id = model::ConversationId::new(format!("c{at}")).unwrap();
    PreferenceConversation { id, turns: vec![first, second] }
}

fn rows(format: ExportFormat, talks: usize) -> Vec<PreferenceRow> {
    let mut exporter = Exporter::new(ExportRule::new(format));
    (0..talks).flat_map(|at| exporter.export_conversation(&talk(at))).collect()
}

fn file(format: ExportFormat, rows: &[PreferenceRow]) -> SerializedFileReader<bytes::Bytes> {
    let mut writer = ParquetWriter::new(format, Vec::new()).unwrap();
    for row in rows {
        writer.push(row).unwrap();
    }
    SerializedFileReader::new(bytes::Bytes::from(writer.finish().unwrap())).unwrap()
}

/// Removes Parquet's list levels: `{"list": [{"element": x}]}` becomes `[x]`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the library's list of types is long")]
fn plain(value: &::parquet::record::Field) -> Value {
    use ::parquet::record::Field;
    match value {
        Field::Group(row) => {
            row.get_column_iter().map(|(name, field)| (name.clone(), plain(field))).collect()
        }
        Field::ListInternal(list) => list.elements().iter().map(plain).collect(),
        Field::Str(text) => Value::from(text.as_str()),
        Field::Double(number) => Value::from(*number),
        Field::Bool(flag) => Value::from(*flag),
        other => panic!("no column of ours: {other:?}"),
    }
}

#[test]
fn parquet_rows_equal_their_json() {
    for format in ExportFormat::ALL_FORMATS {
        let rows = rows(format, 30);
        assert!(rows.len() >= 30);
        let file = file(format, &rows);
        let read: Vec<Value> = file
            .get_row_iter(None)
            .unwrap()
            .map(|row| plain(&::parquet::record::Field::Group(row.unwrap())))
            .collect();
        let mut lines = Vec::new();
        rows.iter().for_each(|row| write_jsonl(row, &mut lines).unwrap());
        let json: Vec<Value> = String::from_utf8(lines)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, json, "{format:?}");
    }
}

#[test]
fn rows_are_written_in_groups() {
    let rows = rows(ExportFormat::Dpo, GROUP_ROWS + 1);
    let file = file(ExportFormat::Dpo, &rows);
    let groups: Vec<i64> = file.metadata().row_groups().iter().map(|g| g.num_rows()).collect();
    assert_eq!(groups, [GROUP_ROWS as i64, 1]);
}

#[test]
fn empty_export_is_a_valid_file() {
    let file = file(ExportFormat::Kto, &[]);
    assert_eq!(file.metadata().file_metadata().num_rows(), 0);
    assert_eq!(file.metadata().file_metadata().schema().get_fields().len(), 13);
}

#[test]
fn file_rejects_rows_of_another_format() {
    let mut writer = ParquetWriter::new(ExportFormat::Dpo, Vec::new()).unwrap();
    let other = &rows(ExportFormat::Sft, 1)[0];
    assert!(matches!(writer.push(other), Err(ExportError::OtherShape)));
}
