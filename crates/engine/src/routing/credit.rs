//! Credit assignment: the choice that served a turn, and the turn's reward.

use ingest::FindingPlace;
use learn::{RewardRule, dequantize_features};
use model::{
    Body, Completion, DecisionId, Finding, GivenReward, Mac, RouterChoice, Scope, TurnId, UserId,
};

use super::choose::{encode_features, unix_hours};
use crate::answer_signals::AnswerSignals;
use crate::error::EngineError;
use crate::receipt::{Receipt, RequestKey};
use crate::routing::Routing;
use crate::routing::{DecisionToken, ProjectRouters};
use crate::warning::{Warning, WarningCode};

impl Routing {
    /// The finding that links a turn to the router's choice that served it.
    pub(crate) async fn find_serving_choice(
        &self,
        scope: &Scope,
        turn: &TurnId,
        completion: &Completion,
    ) -> Result<Option<Finding>, EngineError> {
        let Some(project) = self.states.find_project(scope) else { return Ok(None) };
        let Some(choice) = self.resolve_choice(&project, scope, turn, completion).await? else {
            return Ok(None);
        };
        // Another model gave the answer, so the arm gets no credit.
        if completion.model.as_ref().is_some_and(|model| *model != choice.arm) {
            return Ok(None);
        }
        let cost = completion.cost.or_else(|| {
            let tokens = |count: Option<u64>| count.map(|count| count as f64);
            let (into, out) = (tokens(completion.tokens_in), tokens(completion.tokens_out));
            into.or(out)?;
            project.read_routers(|routers| {
                let arms = routers.get(&choice.router)?.rule.arms();
                let arm = arms.iter().find(|arm| arm.id == choice.arm)?;
                arm.price_call(into.unwrap_or(0.0), out.unwrap_or(0.0))
            })
        });
        Ok(Some(Finding::Served { choice, cost }))
    }

    /// Resolves the choice by the decision token, else by the turn: from memory, else from the log.
    async fn resolve_choice(
        &self,
        project: &ProjectRouters,
        scope: &Scope,
        turn: &TurnId,
        completion: &Completion,
    ) -> Result<Option<RouterChoice>, EngineError> {
        if let Some(id) = &completion.decision_id {
            let token = DecisionId::new(id.as_str()).ok();
            let token = token.and_then(|id| DecisionToken::open(&self.core.seal, scope, &id));
            if let Some(token) = token {
                return Ok(project.read_routers(|routers| token.to_choice(routers)));
            }
        }
        let recent = project.recent_choices().find_choice(turn);
        if let Some(choice) = recent {
            return Ok(Some(choice));
        }
        let Some(stored) = self.core.load_turn(scope, turn.clone()).await? else { return Ok(None) };
        let choice = stored.events.iter().rev().find_map(|stored| {
            let Body::Finding(Finding::Choice(choice)) = &stored.event.body else { return None };
            Some((choice.clone(), stored.event.ts))
        });
        let question = stored.events.iter().find_map(|stored| stored.event.body.opening());
        Ok(choice.map(|(choice, ts)| {
            let contextual = project.read_routers(|routers| {
                routers.get(&choice.router).is_some_and(|it| it.rule.algorithm().is_contextual())
            });
            let codes = match (contextual, question) {
                (true, Some(opening)) => encode_features(&opening.text, unix_hours(ts)),
                (true | false, _) => Vec::new(),
            };
            let features =
                dequantize_features(&codes).into_iter().map(|value| value as f32).collect();
            RouterChoice { features, ..choice }
        }))
    }

    /// Warns about a decision id that is neither a router's choice nor a stored decision.
    pub(crate) async fn check_decision(
        &self,
        scope: &Scope,
        completion: &Completion,
        is_served: bool,
    ) -> Result<Option<Warning>, EngineError> {
        let id = completion.decision_id.as_deref().and_then(|id| DecisionId::new(id).ok());
        let Some(id) = id else { return Ok(None) };
        if DecisionToken::open(&self.core.seal, scope, &id).is_some()
            || self.core.store.decision(scope, &id).await?.is_some()
        {
            return Ok(None);
        }
        let credited = match is_served {
            true => "the choice that was made for this turn was credited",
            false => "no router was credited",
        };
        let detail = format!("decision_id was not issued by this server; {credited}");
        Ok(Some(Warning { code: WarningCode::UnknownDecision, field: "decision_id", detail }))
    }

    /// The turn's current reward, also for a turn that no router served.
    pub(crate) async fn compute_reward(
        &self,
        scope: &Scope,
        turn: &TurnId,
        signals: Option<&AnswerSignals>,
    ) -> Result<f64, EngineError> {
        let project = self.states.find_project(scope);
        if let Some(project) = project
            && let Some(record) = project.turn_record(&self.core.store, turn).await?
        {
            let reward = |rule: &RewardRule| record.evidence.reward(rule);
            let router = record.served.as_ref().map_or("", |served| &served.router);
            return Ok(project.read_routers(|routers| match routers.get(router) {
                Some(router) => reward(router.rule.reward()),
                None => reward(&RewardRule::default()),
            }));
        }
        let mut evidence = learn::TurnEvidence::default();
        if let Some(signals) = signals {
            let answered = learn::AnswerOutcome {
                failed: signals.failure.error_type.is_some(),
                seconds: signals.pace.map(|pace| pace.seconds),
            };
            evidence.record(1, &learn::TurnSignal::Answered(answered));
        }
        Ok(evidence.reward(&RewardRule::default()))
    }

    /// Records an explicit reward. The newest value of each component counts. A reward before its
    /// turn counts as soon as a router's choice serves the turn, and warns until then.
    pub async fn record_reward(
        &self,
        scope: &Scope,
        turn: TurnId,
        user: Option<UserId>,
        given: GivenReward,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<(Receipt, Vec<Warning>), EngineError> {
        let now = self.core.clock.now();
        let head = self.core.store.turn_head(scope, &turn).await?;
        let pending = head.as_ref().is_none_or(|head| head.derived);
        let place = FindingPlace {
            scope: scope.clone(),
            turn: Some(turn),
            conversation: head.as_ref().and_then(|head| head.conversation.clone()),
            user: user.or_else(|| head.filter(|head| !head.derived)?.user),
        };
        let finding = Finding::Reward(given);
        let event = ingest::finding_event(place, finding, self.core.ids.event_id(now), now, now);
        let receipt = self.core.commit_one(self.core.build_write(event, mac, key)).await?;
        let warnings = Vec::from_iter(pending.then(|| Warning::unknown_turn("turn_id")));
        self.core.count_warnings(&warnings);
        Ok((Receipt { pending, ..receipt }, warnings))
    }
}
