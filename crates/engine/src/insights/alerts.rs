//! Tells when a figure is not where it should be, once, and again when it is.
//!
//! ```text
//! commit --> its project is noted --> figures of its last hours against the targets
//!        --> alert or all clear, an event in the log --> webhook, until it was taken
//! ```

use std::sync::Arc;
use std::time::Duration;

use ingest::FindingPlace;
use model::{Finding, FoundAlert, Mac, Position, Project, Rule, Scope, Tenant, Window};
use report::{Figure, Reading, Target};
use serde_json::{Map, Value, json};
use store::{QualityQuery, StoredAlert};

use crate::error::FlowError;
use crate::insights::Insights;
use crate::insights::targets::Targets;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;

/// How soon an alert follows what it is about.
const EVERY: Duration = Duration::from_secs(2);
/// Without anything new, figures still change as time goes by.
const ALL_EVERY: u32 = 300;

impl Insights {
    /// Sets where a tenant wants its figures to be, from now on.
    pub async fn set_targets(
        &self,
        tenant: &Tenant,
        settings: Map<String, Value>,
    ) -> Result<(), FlowError> {
        let mut targets = Targets::read(&settings)?;
        let scope = Scope { tenant: tenant.clone(), project: Scope::default().project };
        let now = self.core.clock.now();
        let rule = Rule::Targets { settings };
        let event = ingest::rule_event(&scope, None, &rule, self.core.ids.event_id(now), now);
        let receipt =
            self.core.commit_one(self.core.build_write(event, Mac([0; 16]), None)).await?;
        targets.position = receipt.position;
        let moved = targets.webhook != self.targets.of(tenant).webhook;
        self.targets.set(tenant.clone(), targets);
        // Figures may be on the wrong side of them without anything new in their project.
        let scopes = self.core.store.scopes().await?.into_iter();
        self.for_targets.mark_dirty(scopes.filter(|scope| scope.tenant == *tenant).collect());
        if moved {
            // What the old address did not take is for the new one.
            self.core.store.tell_anew(tenant, now).await?;
        }
        Ok(())
    }

    /// Where a tenant wants its figures to be.
    pub fn targets_of(&self, tenant: &Tenant) -> Targets {
        self.targets.of(tenant)
    }

    /// The secret that signs what a tenant's webhook is told. It follows from the store's key and is
    /// kept nowhere.
    pub fn webhook_secret(&self, tenant: &Tenant) -> String {
        format!("whsec_{}", self.core.seal.close(&format!("webhook {tenant}"), b""))
    }

    /// The newest alerts, of all projects of the tenant or of one, as they were found lately: whoever watches
    /// does so two seconds after anything happened.
    pub async fn alerts(
        &self,
        tenant: &Tenant,
        project: Option<&Project>,
        limit: usize,
    ) -> Result<Vec<StoredAlert>, FlowError> {
        Ok(self.core.store.alerts(tenant, project, limit).await?)
    }

    /// Figures that are on the wrong side now, of one tenant or of all.
    pub async fn standing_alerts(
        &self,
        tenant: Option<&Tenant>,
    ) -> Result<Vec<(Scope, String)>, FlowError> {
        Ok(self.core.store.standing_alerts(tenant).await?)
    }

    /// Starts looking, now and then again. Call it once, before serving.
    pub fn keep_watching(self: &Arc<Self>) {
        let engine = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| watch_on(engine, stop));
        let engine = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| crate::insights::alert_delivery::tell_on(engine, stop));
    }

    /// Compares a project's figures with its tenant's targets, and says in the log what changed.
    pub(crate) async fn check_targets(&self, scope: &Scope) -> Result<(), FlowError> {
        let targets = self.targets.of(&scope.tenant);
        let now = self.core.clock.now();
        let start = now.plus_secs(-i64::from(targets.window_hours) * 3600);
        let query = QualityQuery {
            tenant: scope.tenant.clone(),
            project: Some(scope.project.clone()),
            window: Window { start, end: now },
            model: None,
            prompt: None,
            users: None,
            bucket_hours: targets.window_hours,
            bucket_shift: 0,
        };
        let sums = report::total(&self.core.store.quality(query).await?);
        let known = self.core.store.newest_alerts(scope).await?;
        for figure in Figure::ALL {
            let found = figure.read(&sums);
            let newest = known.iter().find(|(metric, ..)| metric == figure.as_word());
            let stands = newest.is_some_and(|(_, _, stands)| *stands);
            let Some(raised) = turned(found, targets.set_for(*figure), targets.min_count, stands)
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
    ) -> Result<(), FlowError> {
        let (min, max) = match targets.set_for(figure) {
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
        // The same for everybody who looks at the same moment, so that only one of them is heard.
        let word = if raised { "raised" } else { "cleared" };
        let (tenant, project) = (scope.tenant.as_str(), scope.project.as_str());
        let id =
            self.core.derive_event_id("alert", &json!([tenant, project, metric, word, after.0]))?;
        let (turn, conversation, user) = (None, None, None);
        let place = FindingPlace { scope: scope.clone(), turn, conversation, user };
        let now = self.core.clock.now();
        let event = ingest::finding_event(place, &Finding::Alert(alert), id, now, now);
        match self.core.commit_one(self.core.build_write(event, None, None)).await {
            Ok(receipt) if !receipt.replayed => {
                tracing::info!(metric, raised, tenant = %scope.tenant, "a figure crossed its target");
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Whether an alert is raised (true), cleared (false), or nothing changes. It is raised when all of the
/// interval is on the wrong side, and cleared when the value itself is on the right one, so that it does not
/// come and go with every event.
fn turned(found: Reading, target: Option<Target>, min_count: u64, stands: bool) -> Option<bool> {
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

async fn watch_on(engine: Arc<Insights>, mut stop: StopSignal) {
    let mut round = 0_u32;
    while engine.cluster.leadership.wait_until_leader(&mut stop).await {
        match look(&engine, round.is_multiple_of(ALL_EVERY)).await {
            Ok(()) => round = round.wrapping_add(1),
            Err(error) => log_retriable(error, "projects could not be listed; trying again"),
        }
        tokio::select! {
            // An error means that the engine is gone.
            _ = stop.wait_for(|stop| *stop) => {}
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

async fn look(engine: &Insights, all: bool) -> Result<(), FlowError> {
    if all {
        engine.for_targets.mark_dirty(engine.core.store.scopes().await?.into_iter().collect());
    }
    for scope in engine.for_targets.take_all() {
        if let Err(error) = engine.check_targets(&scope).await {
            // The others are looked at all the same, and this one again.
            log_retriable(error, "figures could not be compared with their targets; trying again");
            engine.for_targets.mark_dirty([scope].into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use report::Rate;

    use super::*;
    use crate::test_engine::{TestEngine, open_test_engine};
    use crate::{Incoming, RawEvent, Trust};

    #[tokio::test]
    async fn whoever_reads_alerts_writes_nothing() {
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
            let incoming = Incoming { raw, mac: Mac([n; 16]), key: None, trust: Trust::Backend };
            engine.feedback.record(&scope, incoming).await.unwrap();
        }
        clock.advance_secs(60);
        let head = engine.core.head();
        assert!(engine.insights.alerts(&scope.tenant, None, 9).await.unwrap().is_empty());
        assert_eq!(engine.core.head(), head);
        look(&engine.insights, false).await.unwrap();
        assert_eq!(engine.insights.alerts(&scope.tenant, None, 9).await.unwrap().len(), 1);
        let standing = engine.insights.standing_alerts(None).await.unwrap();
        assert_eq!(standing, [(scope, "satisfaction".to_owned())]);
    }

    #[test]
    fn an_alert_comes_with_certainty_and_goes_when_the_value_is_right() {
        let share = |part, all| Reading::Share(Rate::of(part, all));
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
            assert_eq!(turned(found, target, 5, stands), expected, "{found:?} {stands}");
        }
        assert_eq!(turned(share(1, 10), None, 5, true), Some(false), "nobody wants it any more");
    }
}
