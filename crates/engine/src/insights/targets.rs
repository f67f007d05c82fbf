//! Where a tenant wants its figures to be, in memory as the store has it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use ingest::CaptureError;
use model::{Position, Tenant};
use outbound::Webhook;
use report::{Bounds, Figure, Target};
use serde_json::{Map, Value};
use store::{Store, StoreError, StoredTargets};

/// How far back is counted, unless the tenant says otherwise.
const WINDOW_HOURS: u32 = 24;
/// Fewer than these say nothing.
const MIN_COUNT: u64 = 5;

/// What a tenant wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    by_figure: BTreeMap<Figure, Option<Target>>,
    /// How far back is counted for alerts.
    pub window_hours: u32,
    /// Of how many a figure must be made to count.
    pub min_count: u64,
    /// Who is told.
    pub webhook: Option<String>,
    /// Where the log says so.
    pub position: Position,
}

impl Default for Targets {
    fn default() -> Self {
        Self {
            by_figure: BTreeMap::new(),
            window_hours: WINDOW_HOURS,
            min_count: MIN_COUNT,
            webhook: None,
            position: Position(0),
        }
    }
}

impl Targets {
    /// Where a figure should be: as the tenant said, else as the source system has it.
    pub fn of(&self, figure: Figure) -> Option<Target> {
        self.by_figure.get(&figure).copied().unwrap_or_else(|| figure.default_target())
    }

    /// Where the tenant itself said a figure should be: only that raises alerts.
    pub(crate) fn set_for(&self, figure: Figure) -> Option<Target> {
        self.by_figure.get(&figure).copied().flatten()
    }

    /// Reads what a tenant sent. A figure of `null` has no target.
    pub(crate) fn read(settings: &Map<String, Value>) -> Result<Self, CaptureError> {
        let mut targets = Self::default();
        for (name, value) in settings {
            targets.take(name, value)?;
        }
        Ok(targets)
    }

    /// As the store has them. What was taken in under other rules and does not fit today's is left out,
    /// and the rest holds.
    fn kept(stored: &StoredTargets) -> Self {
        let mut targets = Self { position: stored.position, ..Self::default() };
        for (name, value) in &stored.settings {
            if let Err(error) = targets.take(name, value) {
                let tenant = &stored.tenant;
                tracing::warn!(%tenant, %error, "a target that does not hold any more");
            }
        }
        targets
    }

    fn take(&mut self, name: &str, value: &Value) -> Result<(), CaptureError> {
        match name {
            "window_hours" => self.window_hours = whole(name, value, 1, 24 * 90)? as u32,
            "min_count" => self.min_count = whole(name, value, 1, 1_000_000)?,
            "webhook" => self.webhook = webhook(value)?,
            _ => {
                let Some(figure) = Figure::from_word(name) else {
                    let figures = Figure::WORDS.join(", ");
                    let expected = format!("{figures}, window_hours, min_count or webhook");
                    return Err(CaptureError::new(name, "an unknown field", expected));
                };
                self.by_figure.insert(figure, target(name, figure.bounds(), value)?);
            }
        }
        Ok(())
    }
}

fn whole(name: &str, value: &Value, least: u64, most: u64) -> Result<u64, CaptureError> {
    let bad =
        || CaptureError::new(name, value.to_string(), format!("a whole number, {least} to {most}"));
    value.as_u64().filter(|number| (least..=most).contains(number)).ok_or_else(bad)
}

fn webhook(value: &Value) -> Result<Option<String>, CaptureError> {
    if value.is_null() {
        return Ok(None);
    }
    let only_url = value.as_object().is_some_and(|fields| fields.len() == 1);
    let Some(url) = value["url"].as_str().filter(|_| only_url) else {
        let got = if value.is_object() { "other fields" } else { "something else" };
        return Err(CaptureError::new("webhook", got, "{\"url\": \"https://…\"} or null"));
    };
    // What it holds is not repeated: it may be a secret that somebody put there.
    let expected = "an http or https address with a host, of at most 500 characters, without a name or password";
    let unfit = |got: &str| CaptureError::new("webhook.url", got, expected);
    if url.len() > 500 {
        return Err(unfit("too long"));
    }
    Webhook::check_url(url).map_err(unfit)?;
    Ok(Some(url.to_owned()))
}

/// Takes what may be a secret out of the data of an event that says who is told. The log keeps it; whoever may read
/// the log need not be who may see that.
pub fn hide_webhook(data: &mut Map<String, Value>) {
    if data.get("rule").and_then(Value::as_str) != Some("targets") {
        return;
    }
    let url = data.get_mut("settings").and_then(|settings| settings.pointer_mut("/webhook/url"));
    if let Some(Value::String(url)) = url {
        *url = Webhook::redact_url(url);
    }
}

fn target(name: &str, bounds: Bounds, value: &Value) -> Result<Option<Target>, CaptureError> {
    if value.is_null() {
        return Ok(None);
    }
    let expected = match bounds {
        Bounds::Share => "{\"min\": share} or {\"max\": share} with a share from 0 to 1, or null",
        Bounds::Seconds => "{\"max\": seconds} with more than 0 seconds, or null",
        Bounds::None => "null: how sure this figure is cannot be told, so it raises no alerts",
    };
    let bad = || CaptureError::new(name, value.to_string(), expected);
    let fields = value.as_object().filter(|fields| fields.len() == 1).ok_or_else(bad)?;
    let number = |field: &str| fields.get(field).and_then(Value::as_f64);
    let share = |number: f64| (0.0..=1.0).contains(&number);
    match (bounds, number("min"), number("max")) {
        (Bounds::Share, Some(least), None) if share(least) => Ok(Some(Target::Min(least))),
        (Bounds::Share, None, Some(most)) if share(most) => Ok(Some(Target::Max(most))),
        (Bounds::Seconds, None, Some(most)) if most > 0.0 && most.is_finite() => {
            Ok(Some(Target::Max(most)))
        }
        (Bounds::Share | Bounds::Seconds | Bounds::None, _, _) => Err(bad()),
    }
}

/// What every tenant wants.
#[derive(Debug, Default)]
pub(crate) struct AllTargets(RwLock<HashMap<Tenant, Targets>>);

impl AllTargets {
    /// As the store has them.
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let all = Self::default();
        for stored in store.targets().await? {
            all.set(stored.tenant.clone(), Targets::kept(&stored));
        }
        Ok(all)
    }

    /// The tenant's; the usual ones for one that said nothing.
    pub(crate) fn of(&self, tenant: &Tenant) -> Targets {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(tenant).cloned().unwrap_or_default()
    }

    /// From now on, unless something later in the log is known already: of two who set them at the same
    /// time the one counts whom the store keeps.
    pub(crate) fn set(&self, tenant: Tenant, targets: Targets) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.get(&tenant).is_none_or(|kept| kept.position < targets.position) {
            known.insert(tenant, targets);
        }
    }

    /// From now on these, as the store has them, unless something later is known already.
    pub(crate) fn take_over(&self, others: Self) {
        let others = others.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        others.into_iter().for_each(|(tenant, targets)| self.set(tenant, targets));
    }

    /// A tenant that was removed wants nothing any more.
    pub(crate) fn forget(&self, tenant: &Tenant) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(tenant);
    }

    /// Tenants who want to be told, and where.
    pub(crate) fn with_webhook(&self) -> Vec<(Tenant, String)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let told = known.iter().filter_map(|(tenant, targets)| {
            targets.webhook.as_ref().map(|url| (tenant.clone(), url.clone()))
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(settings: &Value) -> Result<Targets, CaptureError> {
        Targets::read(settings.as_object().unwrap())
    }

    #[test]
    fn a_tenant_says_where_figures_should_be() {
        let targets = read(&json!({"satisfaction": {"min": 0.5}, "error_rate": {"max": 0.1},
            "latency_p95": {"max": 2.5}, "tokens_per_accepted": null, "abandonment_rate": null, "webhook": {"url": "https://a.example/x"}, "window_hours": 48}))
        .unwrap();
        assert_eq!(targets.of(Figure::Satisfaction), Some(Target::Min(0.5)));
        assert_eq!(targets.of(Figure::ErrorRate), Some(Target::Max(0.1)));
        assert_eq!(targets.of(Figure::AbandonmentRate), None);
        assert_eq!(targets.of(Figure::SqlAccuracy), Some(Target::Min(0.9)), "the usual one");
        assert_eq!(targets.set_for(Figure::SqlAccuracy), None, "which raises no alert");
        assert_eq!((targets.window_hours, targets.webhook.is_some()), (48, true));
    }

    #[test]
    fn what_fitted_once_does_not_take_the_rest_with_it() {
        let settings = json!({"cost_per_accepted": {"max": 1}, "error_rate": {"max": 0.1},
            "webhook": {"url": "http://a.example"}});
        let kept = Targets::kept(&StoredTargets {
            tenant: Tenant::new("acme").unwrap(),
            position: Position(3),
            settings: settings.as_object().unwrap().clone(),
        });
        assert_eq!(kept.set_for(Figure::ErrorRate), Some(Target::Max(0.1)));
        assert_eq!(kept.set_for(Figure::CostPerAccepted), None);
        assert!(kept.webhook.is_some());
    }

    #[test]
    fn of_two_at_the_same_time_the_later_in_the_log_counts() {
        let (all, tenant) = (AllTargets::default(), Tenant::new("acme").unwrap());
        let at = |position, min_count| {
            let targets = Targets { min_count, position: Position(position), ..Targets::default() };
            all.set(tenant.clone(), targets);
            all.of(&tenant).min_count
        };
        assert_eq!((at(7, 70), at(9, 90)), (70, 90));
        assert_eq!(at(8, 80), 90, "it was committed before, and heard of after");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for bad in [
            json!({"satisfation": {"min": 0.5}}),
            json!({"satisfaction": 0.5}),
            json!({"satisfaction": {"min": 0.5, "max": 0.6}}),
            json!({"window_hours": 0}),
            json!({"satisfaction": {"min": 1.1}}),
            json!({"satisfaction": {"max": -0.1}}),
            json!({"error_rate": {"max": 5}}),
            json!({"latency_p95": {"max": 0}}),
            json!({"latency_p95": {"min": 2}}),
            json!({"tokens_per_accepted": {"max": 2000}}),
            json!({"cost_per_accepted": {"max": 0.1}}),
            json!({"webhook": {"url": "ftp://x"}}),
            json!({"webhook": {"url": "https://"}}),
            json!({"webhook": {"url": "https://ann:hunter2@hooks.example/"}}),
            json!({"webhook": {"url": format!("https://x/{}", "y".repeat(500))}}),
            json!({"webhook": "https://x"}),
        ] {
            let error = read(&bad).unwrap_err().to_string();
            let field = bad.as_object().unwrap().keys().next().unwrap();
            assert!(error.contains(field.as_str()), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
