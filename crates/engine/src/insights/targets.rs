//! Target values of figures per tenant, in memory. The store is authoritative.

use std::collections::{BTreeMap, HashMap};

use crate::report::{Bounds, Figure, Target};
use ingest::CaptureError;
use model::{Body, Position, Rule, Tenant};
use outbound::Webhook;
use parking_lot::RwLock;
use serde_json::{Map, Value};
use store::{Store, StoreError, StoredTargets};

/// Default window of a figure.
const WINDOW_HOURS: u32 = 24;
/// Default minimum count for an alert.
const MIN_COUNT: u64 = 5;

/// Target values and alert settings of one tenant.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    by_figure: BTreeMap<Figure, Option<Target>>,
    /// Window of the figures that raise alerts.
    pub window_hours: u32,
    /// Minimum denominator of a figure that raises alerts.
    pub min_count: u64,
    /// The URL that receives alerts.
    pub webhook: Option<String>,
    /// Log position of the event that set them.
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
    /// The tenant's target for a figure, otherwise the default.
    pub fn target_for(&self, figure: Figure) -> Option<Target> {
        self.by_figure.get(&figure).copied().unwrap_or_else(|| figure.default_target())
    }

    /// The target set by the tenant. Defaults raise no alerts.
    pub(crate) fn own_target(&self, figure: Figure) -> Option<Target> {
        self.by_figure.get(&figure).copied().flatten()
    }

    /// Parses a tenant's settings. `null` removes a target.
    pub(crate) fn parse(settings: &Map<String, Value>) -> Result<Self, CaptureError> {
        let mut targets = Self::default();
        for (name, value) in settings {
            targets.set_field(name, value)?;
        }
        Ok(targets)
    }

    /// Parses stored settings. Entries that no longer validate are logged and skipped.
    fn from_stored(stored: &StoredTargets) -> Self {
        let mut targets = Self { position: stored.position, ..Self::default() };
        for (name, value) in &stored.settings {
            if let Err(error) = targets.set_field(name, value) {
                let tenant = &stored.tenant;
                tracing::warn!(%tenant, %error, "stored target is no longer valid; ignored");
            }
        }
        targets
    }

    fn set_field(&mut self, name: &str, value: &Value) -> Result<(), CaptureError> {
        match name {
            "window_hours" => {
                self.window_hours = parse_whole_number(name, value, 1, 24 * 90)? as u32
            }
            "min_count" => self.min_count = parse_whole_number(name, value, 1, 1_000_000)?,
            "webhook" => self.webhook = parse_webhook(value)?,
            _ => {
                let Some(figure) = Figure::from_word(name) else {
                    let figures = Figure::WORDS.join(", ");
                    let expected = format!("{figures}, window_hours, min_count or webhook");
                    return Err(CaptureError::new(name, "an unknown field", expected));
                };
                self.by_figure.insert(figure, parse_target(name, figure.bounds(), value)?);
            }
        }
        Ok(())
    }
}

fn parse_whole_number(
    name: &str,
    value: &Value,
    least: u64,
    most: u64,
) -> Result<u64, CaptureError> {
    let bad =
        || CaptureError::new(name, value.to_string(), format!("a whole number, {least} to {most}"));
    value.as_u64().filter(|number| (least..=most).contains(number)).ok_or_else(bad)
}

fn parse_webhook(value: &Value) -> Result<Option<String>, CaptureError> {
    if value.is_null() {
        return Ok(None);
    }
    let only_url = value.as_object().is_some_and(|fields| fields.len() == 1);
    let Some(url) = value["url"].as_str().filter(|_| only_url) else {
        let got = if value.is_object() { "other fields" } else { "another type" };
        return Err(CaptureError::new("webhook", got, "{\"url\": \"https://…\"} or null"));
    };
    // The URL is not repeated in the error, because it may contain a secret.
    let expected = "an http or https URL with a host, of at most 500 characters, without user name or password";
    let unfit = |got: &str| CaptureError::new("webhook.url", got, expected);
    if url.len() > 500 {
        return Err(unfit("too long"));
    }
    Webhook::check_url(url).map_err(unfit)?;
    Ok(Some(url.to_owned()))
}

/// Checks that the webhook has an address to which the server may post.
pub(crate) fn check_webhook(webhook: &Webhook, targets: &Targets) -> Result<(), CaptureError> {
    let Some(url) = &targets.webhook else { return Ok(()) };
    let expected =
        "a public address, unless the server's setting alerts.allow_private_webhooks is true";
    let unfit = |got: &str| CaptureError::new("webhook.url", got, expected);
    webhook.check_target(url).map_err(unfit)
}

/// Masks the webhook URL in a targets event. It may contain a secret that readers of the log must
/// not see.
pub fn redact_webhook(body: &mut Body) {
    let Body::Rule(Rule::Targets { settings }) = body else { return };
    let url = settings.get_mut("webhook").and_then(|webhook| webhook.get_mut("url"));
    if let Some(Value::String(url)) = url {
        *url = Webhook::redact_url(url);
    }
}

fn parse_target(name: &str, bounds: Bounds, value: &Value) -> Result<Option<Target>, CaptureError> {
    if value.is_null() {
        return Ok(None);
    }
    let expected = match bounds {
        Bounds::Share => "{\"min\": share} or {\"max\": share} with a share from 0 to 1, or null",
        Bounds::Seconds => "{\"max\": seconds} with more than 0 seconds, or null",
        Bounds::None => "null: this figure has no confidence interval, so it raises no alerts",
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

/// The targets of every tenant.
#[derive(Debug, Default)]
pub(crate) struct TenantTargets(RwLock<HashMap<Tenant, Targets>>);

impl TenantTargets {
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let all = Self::default();
        for stored in store.targets().await? {
            all.set(stored.tenant.clone(), Targets::from_stored(&stored));
        }
        Ok(all)
    }

    /// The tenant's targets or the defaults.
    pub(crate) fn get(&self, tenant: &Tenant) -> Targets {
        let known = self.0.read();
        known.get(tenant).cloned().unwrap_or_default()
    }

    /// Replaces the targets unless newer ones are known. The log's order decides between
    /// concurrent changes.
    pub(crate) fn set(&self, tenant: Tenant, targets: Targets) {
        let mut known = self.0.write();
        if known.get(&tenant).is_none_or(|kept| kept.position < targets.position) {
            known.insert(tenant, targets);
        }
    }

    /// Adds targets read from the store, keeping newer ones.
    pub(crate) fn merge(&self, others: Self) {
        let others = others.0.into_inner();
        others.into_iter().for_each(|(tenant, targets)| self.set(tenant, targets));
    }

    /// Removes the targets of a removed tenant.
    pub(crate) fn remove(&self, tenant: &Tenant) {
        self.0.write().remove(tenant);
    }

    /// Tenants with a webhook, and its URL.
    pub(crate) fn list_webhooks(&self) -> Vec<(Tenant, String)> {
        let known = self.0.read();
        let webhooks = known.iter().filter_map(|(tenant, targets)| {
            targets.webhook.as_ref().map(|url| (tenant.clone(), url.clone()))
        });
        webhooks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(settings: &Value) -> Result<Targets, CaptureError> {
        Targets::parse(settings.as_object().unwrap())
    }

    #[test]
    fn tenant_targets_are_parsed_with_defaults() {
        let targets = read(&json!({"satisfaction": {"min": 0.5}, "error_rate": {"max": 0.1},
            "latency_p95": {"max": 2.5}, "tokens_per_accepted": null, "abandonment_rate": null, "webhook": {"url": "https://a.example/x"}, "window_hours": 48}))
        .unwrap();
        assert_eq!(targets.target_for(Figure::Satisfaction), Some(Target::Min(0.5)));
        assert_eq!(targets.target_for(Figure::ErrorRate), Some(Target::Max(0.1)));
        assert_eq!(targets.target_for(Figure::AbandonmentRate), None);
        assert_eq!(targets.target_for(Figure::SqlAccuracy), Some(Target::Min(0.9)), "default");
        assert_eq!(targets.own_target(Figure::SqlAccuracy), None, "defaults raise no alert");
        assert_eq!((targets.window_hours, targets.webhook.is_some()), (48, true));
    }

    #[test]
    fn an_invalid_stored_target_does_not_discard_the_others() {
        let settings = json!({"cost_per_accepted": {"max": 1}, "error_rate": {"max": 0.1},
            "webhook": {"url": "http://a.example"}});
        let kept = Targets::from_stored(&StoredTargets {
            tenant: Tenant::new("acme").unwrap(),
            position: Position(3),
            settings: settings.as_object().unwrap().clone(),
        });
        assert_eq!(kept.own_target(Figure::ErrorRate), Some(Target::Max(0.1)));
        assert_eq!(kept.own_target(Figure::CostPerAccepted), None);
        assert!(kept.webhook.is_some());
    }

    #[test]
    fn the_later_of_two_target_changes_in_the_log_wins() {
        let (all, tenant) = (TenantTargets::default(), Tenant::new("acme").unwrap());
        let at = |position, min_count| {
            let targets = Targets { min_count, position: Position(position), ..Targets::default() };
            all.set(tenant.clone(), targets);
            all.get(&tenant).min_count
        };
        assert_eq!((at(7, 70), at(9, 90)), (70, 90));
        assert_eq!(at(8, 80), 90, "committed earlier, loaded later");
    }

    #[test]
    fn invalid_target_errors_name_the_field() {
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
