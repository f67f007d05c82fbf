//! Privacy settings, user attributes and API keys.

use engine::{ErasedCounts, PrivacySettings, Redactor, StoredKey};
use model::Tenant;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Body of `PUT /api/v1/users/{user_id}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileRequest {
    #[schema(value_type = Object)]
    pub(crate) attributes: Map<String, Value>,
}

/// Body of `PUT /api/v1/tenants/{tenant}/privacy`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `ingest` parses the settings")]
pub(crate) struct PrivacyRequest {
    redact: Option<RedactRequest>,
    retention_days: Option<RetentionBody>,
}

/// Kinds of personal data to redact. Absent kinds are redacted, except `name_address`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `ingest` parses the settings")]
struct RedactRequest {
    email: Option<bool>,
    phone: Option<bool>,
    card: Option<bool>,
    iban: Option<bool>,
    ip: Option<bool>,
    secret: Option<bool>,
    national_id: Option<bool>,
    /// Names and postal addresses; off by default.
    name_address: Option<bool>,
}

/// Privacy settings of a tenant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PrivacyBody {
    tenant: String,
    redact: RedactBody,
    retention_days: RetentionBody,
}

/// Retention in days; unlimited when absent.
#[derive(Debug, Serialize, ToSchema)]
struct RetentionBody {
    events: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each field is an independent setting")]
struct RedactBody {
    email: bool,
    phone: bool,
    card: bool,
    iban: bool,
    ip: bool,
    secret: bool,
    national_id: bool,
    name_address: bool,
}

impl PrivacyBody {
    pub(crate) fn new(tenant: &Tenant, privacy: PrivacySettings) -> Self {
        let Redactor { email, phone, card, iban, ip, secret, national_id, name_address } =
            privacy.redactor;
        let redact = RedactBody { email, phone, card, iban, ip, secret, national_id, name_address };
        let retention_days = RetentionBody { events: privacy.retention_days };
        Self { tenant: tenant.to_string(), redact, retention_days }
    }
}

/// Counts of erased data.
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

/// Body of `POST /api/v1/keys`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRequest {
    pub(crate) tenant: String,
    pub(crate) project: Option<String>,
    pub(crate) role: String,
    pub(crate) rate: Option<u32>,
    pub(crate) origin: Option<String>,
}

/// A key without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyBody {
    id: String,
    tenant: String,
    project: Option<String>,
    role: &'static str,
    rate: Option<u32>,
    origin: Option<String>,
    created_at: String,
    revoked_at: Option<String>,
}

impl From<&StoredKey> for KeyBody {
    fn from(key: &StoredKey) -> Self {
        Self {
            id: key.id.clone(),
            tenant: key.tenant.to_string(),
            project: key.project.as_ref().map(|name| name.to_string()),
            role: key.role.as_word(),
            rate: key.rate,
            origin: key.origin.clone(),
            created_at: key.created_at.to_string(),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
        }
    }
}

/// A new key with its secret, which is shown only once.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NewKeyBody {
    pub(crate) key: String,
    #[serde(flatten)]
    pub(crate) record: KeyBody,
}

/// All keys that the caller may manage.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeysBody {
    pub(crate) keys: Vec<KeyBody>,
}

/// Response to a revocation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RevokedBody {
    pub(crate) id: String,
    pub(crate) revoked: bool,
}
