//! Connection handling and middleware in front of the handlers.

pub(crate) mod auth;
pub(crate) mod batch_limiter;
pub(crate) mod client_address;
pub(crate) mod connections;
pub(crate) mod cors;
pub(crate) mod metrics;
pub(crate) mod origin;
mod rate_limit;
pub(crate) mod request_id;
pub(crate) mod response_warning;
pub(crate) mod trailing_newline;

pub(crate) use rate_limit::RateLimits;
