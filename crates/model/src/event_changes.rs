//! Computes the projection changes of an event. Pure, and used both when an event is stored and
//! when projections are rebuilt.

use crate::body::{Body, Decision, EndpointMetric, Interaction};
use crate::change::{
    Change, DecisionChange, Judgement, Position, RetrievalChange, SettingsChange, TraceChange,
    TurnChange,
};
use crate::event::Event;
use crate::experiment::ExperimentChange;
use crate::fact::{LooseFact, SQL_GENERATION, TurnFact};
use crate::finding::{Finding, FoundAlert, FoundSession};
use crate::id::DecisionId;
use crate::number::UnitInterval;
use crate::reaction::GivenReaction;
use crate::relevance::{EntitySignal, FoundRelevance, RankBand};
use crate::rule::Rule;
use crate::turn::{Completion, TurnHalf};
use crate::vector::Vector;
use crate::word::{CorrectionType, InteractionKind, Origin, TurnStatus, Type};

impl Event {
    /// The changes that follow from the event alone. Embeddings and languages of questions are added
    /// by the engine.
    pub fn changes(&self) -> Vec<Change> {
        let has_turn = self.turn.is_some();
        match &self.body {
            Body::Turn(TurnHalf::Opened(opening)) if opening.derived => {
                let is_quoted = !opening.unquoted;
                vec![Change::Turn(TurnChange::OpenDerived {
                    is_quoted,
                    vector: None,
                    language: None,
                })]
            }
            Body::Turn(TurnHalf::Completed(done)) if done.derived => {
                vec![Change::Turn(TurnChange::CompleteDerived)]
            }
            Body::Turn(TurnHalf::Opened(opening)) => vec![Change::Turn(TurnChange::Open {
                track: opening.track_id.clone(),
                bundle: opening.bundle_id.clone(),
                user_type: opening.user_type.clone(),
                intent: opening.intent.clone(),
                language: None,
            })],
            Body::Turn(TurnHalf::Completed(done)) => answer_changes(done),
            Body::Reaction(given) => reaction_changes(given),
            // A rating of a turn is stored as the user's reaction.
            Body::Rating(sent) if has_turn => vec![Change::Turn(TurnChange::React {
                origin: Origin::User,
                reaction: sent.rating.reaction(),
                rating: sent.rating.value(),
                confidence: UnitInterval::ONE,
                detected_in: None,
            })],
            Body::Rating(sent) => vec![Change::Count(LooseFact::Rated(sent.rating.reaction()))],
            Body::Correction(_) if has_turn => vec![note(TurnFact::Corrected)],
            Body::Correction(_) => vec![Change::Count(LooseFact::Corrected)],
            Body::Comment(_) if has_turn => vec![note(TurnFact::GotFeedback)],
            Body::Interaction(done) => interaction_changes(done, has_turn),
            Body::Decision(decision) => decision_changes(self, decision),
            Body::Settlement(settled) => vec![Change::Decision(DecisionChange::Settle {
                id: settled.decision_id.clone(),
                executed: settled.outcome.executed(),
            })],
            Body::Finding(finding) => finding_changes(finding, has_turn),
            Body::Spans(batch) if has_turn => {
                vec![Change::Trace(TraceChange::Receive { root: batch.root })]
            }
            Body::Rule(rule) => rule_change(rule).into_iter().collect(),
            Body::Metric(metric) if self.kind.event_type == Type::Performance => {
                metric_changes(metric, has_turn)
            }
            Body::Other(_) if self.kind.event_type == Type::Error => {
                let loose = Change::Count(LooseFact::Failed);
                vec![if has_turn { note(TurnFact::ReportedError) } else { loose }]
            }
            Body::Comment(_)
            | Body::Metric(_)
            | Body::Spans(_)
            | Body::Other(_)
            | Body::Unreadable(_) => Vec::new(),
        }
    }
}

fn note(fact: TurnFact) -> Change {
    Change::Turn(TurnChange::Note(fact))
}

/// A measurement belongs to its turn. Without one, only its latency counts.
fn metric_changes(metric: &EndpointMetric, has_turn: bool) -> Vec<Change> {
    let millis = metric.latency_ms.map(|millis| millis.round() as u64);
    if has_turn {
        return vec![note(TurnFact::Measured {
            millis,
            tokens: metric.tokens_used.unwrap_or(0.0).round() as u64,
            cost: (metric.cost.unwrap_or(0.0) * 1e9).round() as u64,
        })];
    }
    let count = |millis| Change::Count(LooseFact::Measured { model: metric.model.clone(), millis });
    millis.map(count).into_iter().collect()
}

fn rule_change(rule: &Rule) -> Option<Change> {
    let settings = match rule.clone() {
        Rule::Privacy { settings } => SettingsChange::Privacy(settings),
        Rule::Targets { settings } => SettingsChange::Targets(settings),
        Rule::Profile { attributes } => SettingsChange::Profile(attributes),
        Rule::Calibration(calibration) => SettingsChange::Calibration(calibration),
        Rule::Router { name, definition } => SettingsChange::Router { name, definition },
        Rule::Experiment(rule) => return Some(Change::Experiment(ExperimentChange::Rule(rule))),
        Rule::Erasure { .. } | Rule::RouterReset { .. } | Rule::HistoryForgotten => return None,
    };
    Some(Change::Settings(settings))
}

fn answer_changes(done: &Completion) -> Vec<Change> {
    let answered = TurnFact::Answered {
        model: done.model.clone(),
        prompt: done.prompt.as_ref().map(ToString::to_string),
        strategy: done.strategy.as_ref().map(|strategy| strategy.name.clone()),
        failed: done.status == TurnStatus::Error,
        tokens: done.tokens_in.unwrap_or(0).saturating_add(done.tokens_out.unwrap_or(0)),
        // The cast maps negative and NaN costs to 0.
        cost: (done.cost.unwrap_or(0.0) * 1e9).round() as u64,
    };
    let complete = Change::Turn(TurnChange::Complete {
        outcome: done.validation_outcome,
        quality: done.quality_score,
        has_strategy: done.strategy.is_some(),
    });
    vec![complete, note(answered)]
}

/// A refined question counts as a refinement, an abandonment ends the session. Other interactions
/// count as feedback on the turn.
fn interaction_changes(done: &Interaction, has_turn: bool) -> Vec<Change> {
    match done.kind {
        InteractionKind::QueryRefinement if has_turn => vec![note(TurnFact::Refined)],
        InteractionKind::QueryRefinement => vec![Change::Count(LooseFact::Refined)],
        InteractionKind::Abandonment => vec![Change::AbandonSession],
        InteractionKind::ResultInteraction
        | InteractionKind::DwellTime
        | InteractionKind::FollowUp
        | InteractionKind::Export
        | InteractionKind::DashboardAdd
        | InteractionKind::Regenerate
        | InteractionKind::Copy => {
            if has_turn {
                vec![note(TurnFact::GotFeedback)]
            } else {
                Vec::new()
            }
        }
    }
}

fn decision_changes(event: &Event, decision: &Decision) -> Vec<Change> {
    let is_sql = decision.decision_type == SQL_GENERATION;
    let executed = decision.outcome.executed();
    let id = decision.decision_id.clone().or_else(|| DecisionId::new(event.id.as_str()).ok());
    let made = id.map(|id| Change::Decision(DecisionChange::Make { id, is_sql, executed }));
    made.into_iter().collect()
}

fn reaction_changes(given: &GivenReaction) -> Vec<Change> {
    let GivenReaction { reaction, origin, confidence, detected_in, .. } = given.clone();
    let Some(reaction) = reaction else {
        return vec![Change::Turn(TurnChange::ClearReaction)];
    };
    // A machine of the application counts like our detectors, which report through findings.
    let judged = (origin == Origin::Machine && detected_in.is_none()).then(|| {
        Change::Judge(Judgement {
            status: reaction.into(),
            confidence,
            raw_confidence: confidence,
            moved_on: false,
            corrects: false,
            refines: false,
            detected_in: None,
        })
    });
    let rating = reaction.value();
    let react = TurnChange::React { origin, reaction, rating, confidence, detected_in };
    std::iter::once(Change::Turn(react)).chain(judged).collect()
}

fn relevance_changes(found: &FoundRelevance) -> Vec<Change> {
    let weigh = |signal: &EntitySignal| {
        Change::Retrieval(RetrievalChange::Weigh {
            query: found.query_id.clone(),
            cluster: found.cluster,
            entity: signal.entity_id.clone(),
            band: RankBand::from_rank(signal.rank),
            signal: signal.signal,
        })
    };
    found.signals.iter().map(weigh).collect()
}

fn finding_changes(finding: &Finding, has_turn: bool) -> Vec<Change> {
    let change = match finding {
        Finding::Relevance(found) => return relevance_changes(found),
        // Any review counts as feedback from a person.
        Finding::Review { status } => {
            return vec![Change::Turn(TurnChange::Review(*status)), note(TurnFact::GotFeedback)];
        }
        Finding::Sentiment(found) if has_turn => note(TurnFact::Commented(found.sentiment)),
        Finding::Sentiment(found) => Change::Count(LooseFact::Commented(found.sentiment)),
        Finding::Verdict(found) => Change::Judge(Judgement {
            status: found.verdict.status,
            confidence: found.verdict.confidence,
            raw_confidence: found.raw_confidence,
            moved_on: found.moved_on,
            // Abandonment does not state a correction.
            corrects: matches!(
                found.verdict.correction_type,
                Some(CorrectionType::Explicit | CorrectionType::Rephrased)
            ),
            refines: found.verdict.behaviour == Some(InteractionKind::QueryRefinement),
            detected_in: Some(found.detected_in.clone()),
        }),
        Finding::Session(FoundSession { last_at, abandoned, .. }) => {
            Change::Turn(TurnChange::EndSession { last_at: *last_at, abandoned: *abandoned })
        }
        Finding::Retry(_) => note(TurnFact::Retried),
        Finding::Answer(found) => note(TurnFact::Shown {
            failed: found.error.error_type.is_some(),
            millis: found.latency.map(|pace| (pace.seconds * 1000.0).round() as u64),
        }),
        Finding::Vector { model, values } if !values.is_empty() => {
            let vector = Vector::new(model.as_str().into(), values.clone());
            Change::Turn(TurnChange::SetVector(vector))
        }
        Finding::Alert(FoundAlert { metric, raised, .. }) => {
            Change::Alert { metric: metric.clone(), raised: *raised }
        }
        Finding::Exposure(exposure) => {
            Change::Experiment(ExperimentChange::Expose(exposure.clone()))
        }
        Finding::PendingUsage(pending) => {
            Change::Retrieval(RetrievalChange::Return { query: pending.query_id.clone() })
        }
        Finding::Returned(returned) => {
            Change::Retrieval(RetrievalChange::Return { query: returned.query_id.clone() })
        }
        Finding::Trace(found) => {
            Change::Trace(TraceChange::Assemble { upto: Position(found.upto) })
        }
        Finding::Vector { .. }
        | Finding::Suggestion(_)
        | Finding::Choice(_)
        | Finding::Served { .. }
        | Finding::Reward(_) => return Vec::new(),
    };
    vec![change]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::id::{EventId, Scope, TurnId};
    use crate::time::Timestamp;
    use crate::word::{Category, Kind, Reaction, Source};

    fn event(event_type: Type, source: Source, data: &Value) -> Event {
        let kind = Kind { event_type, source };
        let body = Body::read(kind, data.as_object().unwrap().clone()).unwrap();
        let (id, now) = (EventId::new("e1").unwrap(), Timestamp::from_micros(0));
        let turn = Some(TurnId::new("t1").unwrap());
        Event { turn, ..Event::new(Scope::default(), id, (kind, Category::Quality), now, body) }
    }

    #[test]
    fn ratings_and_reactions_change_the_same() {
        let rating = event(Type::Explicit, Source::UserRating, &json!({"rating": 1}));
        let data = json!({"reaction": "not_ok", "origin": "user", "confidence": 1.0});
        let reaction = event(Type::Explicit, Source::Reaction, &data);
        let expected = Change::Turn(TurnChange::React {
            origin: Origin::User,
            reaction: Reaction::NotOk,
            rating: UnitInterval::ZERO,
            confidence: UnitInterval::ONE,
            detected_in: None,
        });
        assert_eq!(rating.changes(), [expected]);
        assert_eq!(rating.changes(), reaction.changes());
        let loose = Change::Count(LooseFact::Rated(Reaction::NotOk));
        assert_eq!(Event { turn: None, ..rating }.changes(), [loose]);
    }

    #[test]
    fn null_reaction_clears() {
        let data = json!({"reaction": null, "origin": "user", "confidence": 1.0});
        assert_eq!(
            event(Type::Explicit, Source::Reaction, &data).changes(),
            [Change::Turn(TurnChange::ClearReaction)]
        );
    }

    #[test]
    fn decision_without_an_id_uses_its_event_id() {
        let data = json!({"decision_type": "sql_generation"});
        let decision = event(Type::Query, Source::ModelResponse, &data);
        let id = DecisionId::new("e1").unwrap();
        assert_eq!(
            decision.changes(),
            [Change::Decision(DecisionChange::Make { id, is_sql: true, executed: None })]
        );
    }
}
