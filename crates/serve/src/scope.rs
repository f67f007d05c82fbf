//! Which tenant and project a request is about. In open mode its headers say so.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use event::{BadId, Project, Scope, Tenant};

use crate::error::Problem;

const TENANT: &str = "x-uptake-tenant";
const PROJECT: &str = "x-uptake-project";

/// The scope of a request.
#[derive(Clone, Debug)]
pub(crate) struct RequestScope {
    scope: Scope,
    tenant_given: bool,
    project_given: bool,
}

impl RequestScope {
    /// The scope the request names.
    pub(crate) fn get(&self) -> &Scope {
        &self.scope
    }

    /// The scope for a body that may name its tenant too. Two names must agree.
    pub(crate) fn with_tenant(&self, tenant: Option<&str>) -> Result<Scope, Problem> {
        let Some(tenant) = tenant else { return Ok(self.scope.clone()) };
        let tenant = Tenant::new(tenant).map_err(|bad| bad_name("tenant_id", bad))?;
        if self.tenant_given && tenant != self.scope.tenant {
            return Err(Problem::forbidden("tenant_id is not the tenant this request is for"));
        }
        Ok(Scope { tenant, project: self.scope.project.clone() })
    }
}

impl RequestScope {
    /// The scope for an address that names it. Names in headers must agree.
    pub(crate) fn at(&self, tenant: &str, project: &str) -> Result<Scope, Problem> {
        let scope = Scope {
            tenant: Tenant::new(tenant).map_err(|bad| bad_name("tenant", bad))?,
            project: Project::new(project).map_err(|bad| bad_name("project", bad))?,
        };
        let other_tenant = self.tenant_given && scope.tenant != self.scope.tenant;
        if other_tenant || self.project_given && scope.project != self.scope.project {
            return Err(Problem::forbidden("this address is not in the scope of this request"));
        }
        Ok(scope)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestScope {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let mut scope = Scope::default();
        let tenant = text(&parts.headers, TENANT)?;
        if let Some(text) = tenant {
            scope.tenant = Tenant::new(text).map_err(|bad| bad_name(TENANT, bad))?;
        }
        let project = text(&parts.headers, PROJECT)?;
        if let Some(text) = project {
            scope.project = Project::new(text).map_err(|bad| bad_name(PROJECT, bad))?;
        }
        Ok(Self { scope, tenant_given: tenant.is_some(), project_given: project.is_some() })
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, Problem> {
    let read = |value: &'a axum::http::HeaderValue| value.to_str();
    headers.get(name).map(read).transpose().map_err(|_| bad_name(name, BadId::Name))
}

fn bad_name(field: &str, bad: BadId) -> Problem {
    Problem::invalid(field, format!("{field}: {bad}"))
}
