//! Feedback in: events, reactions, decisions, comments, reviews, imports and Kafka messages.

use std::sync::Arc;

use crate::access::Access;
use crate::core::Core;
use crate::privacy::Privacy;

/// Takes in everything that is not a turn. Holds no state of its own.
pub struct Feedback {
    pub(crate) core: Arc<Core>,
    pub(crate) access: Arc<Access>,
    pub(crate) privacy: Arc<Privacy>,
}
