//! Stubs: the part of an erased user's event that remains, without text.

use serde_json::{Map, Value};

use crate::body::{Body, ERASED, Fields};
use crate::event::Event;
use crate::fact::{SQL_GENERATION, is_refinement};
use crate::finding::{
    Finding, FoundAnswer, FoundSentiment, FoundSuggestion, FoundVerdict, RouterChoice,
};
use crate::reaction::GivenReaction;
use crate::relevance::{EntitySignal, FoundRelevance, PendingUsage, Returned};
use crate::rule::Rule;
use crate::signal::{Failure, Verdict};
use crate::span::SpanBatch;
use crate::turn::{Completion, Opening, TurnHalf};

/// Metric fields that are not personal.
const KEPT_METRIC_FIELDS: [&str; 7] = [
    "model",
    "latency_ms",
    "tokens_used",
    "tokens_in",
    "tokens_out",
    "cost",
    "time_to_first_token_ms",
];

impl Event {
    /// The body without text, ids and features. Inputs of projections are kept, so that a rebuild
    /// from stubs gives the same result.
    pub fn stub_body(&self) -> Body {
        let fields = match &self.body {
            Body::Turn(TurnHalf::Opened(opening)) => {
                let intent = opening.intent.clone().filter(|intent| is_refinement(intent));
                let Opening { derived, unquoted, .. } = *opening;
                let left = Opening { intent, derived, unquoted, ..Opening::default() };
                return Body::Turn(TurnHalf::Opened(left));
            }
            Body::Turn(TurnHalf::Completed(done)) => {
                let done = Box::new(without_words(Completion::clone(done)));
                return Body::Turn(TurnHalf::Completed(done));
            }
            Body::Reaction(given) => {
                return Body::Reaction(GivenReaction { text: None, ..given.clone() });
            }
            Body::Rule(Rule::Profile { .. }) => {
                return Body::Rule(Rule::Profile { attributes: Map::new() });
            }
            Body::Rule(
                Rule::Privacy { .. }
                | Rule::Targets { .. }
                | Rule::Erasure { .. }
                | Rule::Calibration(_)
                | Rule::Router { .. }
                | Rule::RouterReset { .. }
                | Rule::HistoryForgotten
                | Rule::Experiment(_),
            ) => return self.body.clone(),
            Body::Finding(finding) => return Body::Finding(found_without_words(finding.clone())),
            Body::Rating(sent) => keep_fields(sent.fields(), &["rating", "score"]),
            Body::Metric(sent) => keep_fields(sent.fields(), &KEPT_METRIC_FIELDS),
            Body::Settlement(sent) => keep_fields(sent.fields(), &["decision_id", "outcome"]),
            Body::Decision(sent) => {
                let mut left =
                    keep_fields(sent.fields(), &["decision_id", "outcome", "confidence"]);
                let is_sql = sent.decision_type == SQL_GENERATION;
                let left_type = if is_sql { SQL_GENERATION } else { "erased" };
                left.insert("decision_type".into(), left_type.into());
                left
            }
            // The fact of the correction, comment or interaction still counts.
            Body::Correction(_) | Body::Comment(_) => {
                std::iter::once((ERASED.to_owned(), Value::Bool(true))).collect()
            }
            Body::Interaction(sent) => keep_fields(sent.fields(), &["kind", "dwell_ms"]),
            Body::Spans(batch) => {
                return Body::Spans(SpanBatch { root: batch.root, spans: Vec::new() });
            }
            Body::Other(_) | Body::Unreadable(_) => Fields::new(),
        };
        Body::from_stored(self.kind, fields)
    }
}

fn keep_fields(fields: &Fields, names: &[&str]) -> Fields {
    let keep = |(name, _): &(&String, &Value)| names.contains(&name.as_str());
    fields.iter().filter(keep).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn without_words(done: Completion) -> Completion {
    Completion {
        response: None,
        error: None,
        decision_id: None,
        strategy: None,
        retrieved: Vec::new(),
        ..done
    }
}

fn without_features(choice: RouterChoice) -> RouterChoice {
    RouterChoice { features: Vec::new(), ..choice }
}

fn found_without_words(finding: Finding) -> Finding {
    match finding {
        Finding::Verdict(found) => {
            let verdict =
                Verdict { user_said: None, evidence: Vec::new(), contrast: None, ..found.verdict };
            Finding::Verdict(Box::new(FoundVerdict { verdict, ..*found }))
        }
        Finding::Answer(found) => {
            let error = Failure { evidence: Vec::new(), ..found.error };
            Finding::Answer(FoundAnswer { error, ..found })
        }
        Finding::Suggestion(found) => Finding::Suggestion(FoundSuggestion {
            label: String::new(),
            instruction: String::new(),
            why: String::new(),
            evidence: Vec::new(),
            ..found
        }),
        Finding::Sentiment(found) => Finding::Sentiment(FoundSentiment { comment: None, ..found }),
        Finding::Vector { .. } => Finding::Vector { model: String::new(), values: Vec::new() },
        Finding::Choice(choice) => Finding::Choice(without_features(choice)),
        Finding::Served { choice, cost } => {
            Finding::Served { choice: without_features(choice), cost }
        }
        Finding::Returned(returned) => {
            let (query, entities) = (None, Vec::new());
            Finding::Returned(Returned { query, entities, ..returned })
        }
        Finding::PendingUsage(pending) => {
            Finding::PendingUsage(PendingUsage { response: String::new(), ..pending })
        }
        Finding::Relevance(found) => Finding::Relevance(FoundRelevance {
            signals: found
                .signals
                .into_iter()
                .map(|signal| EntitySignal { comment: None, ..signal })
                .collect(),
            ..found
        }),
        kept @ (Finding::Retry(_)
        | Finding::Review { .. }
        | Finding::Session(_)
        | Finding::Alert(_)
        | Finding::Exposure(_)
        | Finding::Trace(_)
        | Finding::Reward(_)) => kept,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::{EventId, Scope};
    use crate::time::Timestamp;
    use crate::word::{Category, Kind, Severity, Source, Type};

    #[track_caller]
    fn check(event_type: Type, source: Source, data: &Value, expected: &Value) {
        let event = Event {
            id: EventId::new("e1").unwrap(),
            scope: Scope::default(),
            kind: Kind { event_type, source },
            severity: Severity::Info,
            category: Category::Quality,
            user: None,
            conversation: None,
            turn: None,
            ts: Timestamp::from_micros(0),
            received_at: Timestamp::from_micros(0),
            tags: Vec::new(),
            body: Body::read(Kind { event_type, source }, data.as_object().unwrap().clone())
                .unwrap(),
        };
        let stub = event.stub_body();
        assert_eq!(Value::Object(stub.to_fields()), *expected);
        assert_eq!(
            Event { body: stub.clone(), ..event }.stub_body(),
            stub,
            "a stub is its own stub"
        );
    }

    #[test]
    fn stub_keeps_numbers_and_drops_text() {
        let opened =
            json!({"phase": "opened", "text": "secret", "intent": "secret", "track_id": "A"});
        check(Type::Query, Source::Turn, &opened, &json!({"phase": "opened", "text": ""}));
        let done = json!({"phase": "completed", "response": "secret", "status": "success",
            "model": "m1", "latency_ms": 3.0, "retrieved": [{"entity_id": "secret"}]});
        let stub =
            json!({"phase": "completed", "status": "success", "model": "m1", "latency_ms": 3.0});
        check(Type::Query, Source::Turn, &done, &stub);
        let given =
            json!({"reaction": "ok", "origin": "user", "confidence": 1.0, "text": "secret"});
        let stub = json!({"reaction": "ok", "origin": "user", "confidence": 1.0});
        check(Type::Explicit, Source::Reaction, &given, &stub);
        let rating = json!({"rating": 5, "comment": "secret", "note": "secret"});
        check(Type::Explicit, Source::UserRating, &rating, &json!({"rating": 5}));
        let stub = json!({"erased": true});
        check(Type::Explicit, Source::UserComment, &json!({"comment": "secret"}), &stub);
        let correction = json!({"corrected": "secret", "original": "secret"});
        let stub = json!({"erased": true});
        check(Type::Explicit, Source::UserCorrection, &correction, &stub);
        let dwell = json!({"kind": "dwell_time", "dwell_ms": 9.0, "target": "secret"});
        let stub = json!({"kind": "dwell_time", "dwell_ms": 9.0});
        check(Type::Interaction, Source::UserInteraction, &dwell, &stub);
        let metric = json!({"endpoint": "/secret", "latency_ms": 5, "user": 4_915_112});
        check(Type::Metric, Source::Trace, &metric, &json!({"latency_ms": 5}));
        let spans = json!({"root": true, "spans": [{"span_id": "secret", "name": "secret",
            "kind": "llm", "started_at": "2026-01-01T00:00:00Z",
            "ended_at": "2026-01-01T00:00:01Z", "input": "secret"}]});
        check(Type::Log, Source::Trace, &spans, &json!({"root": true, "spans": []}));
        let verdict = json!({"finding": "verdict", "detector": "verdict/1", "detected_in": "t2",
            "status": "rejected", "confidence": 0.9, "raw_confidence": 0.9, "moved_on": false,
            "correction_type": "explicit", "user_said": "secret", "rule": "negation_start",
            "evidence": [{"start": 0, "end": 2, "rule": "negation_start"}],
            "contrast": {"wants": "secret"}, "dissatisfied": 0.9, "behaviour": null});
        let mut stub = verdict.clone();
        stub["user_said"] = Value::Null;
        stub["evidence"] = json!([]);
        stub["contrast"] = Value::Null;
        check(Type::Quality, Source::Engine, &verdict, &stub);
        let profile = json!({"rule": "profile", "attributes": {"name": "secret"}});
        let stub = json!({"rule": "profile", "attributes": {}});
        check(Type::Log, Source::Engine, &profile, &stub);
    }
}
