//! Writes the findings of a scan as JSON Lines.

use std::io::Write;

use engine::Scanned;
use serde_json::json;

/// Writes one line per turn.
pub(super) fn write_verdicts(file: &mut impl Write, scanned: &Scanned) -> std::io::Result<()> {
    for (number, turn) in scanned.turns.iter().enumerate() {
        let line = json!({
            "conversation_id": scanned.conversation,
            "turn_id": turn.id.as_str(),
            "model": turn.model,
            "turn": number,
            "question": turn.question,
            "answer": turn.answer,
            "next": turn.next,
            "verdict": turn.verdict,
            "error": turn.failure,
            "latency": turn.pace,
            "retry": turn.retry.as_ref().map(|retry| json!({
                "original_turn": retry.original_turn_id.as_str(),
                "similarity": retry.similarity,
                "delay_seconds": retry.delay_seconds,
                "intent": retry.intent,
            })),
        });
        serde_json::to_writer(&mut *file, &line)?;
        file.write_all(b"\n")?;
    }
    Ok(())
}
