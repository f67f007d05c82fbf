//! Topics: named parts of the log, by the kind of event.

use model::{Body, Event, Source, Type};
use store::KindFilter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Events,
    /// Ratings and users' reactions.
    Ratings,
    Corrections,
    Metrics,
}

impl Topic {
    pub const ALL_TOPICS: [(&str, Self); 4] = [
        ("feedback-events", Self::Events),
        ("feedback-ratings", Self::Ratings),
        ("feedback-corrections", Self::Corrections),
        ("feedback-metrics", Self::Metrics),
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL_TOPICS.iter().find(|(known, _)| *known == name).map(|(_, topic)| *topic)
    }

    /// Filters of the topic's events; empty means all.
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
    pub fn contains(self, event: &Event) -> bool {
        let kinds = self.kinds();
        kinds.is_empty() || kinds.iter().any(|kind| kind.holds(event.kind))
    }

    /// The key by which a partitioned log orders the topic's events.
    pub fn partition_key(self, event: &Event) -> String {
        let tenant = || event.scope.tenant.to_string();
        match self {
            Self::Events | Self::Corrections => tenant(),
            Self::Ratings => event.conversation.as_ref().map_or_else(tenant, ToString::to_string),
            Self::Metrics => {
                let endpoint =
                    if let Body::Metric(sent) = &event.body { sent.endpoint.clone() } else { None };
                endpoint.unwrap_or_else(|| "unknown".to_owned())
            }
        }
    }
}
