//! A form that was sent: from a page of ours, by whom it was made for.

use axum::extract::{Form, FromRequest, Request};

use super::Site;
use super::page_error::PageError;
use super::visitor::Visitor;
use crate::body::READ_TIMEOUT;
use crate::error::Problem;
use crate::middleware::origin::is_same_origin;

/// The fields of a form.
#[derive(Debug)]
pub(super) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// A field, if it was sent and is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(one, value)| one == name && !value.is_empty());
        found.next().map(|(_, value)| value.as_str())
    }

    /// A field that must be there.
    pub(super) fn require(&self, name: &'static str) -> Result<&str, Problem> {
        self.get(name).ok_or_else(|| Problem::invalid(name, format!("{name}: expected a value")))
    }

    /// Reads a body, if it was sent by a page of ours.
    pub(super) async fn from_request(request: Request, site: &Site) -> Result<Self, Problem> {
        if !is_same_origin(request.headers()) {
            return Err(Problem::forbidden("this form was sent from another origin"));
        }
        let bad = || Problem::malformed("the form could not be read");
        let reading = tokio::time::timeout(READ_TIMEOUT, Form::from_request(request, site));
        let Form(fields) = reading.await.map_err(|_| bad())?.map_err(|_| bad())?;
        Ok(Self(fields))
    }
}

/// A form by somebody who may change something.
#[derive(Debug)]
pub(super) struct SubmittedForm {
    /// Who sent it.
    pub(super) visitor: Visitor,
    /// What it says.
    pub(super) fields: FormFields,
}

impl FromRequest<Site> for SubmittedForm {
    type Rejection = PageError;

    async fn from_request(request: Request, site: &Site) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let visitor = <Visitor as axum::extract::FromRequestParts<Site>>::from_request_parts(
            &mut parts, site,
        )
        .await?;
        let fields = FormFields::from_request(Request::from_parts(parts, body), site).await?;
        let token = fields.get("token").unwrap_or("");
        if !site.engine.is_form_token(visitor.csrf_subject(), token) {
            let detail =
                "this form is not of this visit; go back, load the page again and repeat it";
            return Err(Problem::forbidden(detail).into());
        }
        Ok(Self { visitor, fields })
    }
}

impl SubmittedForm {
    /// Refuses those who may only look.
    pub(super) fn require_writer(self) -> Result<Self, PageError> {
        if self.visitor.may_write() {
            return Ok(self);
        }
        Err(Problem::forbidden("a key with the role read cannot change anything").into())
    }
}

impl SubmittedForm {
    /// Refuses those who may not change the rules.
    pub(super) fn require_manager(self) -> Result<Self, PageError> {
        if self.visitor.may_manage() {
            return Ok(self);
        }
        Err(Problem::forbidden("this needs a key with the role admin").into())
    }
}
