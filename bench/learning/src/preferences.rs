//! Throughput of the preference export, and samples of every format for `scripts/check-preferences`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use engine::export::{ParquetWriter, write_jsonl};
use learn::{
    ExportFormat, ExportRule, Exporter, GroupedAnswer, PreferenceConversation, PreferenceRow,
    PreferenceTurn, QuestionGroups, ServedVariant, TurnCorrection, TurnRating, TurnReward,
    TurnVerdict,
};
use model::{ConversationId, CorrectionType, Timestamp, TurnId, UnitInterval, VerdictStatus};

const CONVERSATIONS: usize = 40_000;
const TURNS: usize = 4;
const SAMPLES: usize = 2_000;
const BUDGET: f64 = 50_000.0;

pub(crate) fn measure() -> anyhow::Result<()> {
    let talks: Vec<PreferenceConversation> = (0..CONVERSATIONS).map(conversation).collect();
    println!("\n{CONVERSATIONS} conversations of {TURNS} turns\n");
    println!("| shape | rows | JSONL rows/s | budget | MB | Parquet rows/s | MB |");
    println!("|---|---|---|---|---|---|---|");
    for format in ExportFormat::ALL_FORMATS {
        let start = started();
        let mut lines = Counting(0);
        let rows = all(format, &talks, |row| Ok(write_jsonl(row, &mut lines)?))?;
        let jsonl = rows as f64 / start.elapsed().as_secs_f64();
        let start = started();
        let mut writer = ParquetWriter::new(format, Counting(0))?;
        all(format, &talks, |row| Ok(writer.push(row)?))?;
        let columns = writer.finish()?;
        let parquet = rows as f64 / start.elapsed().as_secs_f64();
        let held = if jsonl >= BUDGET { "held" } else { "**missed**" };
        println!(
            "| {} | {rows} | {jsonl:.0} | ≥ {BUDGET:.0} {held} | {:.1} | {parquet:.0} | {:.1} |",
            format.as_word(),
            lines.megabytes(),
            columns.megabytes(),
        );
    }
    let folder = std::env::temp_dir().join("uptake-preferences");
    samples(&folder, &talks[..SAMPLES])?;
    println!("\nsamples for scripts/check-preferences are in {}\n", folder.display());
    Ok(())
}

/// Every row of an export in the server's order: conversations first, then questions with several
/// answers.
fn all(
    format: ExportFormat,
    talks: &[PreferenceConversation],
    mut take: impl FnMut(&PreferenceRow) -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let mut exporter = Exporter::new(ExportRule::new(format));
    let mut groups = QuestionGroups::default();
    let mut count = 0;
    let mut hand_out = |rows: Vec<PreferenceRow>| {
        count += rows.len();
        rows.iter().try_for_each(&mut take)
    };
    for (number, talk) in talks.iter().enumerate() {
        for (at, turn) in talk.turns.iter().enumerate() {
            groups.add_turn(turn, (number as u32, at as u32));
        }
        hand_out(exporter.export_conversation(talk))?;
    }
    for places in groups.into_groups() {
        let answers = places.iter().map(|(number, at)| {
            let (talk, at) = (&talks[*number as usize], *at as usize);
            let (before, turn) = (&talk.turns[..at], &talk.turns[at]);
            GroupedAnswer { conversation: &talk.id, before, turn, vector: None }
        });
        hand_out(exporter.export_group(&answers.collect::<Vec<_>>()))?;
    }
    Ok(count)
}

fn samples(folder: &Path, talks: &[PreferenceConversation]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    for format in ExportFormat::ALL_FORMATS {
        let named =
            |ending: &str| -> PathBuf { folder.join(format!("{}.{ending}", format.as_word())) };
        let mut lines = BufWriter::new(File::create(named("jsonl"))?);
        let mut writer = ParquetWriter::new(format, File::create(named("parquet"))?)?;
        all(format, talks, |row| {
            write_jsonl(row, &mut lines)?;
            Ok(writer.push(row)?)
        })?;
        lines.flush()?;
        writer.finish()?;
    }
    Ok(())
}

/// A generated conversation of about 400 characters per answer, with feedback of every source.
fn conversation(number: usize) -> PreferenceConversation {
    let turns = (0..TURNS).map(|at| turn(number, at)).collect();
    PreferenceConversation { id: conversation_id(number), turns }
}

fn turn(number: usize, at: usize) -> PreferenceTurn {
    let question = match at {
        0 => format!("Show total sales of region {} as a table", number / 8),
        1 | 2 => format!("Write a note to customer {number} about order {at}"),
        _ => format!("And who sold most of article {number}?"),
    };
    let sure = UnitInterval::ONE;
    let rejected = TurnVerdict {
        status: VerdictStatus::Rejected,
        correction_type: Some(CorrectionType::Rephrased),
        confidence: sure,
    };
    let accepted =
        TurnVerdict { status: VerdictStatus::Accepted, correction_type: None, confidence: sure };
    let value = if number.is_multiple_of(2) { UnitInterval::ONE } else { UnitInterval::ZERO };
    PreferenceTurn {
        id: turn_id(number, at),
        question,
        answer: format!(
            "{} Answer {at} of {number}.",
            "The figures come from the orders. ".repeat(11)
        ),
        failed: false,
        asked_at: Timestamp::from_micros((number * TURNS + at) as i64),
        verdict: [None, Some(rejected), Some(accepted), None][at],
        reward: TurnReward { value: value.get(), weight: 1.0 },
        rating: (at == 0).then_some(TurnRating { value, confidence: sure }),
        corrections: (at == 3)
            .then(|| TurnCorrection {
                corrected: format!("SELECT seller FROM sales WHERE article = {number}"),
                original: None,
                when: Timestamp::from_micros(0),
                confidence: sure,
            })
            .into_iter()
            .collect(),
        regenerated: at == 1 && number.is_multiple_of(3),
        context_only: false,
        arms: Vec::from_iter((at == 0).then(|| ServedVariant {
            experiment: "tone".to_owned(),
            name: "tone".to_owned(),
            variant: ["control", "treatment"][number / 2 % 2].to_owned(),
        })),
    }
}

#[expect(clippy::expect_used, reason = "letters and digits are an id")]
fn conversation_id(number: usize) -> ConversationId {
    ConversationId::new(format!("conversation-{number}")).expect("an id")
}

#[expect(clippy::expect_used, reason = "letters and digits are an id")]
fn turn_id(number: usize, at: usize) -> TurnId {
    TurnId::new(format!("turn-{number}-{at}")).expect("an id")
}

/// Counts the bytes written to it.
struct Counting(u64);

impl Counting {
    fn megabytes(&self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
fn started() -> Instant {
    Instant::now()
}
