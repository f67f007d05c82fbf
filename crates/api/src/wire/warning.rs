//! Warnings in responses.

use engine::Warning;
use serde::Serialize;
use utoipa::ToSchema;

/// Part of the request has no effect yet, or none at all.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct WarningBody {
    /// `unknown_decision`, `unknown_turn`, `unknown_session`, `other_conversation`,
    /// `unknown_key` or `overridden_field`.
    code: &'static str,
    /// The field or header of the request.
    field: &'static str,
    detail: String,
}

impl From<Warning> for WarningBody {
    fn from(warning: Warning) -> Self {
        Self { code: warning.code.as_word(), field: warning.field, detail: warning.detail }
    }
}

pub(crate) fn warning_bodies(warnings: Vec<Warning>) -> Vec<WarningBody> {
    warnings.into_iter().map(WarningBody::from).collect()
}
