//! Where a tenant wants its figures to be, in memory as the store has it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use capture::CaptureError;
use event::{Position, Tenant};
use report::{Figure, Target};
use serde_json::{Map, Value};
use store::{Store, StoreError};

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
    /// Since which position in the log.
    pub since: Position,
}

impl Default for Targets {
    fn default() -> Self {
        Self {
            by_figure: BTreeMap::new(),
            window_hours: WINDOW_HOURS,
            min_count: MIN_COUNT,
            webhook: None,
            since: Position(0),
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
            match name.as_str() {
                "window_hours" => targets.window_hours = whole(name, value, 1, 24 * 90)? as u32,
                "min_count" => targets.min_count = whole(name, value, 1, 1_000_000)?,
                "webhook" => targets.webhook = webhook(value)?,
                _ => {
                    let Some(figure) = Figure::from_word(name) else {
                        let expected = format!(
                            "{}, window_hours, min_count or webhook",
                            Figure::WORDS.join(", ")
                        );
                        return Err(CaptureError::new(name, "an unknown field", expected));
                    };
                    targets.by_figure.insert(figure, target(name, value)?);
                }
            }
        }
        Ok(targets)
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
    let fits = |url: &&str| {
        let known = url.starts_with("http://") || url.starts_with("https://");
        known && url.len() <= 500 && !url.contains(|c: char| c.is_control() || c.is_whitespace())
    };
    let fields = value.as_object();
    let only_url = fields.is_some_and(|fields| fields.len() == 1);
    match value["url"].as_str().filter(fits).filter(|_| only_url) {
        Some(url) => Ok(Some(url.to_owned())),
        None => {
            let expected = "{\"url\": …} with an http or https address, or null";
            Err(CaptureError::new("webhook", value.to_string(), expected))
        }
    }
}

fn target(name: &str, value: &Value) -> Result<Option<Target>, CaptureError> {
    if value.is_null() {
        return Ok(None);
    }
    let bad = || {
        CaptureError::new(name, value.to_string(), "{\"min\": number}, {\"max\": number} or null")
    };
    let fields = value.as_object().filter(|fields| fields.len() == 1).ok_or_else(bad)?;
    let number = |field: &str| fields.get(field).and_then(Value::as_f64);
    match (number("min"), number("max")) {
        (Some(least), None) => Ok(Some(Target::Min(least))),
        (None, Some(most)) => Ok(Some(Target::Max(most))),
        _ => Err(bad()),
    }
}

/// What every tenant wants.
#[derive(Debug, Default)]
pub(crate) struct AllTargets(RwLock<HashMap<Tenant, Targets>>);

impl AllTargets {
    /// As the store has them.
    pub(crate) async fn load(store: &dyn Store) -> Result<Self, StoreError> {
        let all = Self::default();
        for stored in store.targets().await? {
            match Targets::read(&stored.settings) {
                Ok(targets) => {
                    all.set(stored.tenant, Targets { since: stored.position, ..targets })
                }
                Err(error) => {
                    let tenant = stored.tenant;
                    tracing::warn!(%tenant, %error, "unreadable targets; the usual ones hold");
                }
            }
        }
        Ok(all)
    }

    /// The tenant's; the usual ones for one that said nothing.
    pub(crate) fn of(&self, tenant: &Tenant) -> Targets {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(tenant).cloned().unwrap_or_default()
    }

    /// From now on.
    pub(crate) fn set(&self, tenant: Tenant, targets: Targets) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(tenant, targets);
    }

    /// Tenants who want to be told.
    pub(crate) fn with_webhook(&self) -> Vec<(Tenant, Targets)> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let told = known.iter().filter(|(_, targets)| targets.webhook.is_some());
        told.map(|(tenant, targets)| (tenant.clone(), targets.clone())).collect()
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
            "abandonment_rate": null, "webhook": {"url": "https://a.example/x"}, "window_hours": 48}))
        .unwrap();
        assert_eq!(targets.of(Figure::Satisfaction), Some(Target::Min(0.5)));
        assert_eq!(targets.of(Figure::ErrorRate), Some(Target::Max(0.1)));
        assert_eq!(targets.of(Figure::AbandonmentRate), None);
        assert_eq!(targets.of(Figure::SqlAccuracy), Some(Target::Min(0.9)), "the usual one");
        assert_eq!(targets.set_for(Figure::SqlAccuracy), None, "which raises no alert");
        assert_eq!((targets.window_hours, targets.webhook.is_some()), (48, true));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for bad in [
            json!({"satisfation": {"min": 0.5}}),
            json!({"satisfaction": 0.5}),
            json!({"satisfaction": {"min": 0.5, "max": 0.6}}),
            json!({"window_hours": 0}),
            json!({"webhook": {"url": "ftp://x"}}),
            json!({"webhook": "https://x"}),
        ] {
            let error = read(&bad).unwrap_err().to_string();
            let field = bad.as_object().unwrap().keys().next().unwrap();
            assert!(error.contains(field.as_str()), "{error}");
        }
    }
}
