//! Computes the projection changes of an event. Pure, and used both when an event is stored and
//! when projections are rebuilt.

use model::{
    Body, Change, Completion, CorrectionType, Decision, DecisionId, EntitySignal, Event,
    ExperimentChange, Finding, FoundAlert, FoundRelevance, FoundSession, GivenReaction,
    Interaction, InteractionKind, LooseFact, Origin, RankBand, Rule, SQL_GENERATION, TurnFact,
    TurnHalf, TurnStatus, UnitInterval, Vector,
};

pub fn changes_of(event: &Event) -> Vec<Change> {
    let Ok(body) = Body::read(event.kind, &event.data) else {
        // Validated on arrival. If the rules become stricter, a stored event changes nothing.
        return Vec::new();
    };
    match body {
        Body::Turn(TurnHalf::Opened(opening)) => vec![Change::OpenTurn {
            track: opening.track_id,
            bundle: opening.bundle_id,
            user_type: opening.user_type,
            intent: opening.intent,
        }],
        Body::Turn(TurnHalf::Completed(done)) => answer_changes(&done),
        Body::Reaction(given) => reaction_changes(given),
        // A rating of a turn is stored as the user's reaction.
        Body::Rating(rating) if event.turn.is_some() => vec![Change::React {
            origin: Origin::User,
            reaction: rating.reaction(),
            confidence: UnitInterval::ONE,
            detected_in: None,
        }],
        Body::Rating(rating) => vec![Change::Count(LooseFact::Rated(rating.reaction()))],
        Body::Correction(_) if event.turn.is_some() => vec![Change::Note(TurnFact::Corrected)],
        Body::Correction(_) => vec![Change::Count(LooseFact::Corrected)],
        Body::Comment(_) if event.turn.is_some() => vec![Change::Note(TurnFact::GotFeedback)],
        Body::Interaction(done) => interaction_changes(&done, event.turn.is_some()),
        Body::Decision(decision) => decision_changes(event, decision),
        Body::Finding(Finding::Relevance(found)) => relevance_changes(found),
        // Any review counts as feedback from a person.
        Body::Finding(Finding::Review { status }) => {
            vec![Change::Review(status), Change::Note(TurnFact::GotFeedback)]
        }
        Body::Finding(Finding::Sentiment(found)) => match event.turn {
            Some(_) => vec![Change::Note(TurnFact::Commented(found.sentiment))],
            None => vec![Change::Count(LooseFact::Commented(found.sentiment))],
        },
        Body::Finding(finding) => finding_change(finding).into_iter().collect(),
        Body::Rule(Rule::Privacy { settings }) => vec![Change::SetPrivacy(settings)],
        Body::Rule(Rule::Targets { settings }) => vec![Change::SetTargets(settings)],
        Body::Rule(Rule::Profile { attributes }) => vec![Change::SetProfile(attributes)],
        Body::Rule(Rule::Calibration { .. }) => vec![Change::Calibrate(event.data.clone())],
        Body::Rule(Rule::Router { name, definition }) => {
            vec![Change::SetRouter { name, definition }]
        }
        Body::Rule(Rule::Experiment(rule)) => {
            vec![Change::Experiment(ExperimentChange::Rule(rule))]
        }
        Body::Settlement(settlement) => vec![Change::Settle {
            id: settlement.decision_id,
            executed: settlement.outcome.is_executed(),
        }],
        Body::Rule(Rule::Erasure { .. } | Rule::RouterReset { .. } | Rule::HistoryForgotten)
        | Body::Comment(_)
        | Body::Metric
        | Body::Other => Vec::new(),
    }
}

fn answer_changes(done: &Completion) -> Vec<Change> {
    let prompt = done.prompt.as_ref().map(|prompt| match &prompt.version {
        Some(version) => format!("{}@{version}", prompt.id),
        None => prompt.id.clone(),
    });
    let answered = TurnFact::Answered {
        model: done.model.clone(),
        prompt,
        strategy: done.strategy.as_ref().map(|strategy| strategy.name.clone()),
        failed: done.status == TurnStatus::Error,
        tokens: done.tokens_in.unwrap_or(0).saturating_add(done.tokens_out.unwrap_or(0)),
        // Negative and non-finite costs become 0.
        cost: (done.cost.unwrap_or(0.0) * 1e9).round() as u64,
    };
    let complete = Change::CompleteTurn {
        outcome: done.validation_outcome,
        quality: done.quality_score,
        has_strategy: done.strategy.is_some(),
    };
    vec![complete, Change::Note(answered)]
}

/// A refined question counts as a refinement. Other interactions count as feedback on the turn.
fn interaction_changes(done: &Interaction, has_turn: bool) -> Vec<Change> {
    let refines = done.kind == InteractionKind::QueryRefinement;
    match (refines, has_turn) {
        (true, true) => vec![Change::Note(TurnFact::Refined)],
        (true, false) => vec![Change::Count(LooseFact::Refined)],
        (false, true) if done.kind != InteractionKind::Abandonment => {
            vec![Change::Note(TurnFact::GotFeedback)]
        }
        (false, _) => Vec::new(),
    }
}

fn decision_changes(event: &Event, decision: Decision) -> Vec<Change> {
    let is_sql = decision.decision_type == SQL_GENERATION;
    let sql_executed = is_sql.then(|| decision.outcome.is_executed());
    let id = decision.decision_id.or_else(|| DecisionId::new(event.id.as_str()).ok());
    id.map(|id| Change::Decide { id, sql_executed }).into_iter().collect()
}

fn reaction_changes(given: GivenReaction) -> Vec<Change> {
    let GivenReaction { reaction, origin, confidence, detected_in, .. } = given;
    let Some(reaction) = reaction else { return vec![Change::ClearReaction] };
    // A machine of the application counts like our detectors, which report through findings.
    let judged = match (origin, &detected_in) {
        (Origin::Machine, None) => Some(Change::Judge {
            status: reaction.into(),
            confidence,
            raw_confidence: confidence,
            moved_on: false,
            corrects: false,
            detected_in: None,
        }),
        (Origin::Machine, Some(_)) | (Origin::User, _) => None,
    };
    let react = Change::React { origin, reaction, confidence, detected_in };
    std::iter::once(react).chain(judged).collect()
}

fn relevance_changes(found: FoundRelevance) -> Vec<Change> {
    let FoundRelevance { query_id, cluster, signals } = found;
    let weigh = |signal: EntitySignal| Change::Weigh {
        query: query_id.clone(),
        cluster,
        entity: signal.entity_id,
        band: RankBand::from_rank(signal.rank),
        signal: signal.signal,
    };
    signals.into_iter().map(weigh).collect()
}

fn finding_change(finding: Finding) -> Option<Change> {
    match finding {
        Finding::Verdict(found) => Some(Change::Judge {
            status: found.verdict.status,
            confidence: found.verdict.confidence,
            raw_confidence: found.raw_confidence,
            moved_on: found.moved_on,
            // Abandonment does not state a correction.
            corrects: matches!(
                found.verdict.correction_type,
                Some(CorrectionType::Explicit | CorrectionType::Rephrased)
            ),
            detected_in: Some(found.detected_in),
        }),
        Finding::Session(found) => {
            let FoundSession { last_at, abandoned, .. } = found;
            Some(Change::EndSession { last_at, abandoned })
        }
        Finding::Retry(_) => Some(Change::Note(TurnFact::Retried)),
        Finding::Answer(found) => Some(Change::Note(TurnFact::Shown {
            failed: found.error.error_type.is_some(),
            millis: found.latency.map(|pace| (pace.seconds * 1000.0).round() as u64),
        })),
        Finding::Vector { model, values } => {
            (!values.is_empty()).then(|| Change::SetVector(Vector::new(model.into(), values)))
        }
        Finding::Alert(FoundAlert { metric, raised, .. }) => Some(Change::Alert { metric, raised }),
        Finding::Exposure(exposure) => Some(Change::Experiment(ExperimentChange::Expose(exposure))),
        Finding::Returned(returned) => Some(Change::Return { query: returned.query_id }),
        Finding::Review { .. }
        | Finding::Relevance(_)
        | Finding::Sentiment(_)
        | Finding::Suggestion(_)
        | Finding::Choice(_)
        | Finding::Served { .. }
        | Finding::Reward(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use model::{Kind, Reaction, Scope, Source, TurnId, Type};
    use serde_json::{Value, json};

    use super::*;

    fn event(source: Source, data: &Value) -> Event {
        let kind = Kind { event_type: Type::Explicit, source };
        let turn = Some(TurnId::new("t1").unwrap());
        let data = data.as_object().unwrap().clone();
        Event { kind, turn, data, ..testkit::event(&Scope::default(), "e1") }
    }

    #[test]
    fn ratings_and_reactions_change_the_same() {
        let rating = event(Source::UserRating, &json!({"rating": 2}));
        let data = json!({"reaction": "not_ok", "origin": "user", "confidence": 1.0});
        let reaction = event(Source::Reaction, &data);
        let expected = Change::React {
            origin: Origin::User,
            reaction: Reaction::NotOk,
            confidence: UnitInterval::ONE,
            detected_in: None,
        };
        assert_eq!(changes_of(&rating), [expected]);
        assert_eq!(changes_of(&rating), changes_of(&reaction));
        let loose = Change::Count(LooseFact::Rated(Reaction::NotOk));
        assert_eq!(changes_of(&Event { turn: None, ..rating }), [loose]);
    }

    #[test]
    fn null_reaction_clears() {
        let data = json!({"reaction": null, "origin": "user", "confidence": 1.0});
        assert_eq!(changes_of(&event(Source::Reaction, &data)), [Change::ClearReaction]);
    }

    #[test]
    fn decision_without_an_id_uses_its_event_id() {
        let kind = Kind { event_type: Type::Query, source: Source::ModelResponse };
        let data = json!({"decision_type": "sql_generation"});
        let decision = Event { kind, ..event(Source::ModelResponse, &data) };
        let id = DecisionId::new("e1").unwrap();
        assert_eq!(changes_of(&decision), [Change::Decide { id, sql_executed: Some(false) }]);
    }
}
