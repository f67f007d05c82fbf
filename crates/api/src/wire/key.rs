//! Bodies of API key requests and responses.

use engine::StoredKey;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
