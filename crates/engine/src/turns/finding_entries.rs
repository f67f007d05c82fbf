//! Log entries of detected signals: findings and machine reactions.

use ingest::{FindingPlace, TurnPlace};
use model::{
    Entry, Event, Finding, FoundRetry, FoundVerdict, GivenReaction, Origin, Redacted, TurnId,
};

use super::message_signals::{DetectedVerdict, MessageSignals, ReaderShare};
use crate::changes::{build_entry, truncate_for_embedding};
use crate::core::Core;
use crate::turns::Turns;

/// Characters of a message that are stored as the user's quote.
const MAX_QUOTED_CHARS: usize = 1000;

impl Core {
    /// The entry that stores a question's remote embedding. Without a remote one there is no entry,
    /// because the built-in embedding is derived from the text.
    pub(crate) async fn vector_entry(&self, opening: &Redacted<Event>) -> Option<Entry> {
        if !self.embedder.is_remote() {
            return None;
        }
        let text = &opening.body.opening()?.text;
        let vector = self.embed_text(truncate_for_embedding(text)).await;
        if vector.model() == embed::built_in().embed("").model() {
            return None;
        }
        let (model, values) = (vector.model().to_string(), vector.values().to_vec());
        let finding = Finding::Vector { model, values };
        Some(self.finding_entry(opening, opening.turn.clone(), finding))
    }

    /// Builds the entry of a finding about `turn` that was detected in `words`.
    pub(crate) fn finding_entry(
        &self,
        words: &Redacted<Event>,
        turn: Option<TurnId>,
        finding: Finding,
    ) -> Entry {
        build_entry(words.derive(|words| {
            let place = FindingPlace {
                scope: words.scope.clone(),
                turn,
                conversation: words.conversation.clone(),
                user: words.user.clone(),
            };
            let now = words.received_at;
            ingest::finding_event(place, finding, self.ids.event_id(now), words.ts, now)
        }))
    }
}

impl Turns {
    /// The entries of a message's signals, to be committed with its opening.
    pub(crate) fn signal_entries(
        &self,
        opening: &Redacted<Event>,
        signals: MessageSignals,
    ) -> Vec<Entry> {
        let Some(detected_in) = opening.turn.clone() else { return Vec::new() };
        let mut entries = Vec::new();
        if let Some(retry) = signals.retry {
            let finding = Finding::Retry(FoundRetry {
                detector: self.core.detectors.retry_version(),
                detected_in: Some(detected_in.clone()),
                similarity: retry.similarity,
                delay_seconds: retry.delay_seconds,
                intent: retry.intent,
            });
            let turn = Some(retry.original_turn_id);
            entries.push(self.core.finding_entry(opening, turn, finding));
        }
        if let Some(verdict) = signals.verdict {
            entries.extend(self.verdict_entries(opening, &detected_in, verdict));
        }
        entries
    }

    pub(crate) fn verdict_entries(
        &self,
        opening: &Redacted<Event>,
        detected_in: &TurnId,
        detected: DetectedVerdict,
    ) -> Vec<Entry> {
        let (moved_on, reaction) = (detected.is_moved_on(), detected.machine_reaction());
        let DetectedVerdict { mut verdict, raw_confidence, target, reader, target_score, .. } =
            detected;
        verdict.user_said = verdict.user_said.map(|text| truncate_quote(&text));
        let found = FoundVerdict {
            detector: self.verdict_detector(reader),
            detected_in: detected_in.clone(),
            raw_confidence,
            moved_on,
            instead_of: None,
            target_score,
            verdict,
        };
        let confidence = found.verdict.confidence;
        let finding = Finding::Verdict(Box::new(found));
        let turn = target.as_ref().map(|target| target.turn.clone());
        let mut entries = vec![self.core.finding_entry(opening, turn, finding)];
        if let (Some(place), Some(reaction)) = (target, reaction) {
            let given = GivenReaction {
                reaction: Some(reaction),
                origin: Origin::Machine,
                confidence,
                text: quote_message(opening),
                detected_in: Some(detected_in.clone()),
            };
            entries.push(self.reaction_entry(place, given, opening));
        }
        entries
    }

    /// The name and version of the detector that gave a verdict.
    fn verdict_detector(&self, reader: ReaderShare) -> String {
        let detectors = &self.core.detectors;
        match (reader, &self.llm) {
            (ReaderShare::JudgedByLlm, Some(llm)) => llm.version(),
            (ReaderShare::JudgedByLlm, None) | (ReaderShare::Judged, _) => {
                detectors.reader_version()
            }
            (ReaderShare::None | ReaderShare::Pending, _) => detectors.verdict_version(),
        }
    }

    fn reaction_entry(
        &self,
        place: TurnPlace,
        given: GivenReaction,
        opening: &Redacted<Event>,
    ) -> Entry {
        build_entry(opening.derive(|opening| {
            let now = opening.received_at;
            let accepted = ingest::AcceptedReaction { user: None, ts: opening.ts, given };
            ingest::reaction_event(place, &accepted, self.core.ids.event_id(now), now)
        }))
    }
}

fn quote_message(opening: &Event) -> Option<String> {
    let text = &opening.body.opening()?.text;
    Some(truncate_quote(text)).filter(|text| !text.trim().is_empty())
}

fn truncate_quote(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARS).collect()
}
