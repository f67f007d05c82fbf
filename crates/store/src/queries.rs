//! Queries of the store, one file per subject.

pub(crate) mod alerts;
pub(crate) mod api_keys;
pub(crate) mod conversation_list;
pub(crate) mod dead_letters;
pub(crate) mod decisions;
pub(crate) mod events;
pub(crate) mod exchanges;
pub(crate) mod experiments;
pub(crate) mod labelled_turns;
pub(crate) mod labels;
pub(crate) mod leases;
pub(crate) mod period;
pub(crate) mod quality;
pub(crate) mod reactions;
pub(crate) mod relevance;
pub(crate) mod router_state;
pub(crate) mod rules;
pub(crate) mod sessions;
pub(crate) mod similar_turns;
pub(crate) mod traces;
pub(crate) mod turn_contexts;
pub(crate) mod turn_log_copies;
pub(crate) mod turns;
pub(crate) mod user_turns;
pub(crate) mod users;
