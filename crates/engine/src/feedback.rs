//! Feedback in: events, reactions, decisions, comments, reviews, imports and Kafka messages.

pub(crate) mod comments;
pub(crate) mod consumer;
pub(crate) mod dead_letters;
pub(crate) mod decisions;
pub(crate) mod event_lookup;
pub(crate) mod import;
pub(crate) mod reactions;
pub(crate) mod record;
pub(crate) mod reviews;
pub(crate) mod targets;
pub(crate) mod topics;
pub(crate) mod turn_contexts;
pub(crate) mod turn_feedback;
pub(crate) mod turn_join;

use std::sync::Arc;

use crate::access::Access;
use crate::core::Core;
use crate::privacy::Privacy;

/// Accepts all feedback other than turns. Holds no state of its own.
pub struct Feedback {
    pub(crate) core: Arc<Core>,
    pub(crate) access: Arc<Access>,
    pub(crate) privacy: Arc<Privacy>,
}
