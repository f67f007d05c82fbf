//! Topics: named parts of the log, by the kind of event.

use model::{Event, Source, Type};
use store::KindFilter;

/// A part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Every event.
    Events,
    /// Ratings and users' reactions.
    Ratings,
    /// Corrections.
    Corrections,
    /// Metric and performance events.
    Metrics,
}

impl Topic {
    /// All of them by name.
    pub const ALL: [(&str, Self); 4] = [
        ("feedback-events", Self::Events),
        ("feedback-ratings", Self::Ratings),
        ("feedback-corrections", Self::Corrections),
        ("feedback-metrics", Self::Metrics),
    ];

    /// The topic with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, topic)| *topic)
    }

    /// Which events belong to it.
    pub fn kinds(self) -> Vec<KindFilter> {
        let of = |types: &[Type], source| KindFilter { types: types.to_vec(), source };
        match self {
            Self::Events => Vec::new(),
            Self::Ratings => vec![
                of(&[], Some(Source::UserRating)),
                of(&[Type::Explicit], Some(Source::Reaction)),
            ],
            Self::Corrections => vec![of(&[], Some(Source::UserCorrection))],
            Self::Metrics => vec![of(&[Type::Metric, Type::Performance], None)],
        }
    }
}

impl Topic {
    /// Whether an event belongs to it.
    pub fn holds(self, event: &Event) -> bool {
        let kinds = self.kinds();
        kinds.is_empty() || kinds.iter().any(|kind| kind.holds(event.kind))
    }

    /// What its events are kept in order by, where that is not by the whole log.
    pub fn key(self, event: &Event) -> String {
        let tenant = || event.scope.tenant.to_string();
        match self {
            Self::Events | Self::Corrections => tenant(),
            Self::Ratings => event.conversation.as_ref().map_or_else(tenant, ToString::to_string),
            Self::Metrics => {
                let endpoint = event.data.get("endpoint").and_then(serde_json::Value::as_str);
                endpoint.unwrap_or("unknown").to_owned()
            }
        }
    }
}
