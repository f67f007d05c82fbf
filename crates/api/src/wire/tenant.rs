//! Settings of tenants and users on the wire.

use engine::{ErasedCounts, Privacy, Redactor};
use model::Tenant;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// `PUT /api/v1/users/{user_id}`
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileRequest {
    #[schema(value_type = Object)]
    pub(crate) attributes: Map<String, Value>,
}

/// `PUT /api/v1/tenants/{tenant}/privacy`
#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference; capture reads the settings")]
pub(crate) struct PrivacyRequest {
    redact: Option<RedactRequest>,
    retention_days: Option<RetentionBody>,
}

/// What is removed; absent ones are on.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference; capture reads the settings")]
struct RedactRequest {
    email: Option<bool>,
    phone: Option<bool>,
    card: Option<bool>,
    iban: Option<bool>,
    ip: Option<bool>,
    secret: Option<bool>,
}

/// What is removed from a tenant's texts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PrivacyBody {
    tenant: String,
    redact: RedactBody,
    retention_days: RetentionBody,
}

/// How long things are kept; for ever when absent.
#[derive(Debug, Serialize, ToSchema)]
struct RetentionBody {
    events: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "six switches are six switches")]
struct RedactBody {
    email: bool,
    phone: bool,
    card: bool,
    iban: bool,
    ip: bool,
    secret: bool,
}

impl PrivacyBody {
    pub(crate) fn new(tenant: &Tenant, privacy: Privacy) -> Self {
        let Redactor { email, phone, card, iban, ip, secret } = privacy.redactor;
        let redact = RedactBody { email, phone, card, iban, ip, secret };
        let retention_days = RetentionBody { events: privacy.retention_days };
        Self { tenant: tenant.to_string(), redact, retention_days }
    }
}

/// What was erased.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErasedBody {
    erased: CountsOfUser,
}

#[derive(Debug, Serialize, ToSchema)]
struct CountsOfUser {
    events: u64,
    turns: u64,
    reactions: u64,
}

impl From<ErasedCounts> for ErasedBody {
    fn from(counts: ErasedCounts) -> Self {
        let ErasedCounts { events, turns, reactions } = counts;
        Self { erased: CountsOfUser { events, turns, reactions } }
    }
}
