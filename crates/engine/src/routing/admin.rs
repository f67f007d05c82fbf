//! Defines, shows and resets routers.

use learn::{
    Algorithm, ArmSummary, CandidateLead, FEATURE_COUNT, RouterDefinition, RouterRule, TurnRecord,
};
use model::{BadData, Mac, Position, Redacted, Rule, Scope, Timestamp};

use crate::core::build_redacted_write;
use crate::error::EngineError;
use crate::routing::ProjectRouters;
use crate::routing::Routing;

/// Turns in each half of a trend.
const TREND_TURNS: usize = 100;
const MAX_NAME_CHARS: usize = 100;

/// A router with its current state.
#[derive(Clone, Debug)]
pub struct RouterView {
    pub name: String,
    pub definition: RouterDefinition,
    /// The last event that it has learnt from.
    pub position: Position,
    pub arms: Vec<ArmSummary>,
    /// For a hybrid router: the lead of its contextual candidate.
    pub lead: Option<CandidateLead>,
    /// Cost of today's turns (UTC).
    pub spent_today: f64,
    /// Number of numeric faults.
    pub faults: u64,
    pub trend: RewardTrend,
}

/// Rewards of the latest turns and of as many turns before them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RewardTrend {
    /// Number of turns and their mean reward.
    pub recent: (usize, Option<f64>),
    pub before: (usize, Option<f64>),
}

impl Routing {
    /// Defines or redefines a router. Arms that remain keep their learnt state.
    pub async fn set_router(
        &self,
        scope: &Scope,
        name: &str,
        definition: RouterDefinition,
    ) -> Result<RouterView, EngineError> {
        check_name(name)?;
        if definition.features != FEATURE_COUNT {
            return Err(EngineError::InvalidSetting(BadData {
                field: "features".into(),
                got: definition.features.to_string(),
                expected: format!("{FEATURE_COUNT}, or none at all"),
            }));
        }
        let rule = RouterRule::new(definition).map_err(EngineError::InvalidSetting)?;
        let written = serde_json::json!(rule.definition());
        let definition = written.as_object().cloned().unwrap_or_default();
        self.store_router_rule(scope, Rule::Router { name: name.to_owned(), definition }).await?;
        self.load_router(scope, name).await
    }

    /// Resets a router's learnt state.
    pub async fn reset_router(&self, scope: &Scope, name: &str) -> Result<RouterView, EngineError> {
        self.load_router(scope, name).await?;
        self.store_router_rule(scope, Rule::RouterReset { name: name.to_owned() }).await?;
        self.load_router(scope, name).await
    }

    async fn store_router_rule(&self, scope: &Scope, rule: Rule) -> Result<(), EngineError> {
        let now = self.core.clock.now();
        let event = ingest::rule_event(scope, None, rule, self.core.ids.event_id(now), now);
        let event = Redacted::assert_no_user_text(event);
        let write = build_redacted_write(event, Some(Mac([0; 16])), None);
        self.core.commit_one(write).await.map(drop)
    }

    pub fn list_router_names(&self, scope: &Scope) -> Vec<String> {
        let names = |project: &ProjectRouters| {
            project
                .read_routers(|routers| routers.iter().map(|(name, _)| name.to_owned()).collect())
        };
        self.states.find_project(scope).map_or_else(Vec::new, |project| names(&project))
    }

    pub async fn load_router(&self, scope: &Scope, name: &str) -> Result<RouterView, EngineError> {
        self.store_choices().await;
        let project = self.states.find_project(scope).ok_or(EngineError::NotFound("router"))?;
        let position = project.position().await;
        let day = self.core.clock.now().as_micros().div_euclid(86_400_000_000);
        let mut view = project
            .read_routers(|routers| {
                let router = routers.get(name)?;
                let is_hybrid = router.rule.algorithm() == Algorithm::Hybrid;
                Some(RouterView {
                    name: name.to_owned(),
                    definition: router.rule.definition().clone(),
                    position,
                    arms: router.state.summarise_arms(&router.rule),
                    lead: is_hybrid.then(|| router.state.candidate_lead()),
                    spent_today: router.state.spent_on(day),
                    faults: router.state.faults(),
                    trend: RewardTrend::default(),
                })
            })
            .ok_or(EngineError::NotFound("router"))?;
        view.trend = self.compute_trend(&project, scope, name).await?;
        Ok(view)
    }

    async fn compute_trend(
        &self,
        project: &ProjectRouters,
        scope: &Scope,
        name: &str,
    ) -> Result<RewardTrend, EngineError> {
        project.save_checkpoint(&self.core.store).await?;
        // Turns of an arm before its last reset do not count.
        let lives: Vec<(String, Option<u32>)> = project.read_routers(|routers| {
            let router = routers.get(name);
            let arms = router.iter().flat_map(|router| router.rule.arms());
            let life = |id: &str| router.and_then(|router| router.state.arm_generation(id));
            arms.map(|arm| (arm.id.clone(), life(&arm.id))).collect()
        });
        let since = Timestamp::from_micros(0);
        let latest = self.core.store.router_turns(scope, name, since, 0, 2 * TREND_TURNS).await?;
        let reward = |turn: &store::RouterTurn| {
            let record: TurnRecord = serde_json::from_str(&turn.record).ok()?;
            let served = record.served.as_ref()?;
            let lives_on = lives.contains(&(served.arm.clone(), served.generation));
            record.observation().filter(|_| lives_on).map(|seen| seen.reward())
        };
        let rewards: Vec<f64> = latest.iter().filter_map(reward).collect();
        let mean = |rewards: &[f64]| {
            let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
            (rewards.len(), (!rewards.is_empty()).then_some(mean))
        };
        let (recent, before) = rewards.split_at(rewards.len().min(TREND_TURNS));
        Ok(RewardTrend { recent: mean(recent), before: mean(before) })
    }
}

fn check_name(name: &str) -> Result<(), EngineError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_path = name.chars().all(|c| c == '.');
    if !is_path && name.len() <= MAX_NAME_CHARS && name.chars().all(plain) {
        return Ok(());
    }
    Err(EngineError::InvalidSetting(BadData {
        field: "name".into(),
        got: format!("{:?}", name.chars().take(40).collect::<String>()),
        expected: format!("1 to {MAX_NAME_CHARS} letters, digits, '-', '_' or '.', not only dots"),
    }))
}
