//! A form that was sent: from a page of ours, by whom it was made for.

use axum::extract::{Form, FromRequest, Request};

use super::Site;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::body::READ_TIMEOUT;
use crate::error::Problem;
use crate::origin::is_from_here;

/// The fields of a form.
#[derive(Debug)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// A field, if it was sent and is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(one, value)| one == name && !value.is_empty());
        found.next().map(|(_, value)| value.as_str())
    }

    /// A field that must be there.
    pub(super) fn need(&self, name: &'static str) -> Result<&str, Problem> {
        self.get(name).ok_or_else(|| Problem::invalid(name, format!("{name}: expected a value")))
    }

    /// Reads a body, if it was sent by a page of ours.
    pub(super) async fn read(request: Request, site: &Site) -> Result<Self, Problem> {
        if !is_from_here(request.headers()) {
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
pub(super) struct Posted {
    /// Who sent it.
    pub(super) visitor: Visitor,
    /// What it says.
    pub(super) fields: Fields,
}

impl FromRequest<Site> for Posted {
    type Rejection = Trouble;

    async fn from_request(request: Request, site: &Site) -> Result<Self, Trouble> {
        let (mut parts, body) = request.into_parts();
        let visitor = <Visitor as axum::extract::FromRequestParts<Site>>::from_request_parts(
            &mut parts, site,
        )
        .await?;
        let fields = Fields::read(Request::from_parts(parts, body), site).await?;
        let token = fields.get("token").unwrap_or("");
        if !site.engine.access.check_form_token(visitor.proof(), token) {
            let detail =
                "this form is not of this visit; go back, load the page again and repeat it";
            return Err(Problem::forbidden(detail).into());
        }
        Ok(Self { visitor, fields })
    }
}

impl Posted {
    /// Refuses those who may only look.
    pub(super) fn by_a_writer(self) -> Result<Self, Trouble> {
        if self.visitor.may_write() {
            return Ok(self);
        }
        Err(Problem::forbidden("a key with the role read cannot change anything").into())
    }
}

impl Posted {
    /// Refuses those who may not change the rules.
    pub(super) fn by_a_manager(self) -> Result<Self, Trouble> {
        if self.visitor.may_manage() {
            return Ok(self);
        }
        Err(Problem::forbidden("this needs a key with the role admin").into())
    }
}
