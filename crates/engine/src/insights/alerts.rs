//! Compares figures with their targets and records an alert when one crosses its target.
//!
//! ```text
//! commit --> its project is marked dirty --> figures of the window against the targets
//!        --> alert raised or cleared, an event in the log --> webhook, until accepted
//! ```

use std::sync::Arc;
use std::time::Duration;

use crate::report::{Figure, Reading, Target};
use ingest::FindingPlace;
use model::{Finding, FoundAlert, Mac, Position, Project, Rule, Scope, Tenant, Window};
use serde_json::{Map, Value, json};
use store::{QualityQuery, ReactionTime, StoredAlert};

use crate::error::EngineError;
use crate::insights::Insights;
use crate::insights::targets::{Targets, check_webhook};
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;

/// Delay between a commit and the check of its project.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Rounds between checks of all projects: figures change as their window moves.
const FULL_CHECK_ROUNDS: u32 = 300;

impl Insights {
    /// Sets a tenant's targets.
    pub async fn set_targets(
        &self,
        tenant: &Tenant,
        settings: Map<String, Value>,
    ) -> Result<(), EngineError> {
        let mut targets = Targets::parse(&settings)?;
        check_webhook(&self.webhook, &targets)?;
        let scope = Scope { tenant: tenant.clone(), project: Scope::default().project };
        let now = self.core.clock.now();
        let rule = Rule::Targets { settings };
        let event = ingest::rule_event(&scope, None, rule, self.core.ids.event_id(now), now);
        let receipt =
            self.core.commit_one(self.core.build_write(event, Mac([0; 16]), None)).await?;
        targets.position = receipt.position;
        let moved = targets.webhook != self.targets.get(tenant).webhook;
        self.targets.set(tenant.clone(), targets);
        // New targets can be missed without a new event.
        let scopes = self.core.store.scopes().await?.into_iter();
        self.dirty_scopes.mark_dirty(scopes.filter(|scope| scope.tenant == *tenant).collect());
        if moved {
            // Alerts that the old address did not accept are sent to the new one.
            self.core.store.reschedule_deliveries(tenant, now).await?;
        }
        Ok(())
    }

    pub fn tenant_targets(&self, tenant: &Tenant) -> Targets {
        self.targets.get(tenant)
    }

    /// The secret that signs a tenant's webhook requests. It is derived from the store's key and
    /// not stored.
    pub fn webhook_secret(&self, tenant: &Tenant) -> String {
        format!("whsec_{}", self.core.seal.close(&format!("webhook {tenant}"), b""))
    }

    /// The newest alerts of a tenant, or of one of its projects.
    pub async fn alerts(
        &self,
        tenant: &Tenant,
        project: Option<&Project>,
        limit: usize,
    ) -> Result<Vec<StoredAlert>, EngineError> {
        Ok(self.core.store.alerts(tenant, project, limit).await?)
    }

    /// Figures that miss their target now, of one tenant or of all.
    pub async fn standing_alerts(
        &self,
        tenant: Option<&Tenant>,
    ) -> Result<Vec<(Scope, String)>, EngineError> {
        Ok(self.core.store.standing_alerts(tenant).await?)
    }

    /// Starts the target checks and the alert delivery. Call it once, before serving.
    pub fn spawn_alert_jobs(self: &Arc<Self>) {
        let insights = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| watch_targets(insights, stop));
        let insights = Arc::clone(self);
        self.core
            .tasks
            .spawn_task(|stop| crate::insights::alert_delivery::deliver_alerts(insights, stop));
    }

    /// Compares a project's figures with the targets and commits an alert event for each change.
    pub(crate) async fn check_targets(&self, scope: &Scope) -> Result<(), EngineError> {
        let targets = self.targets.get(&scope.tenant);
        let now = self.core.clock.now();
        let start = now.plus_secs(-i64::from(targets.window_hours) * 3600);
        let query = QualityQuery {
            tenant: scope.tenant.clone(),
            project: Some(scope.project.clone()),
            window: Window { start, end: now },
            model: None,
            prompt: None,
            users: None,
            by: ReactionTime::default(),
            bucket_hours: targets.window_hours,
            bucket_shift: 0,
        };
        let sums = crate::report::sum_buckets(&self.core.store.quality(query).await?);
        let known = self.core.store.newest_alerts(scope).await?;
        for figure in Figure::ALL_FIGURES {
            let found = figure.compute(&sums);
            let newest = known.iter().find(|(metric, ..)| metric == figure.as_word());
            let stands = newest.is_some_and(|(_, _, stands)| *stands);
            let Some(raised) =
                decide_transition(found, targets.own_target(*figure), targets.min_count, stands)
            else {
                continue;
            };
            let after = newest.map_or(Position(0), |(_, position, _)| *position);
            self.store_alert(scope, *figure, found, &targets, raised, after).await?;
        }
        Ok(())
    }

    async fn store_alert(
        &self,
        scope: &Scope,
        figure: Figure,
        found: Reading,
        targets: &Targets,
        raised: bool,
        after: Position,
    ) -> Result<(), EngineError> {
        let (min, max) = match targets.own_target(figure) {
            None => (None, None),
            Some(Target::Min(least)) => (Some(least), None),
            Some(Target::Max(most)) => (None, Some(most)),
        };
        let metric = figure.as_word();
        let alert = FoundAlert {
            metric: metric.to_owned(),
            raised,
            value: found.value(),
            denominator: found.denominator(),
            interval: found.interval(),
            min,
            max,
            window_hours: targets.window_hours,
        };
        // All nodes derive the same id from the same state, so that only one alert is stored.
        let word = if raised { "raised" } else { "cleared" };
        let (tenant, project) = (scope.tenant.as_str(), scope.project.as_str());
        let id =
            self.core.derive_event_id("alert", &json!([tenant, project, metric, word, after.0]))?;
        let (turn, conversation, user) = (None, None, None);
        let place = FindingPlace { scope: scope.clone(), turn, conversation, user };
        let now = self.core.clock.now();
        let event = ingest::finding_event(place, Finding::Alert(alert), id, now, now);
        match self.core.commit_one(self.core.build_write(event, None, None)).await {
            Ok(receipt) if !receipt.replayed => {
                tracing::info!(metric, raised, tenant = %scope.tenant, "a metric crossed its target");
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Returns `Some(true)` to raise an alert, `Some(false)` to clear it, `None` for no change. An
/// alert is raised when the whole interval misses the target. It is cleared when the value itself
/// meets the target, so that alerts do not flap.
fn decide_transition(
    found: Reading,
    target: Option<Target>,
    min_count: u64,
    stands: bool,
) -> Option<bool> {
    let enough = found.denominator() >= min_count;
    let missed = target
        .zip(found.interval())
        .is_some_and(|(target, interval)| enough && target.is_missed(interval));
    let fine = target.is_none()
        || !enough
        || target.zip(found.value()).is_none_or(|(target, value)| target.is_met(value));
    match stands {
        false if missed => Some(true),
        true if fine => Some(false),
        false | true => None,
    }
}

async fn watch_targets(insights: Arc<Insights>, mut stop: StopSignal) {
    let mut round = 0_u32;
    while insights.cluster.leadership.wait_until_leader(&mut stop).await {
        match check_dirty_scopes(&insights, round.is_multiple_of(FULL_CHECK_ROUNDS)).await {
            Ok(()) => round = round.wrapping_add(1),
            Err(error) => {
                log_retriable(error, "listing projects for the target check failed; retrying")
            }
        }
        tokio::select! {
            // An error means that the engine was dropped.
            _ = stop.wait_for(|stop| *stop) => {}
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
    }
}

async fn check_dirty_scopes(insights: &Insights, all: bool) -> Result<(), EngineError> {
    if all {
        insights.dirty_scopes.mark_dirty(insights.core.store.scopes().await?.into_iter().collect());
    }
    for scope in insights.dirty_scopes.take_all() {
        if let Err(error) = insights.check_targets(&scope).await {
            // The other scopes are checked regardless; this one is retried.
            log_retriable(error, "target check failed; retrying");
            insights.dirty_scopes.mark_dirty([scope].into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::report::Rate;

    use super::*;
    use crate::test_engine::{TestEngine, open_test_engine};
    use crate::{IncomingEvent, RawEvent, Trust};

    #[tokio::test]
    async fn reading_alerts_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, clock, .. } = open_test_engine(folder.path()).await;
        let scope = Scope::default();
        let settings = json!({"satisfaction": {"min": 0.85}, "min_count": 5});
        let settings = settings.as_object().cloned().unwrap();
        engine.insights.set_targets(&scope.tenant, settings).await.unwrap();
        for n in 0..9 {
            let raw = RawEvent {
                event_type: "explicit".into(),
                source: "user_rating".into(),
                category: "quality".into(),
                data: json!({"rating": "negative"}).as_object().cloned().unwrap(),
                ..RawEvent::default()
            };
            let incoming =
                IncomingEvent { raw, mac: Mac([n; 16]), key: None, trust: Trust::Backend };
            engine.feedback.record(&scope, incoming).await.unwrap();
        }
        clock.advance_secs(60);
        let head = engine.core.head();
        assert!(engine.insights.alerts(&scope.tenant, None, 9).await.unwrap().is_empty());
        assert_eq!(engine.core.head(), head);
        check_dirty_scopes(&engine.insights, false).await.unwrap();
        assert_eq!(engine.insights.alerts(&scope.tenant, None, 9).await.unwrap().len(), 1);
        let standing = engine.insights.standing_alerts(None).await.unwrap();
        assert_eq!(standing, [(scope, "satisfaction".to_owned())]);
    }

    #[test]
    fn alert_needs_the_whole_interval_and_clears_by_value() {
        let share = |part, all| Reading::Share(Rate::from_counts(part, all));
        let target = Some(Target::Min(0.85));
        let cases = [
            (share(1, 10), false, Some(true)),
            (share(1, 10), true, None),
            (share(8, 10), false, None),
            (share(8, 10), true, None),
            (share(9, 10), true, Some(false)),
            (share(0, 4), false, None),
            (share(0, 0), true, Some(false)),
        ];
        for (found, stands, expected) in cases {
            assert_eq!(decide_transition(found, target, 5, stands), expected, "{found:?} {stands}");
        }
        assert_eq!(decide_transition(share(1, 10), None, 5, true), Some(false), "no target");
    }
}
