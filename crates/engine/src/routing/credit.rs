//! The credit of a turn: the choice that served it, and what it is worth.

use learn::{RewardRule, dequantize_features};
use model::{
    Body, Completion, DecisionId, Finding, GivenReward, Mac, Need, RouterChoice, Scope, TurnHalf,
    TurnId, UserId,
};
use store::StoredEvent;

use super::choose::{hours_of, seen_in};
use crate::answer_signals::Signals;
use crate::error::EngineError;
use crate::receipt::{Receipt, RequestKey};
use crate::routing::Routing;
use crate::routing::{Project, Ticket};

impl Routing {
    /// The finding that a turn was served by a router's choice, if it was.
    pub(crate) async fn served_by(
        &self,
        scope: &Scope,
        turn: &TurnId,
        completion: &Completion,
    ) -> Result<Option<Finding>, EngineError> {
        let Some(project) = self.states.of(scope) else { return Ok(None) };
        let Some(choice) = self.choice_for(&project, scope, turn, completion).await? else {
            return Ok(None);
        };
        // Another model answered in the end: its answer says nothing about the arm.
        if completion.model.as_ref().is_some_and(|model| *model != choice.arm) {
            return Ok(None);
        }
        let cost = completion.cost.or_else(|| {
            let tokens = |count: Option<u64>| count.map(|count| count as f64);
            let (into, out) = (tokens(completion.tokens_in), tokens(completion.tokens_out));
            into.or(out)?;
            project.with(|routers| {
                let arms = routers.get(&choice.router)?.rule.arms();
                let arm = arms.iter().find(|arm| arm.id == choice.arm)?;
                arm.price_call(into.unwrap_or(0.0), out.unwrap_or(0.0))
            })
        });
        Ok(Some(Finding::Served { choice, cost }))
    }

    /// By the sealed id, else by the turn: as it is remembered, else as it is in the log.
    async fn choice_for(
        &self,
        project: &Project,
        scope: &Scope,
        turn: &TurnId,
        completion: &Completion,
    ) -> Result<Option<RouterChoice>, EngineError> {
        if let Some(id) = &completion.decision_id {
            let ticket = DecisionId::new(id.as_str()).ok();
            let ticket = ticket.and_then(|id| Ticket::open(&self.core.seal, scope, &id));
            if let Some(ticket) = ticket {
                return Ok(project.with(|routers| ticket.choice(routers)));
            }
        }
        if let Some(choice) = project.choice_of(turn) {
            return Ok(Some(choice));
        }
        let Some(stored) = self.core.turn(scope, turn.clone()).await? else { return Ok(None) };
        let read = |stored: &StoredEvent| Body::read(stored.event.kind, &stored.event.data);
        let choice = stored.events.iter().rev().find_map(|stored| match read(stored) {
            Ok(Body::Finding(Finding::Choice(choice))) => Some((choice, stored.event.ts)),
            Ok(_) | Err(_) => None,
        });
        let asked = stored.events.iter().find_map(|stored| match read(stored) {
            Ok(Body::Turn(TurnHalf::Opened(opening))) => Some(opening.text),
            Ok(_) | Err(_) => None,
        });
        Ok(choice.map(|(choice, ts)| {
            let contextual = project.with(|routers| {
                routers.get(&choice.router).is_some_and(|it| it.rule.algorithm().is_contextual())
            });
            let codes = match (contextual, asked) {
                (true, Some(text)) => seen_in(&text, hours_of(ts)),
                (true | false, _) => Vec::new(),
            };
            let features =
                dequantize_features(&codes).into_iter().map(|value| value as f32).collect();
            RouterChoice { features, ..choice }
        }))
    }

    /// What a turn is worth by now, also when no router served it.
    pub(crate) async fn reward_of(
        &self,
        scope: &Scope,
        turn: &TurnId,
        signals: Option<&Signals>,
    ) -> Result<f64, EngineError> {
        let project = self.states.of(scope);
        if let Some(project) = project
            && let Some(record) = project.record(&*self.core.store, turn).await?
        {
            let shown = |rule: &RewardRule| record.evidence.reward(rule);
            let router = record.served.as_ref().map_or("", |served| &served.router);
            return Ok(project.with(|routers| match routers.get(router) {
                Some(router) => shown(router.rule.reward()),
                None => shown(&RewardRule::default()),
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

    /// Takes in what somebody says an answer is worth. The newest word on each thing counts.
    pub async fn reward(
        &self,
        scope: &Scope,
        turn: TurnId,
        user: Option<UserId>,
        given: GivenReward,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<Receipt, EngineError> {
        let now = self.core.clock.now();
        let place = self.core.finding_place(scope, turn, user).await?;
        let finding = Finding::Reward(given);
        let event = ingest::finding_event(place, &finding, self.core.mint.event_id(now), now, now);
        let mut write = self.core.write_of(event, mac, key);
        write.needs.push(Need::Turn(None));
        self.core.commit_one(write).await
    }
}
