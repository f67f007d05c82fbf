//! Feedback events of clients.

use model::{
    Body, ClaimSpace, Completion, DecisionId, Entry, Event, Finding, FoundSentiment, Kind, Need,
    Opening, Sentiment, Source, TurnHalf, Type, UnitInterval, Write,
};
use serde_json::{Value, json};

use super::{StoryGenerator, entry};

const DECISIONS: [&str; 3] = ["d1", "d2", "0199c0de-0000-7000-8000-00000000000d"];
const OUTCOMES: [&str; 4] = ["success", "failure", "accepted", "unknown"];

impl StoryGenerator {
    pub(crate) fn feedback(&mut self) -> Write {
        match self.dice.below(12) {
            0..5 => self.rating(),
            5 => self.comment(),
            6 => {
                self.simple(Type::Explicit, Source::UserCorrection, &json!({"corrected": "That."}))
            }
            7 => self.interaction(),
            8 => self.measurement(),
            9 | 10 => self.decision(),
            _ => self.settlement(),
        }
    }

    fn simple(&mut self, event_type: Type, source: Source, data: &Value) -> Write {
        let event = self.sent(event_type, source, data);
        self.write(event, &[])
    }

    fn sent(&mut self, event_type: Type, source: Source, data: &Value) -> Event {
        let data = data.as_object().cloned().unwrap();
        let body = Body::from_stored(Kind { event_type, source }, data);
        let mut event = self.event(event_type, source, body);
        if self.dice.percent(50) {
            event.id = self.chosen_id();
        }
        event.turn = self.dice.percent(85).then(|| self.turn());
        event.conversation = self.dice.percent(50).then(|| self.conversation());
        event.user = self.maybe_user();
        event
    }

    fn rating(&mut self) -> Write {
        let data = self.dice.of_these(&[
            json!({"rating": "positive"}),
            json!({"rating": 1, "comment": "bad"}),
            json!({"rating": 3}),
            json!({"score": 0.9}),
        ]);
        let mut write = self.simple(Type::Explicit, Source::UserRating, &data);
        if self.dice.percent(20) && write.entry.event.turn.is_some() {
            // As a widget sends it.
            write.needs.push(Need::Turn(write.entry.event.conversation.clone()));
        } else if self.dice.percent(40) && write.entry.event.turn.is_some() {
            let words = write.entry.event.clone();
            write.more.extend(self.quoted_halves(&words));
            if self.dice.percent(50) {
                write.fallback_turns = vec![self.turn(), self.turn()];
            }
        }
        write
    }

    /// The halves of a turn that feedback quotes.
    fn quoted_halves(&mut self, words: &Event) -> Vec<Entry> {
        let unquoted = self.dice.percent(30);
        let text = if unquoted { String::new() } else { "How many then?".to_owned() };
        let opening = Opening { text, derived: true, unquoted, ..Opening::default() };
        let mut halves = vec![TurnHalf::Opened(opening)];
        if self.dice.percent(60) {
            let answer = Completion::quoted(Some("Many.".into()));
            halves.push(TurnHalf::Completed(Box::new(answer)));
        }
        let conversation = words.conversation.clone().unwrap_or_else(|| self.conversation());
        let mut entries = Vec::new();
        for half in halves {
            let mut event = self.event(Type::Query, Source::Turn, Body::Turn(half));
            (event.turn, event.user) = (words.turn.clone(), words.user.clone());
            event.conversation = Some(conversation.clone());
            entries.push(entry(event));
        }
        entries
    }

    fn measurement(&mut self) -> Write {
        let (event_type, data) = self.dice.of_these(&[
            (Type::Metric, json!({"latency_ms": 5})),
            (Type::Performance, json!({"latency_ms": 900, "model": "m1", "tokens_used": 7})),
            (Type::Error, json!({"message": "timeout"})),
        ]);
        self.simple(event_type, Source::Trace, &data)
    }

    fn comment(&mut self) -> Write {
        let data = json!({"comment": "Well."});
        let mut write = self.simple(Type::Explicit, Source::UserComment, &data);
        let words = &write.entry.event;
        let of = (words.turn.clone(), words.user.clone(), words.id.clone());
        let sentiment = self.dice.of_these(&[Sentiment::Positive, Sentiment::Negative]);
        let mut found = self.found(&Finding::Sentiment(FoundSentiment {
            detector: "sentiment/1".into(),
            comment: Some(of.2),
            sentiment,
            confidence: UnitInterval::ONE,
        }));
        (found.turn, found.user) = (of.0, of.1);
        write.more.push(entry(found));
        write
    }

    fn interaction(&mut self) -> Write {
        let kind = self.dice.of_these(&["copy", "query_refinement", "abandonment", "regenerate"]);
        let data = json!({"kind": kind});
        let mut write = self.simple(Type::Interaction, Source::UserInteraction, &data);
        let words = write.entry.event.clone();
        if let Some(turn) = words.turn.clone().filter(|_| kind == "regenerate") {
            write.more.push(self.retry(&words, turn, None));
        }
        write
    }

    fn decision_id(&mut self) -> DecisionId {
        DecisionId::new(self.dice.of_these(&DECISIONS)).unwrap()
    }

    fn decision(&mut self) -> Write {
        let id = self.decision_id();
        let data = json!({
            "decision_id": id,
            "decision_type": self.dice.of_these(&["sql_generation", "sql_generation", "tool"]),
            "outcome": self.dice.of_these(&OUTCOMES),
        });
        let event = self.sent(Type::Query, Source::ModelResponse, &data);
        self.write(event, &[(ClaimSpace::Decision, id.as_str())])
    }

    /// An outcome, by its own route or as an event.
    fn settlement(&mut self) -> Write {
        let id = self.decision_id();
        let outcome = self.dice.of_these(&OUTCOMES);
        let data = json!({"decision_id": id, "outcome": outcome});
        let mut write = self.simple(Type::Query, Source::ModelResponse, &data);
        if self.dice.percent(70) {
            write.needs.push(Need::Decision(id.clone()));
            if self.dice.percent(40) {
                write.needs.push(Need::OutcomeAt(id.clone(), None));
            }
            write.needs.push(Need::OtherOutcome(id));
        }
        write
    }
}
