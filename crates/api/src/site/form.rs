//! Submitted forms, with protection against cross-site request forgery.

use axum::extract::{Form, FromRequest, FromRequestParts, Request};

use super::Site;
use super::page_response::PageError;
use super::visitor::Visitor;
use crate::body::READ_TIMEOUT;
use crate::error::Problem;
use crate::middleware::origin::is_same_origin;
use crate::params;

#[derive(Debug)]
pub(super) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Returns `None` for absent and empty fields.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        params::find_text(&self.0, name)
    }

    pub(super) fn require(&self, name: &'static str) -> Result<&str, Problem> {
        self.get(name)
            .ok_or_else(|| Problem::invalid(name, format!("{name} is missing, expected a value")))
    }

    /// Reads the form if it was submitted by a page of this server.
    pub(super) async fn from_request(request: Request, site: &Site) -> Result<Self, Problem> {
        if !is_same_origin(request.headers()) {
            return Err(Problem::forbidden("the form was submitted from another origin"));
        }
        let bad = || Problem::malformed("the form body is malformed; submit the form again");
        let reading = tokio::time::timeout(READ_TIMEOUT, Form::from_request(request, site));
        let Form(fields) = reading.await.map_err(|_| bad())?.map_err(|_| bad())?;
        Ok(Self(fields))
    }
}

/// A form with a valid token of the visitor's session.
#[derive(Debug)]
pub(super) struct SubmittedForm {
    pub(super) visitor: Visitor,
    pub(super) fields: FormFields,
}

impl FromRequest<Site> for SubmittedForm {
    type Rejection = PageError;

    async fn from_request(request: Request, site: &Site) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, site).await?;
        let fields = FormFields::from_request(Request::from_parts(parts, body), site).await?;
        let token = fields.get("token").unwrap_or("");
        if !site.engine.access.check_form_token(&visitor.csrf_subject, token) {
            let detail =
                "the form token is invalid; go back, reload the page and submit the form again";
            return Err(Problem::forbidden(detail).into());
        }
        Ok(Self { visitor, fields })
    }
}

impl SubmittedForm {
    pub(super) fn require_writer(self) -> Result<Self, PageError> {
        if self.visitor.may_write() {
            return Ok(self);
        }
        Err(Problem::forbidden("a key with the role read cannot change anything; log in with a key with the role admin").into())
    }

    pub(super) fn require_manager(self) -> Result<Self, PageError> {
        if self.visitor.may_manage() {
            return Ok(self);
        }
        Err(Problem::forbidden("this requires a key with the role admin").into())
    }
}
