//! Which tenant and project a request is about: by its key, by its headers, by its address.

use axum::http::HeaderMap;
use engine::StoredKey;
use model::{BadId, Project, Scope, Tenant};

use crate::error::Problem;

const TENANT_HEADER: &str = "x-uptake-tenant";
const PROJECT_HEADER: &str = "x-uptake-project";

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

    /// The project, if the key or a header names one.
    pub(crate) fn project_named(&self) -> Option<&Project> {
        self.project_given.then_some(&self.scope.project)
    }

    /// The scope for a body that may name its tenant too. Two names must agree.
    pub(crate) fn resolve_tenant(&self, tenant: Option<&str>) -> Result<Scope, Problem> {
        let Some(tenant) = tenant else { return Ok(self.scope.clone()) };
        let tenant = Tenant::new(tenant).map_err(|bad| invalid_name("tenant_id", bad))?;
        if self.tenant_given && tenant != self.scope.tenant {
            return Err(Problem::forbidden("tenant_id is not the tenant this request is for"));
        }
        Ok(Scope { tenant, project: self.scope.project.clone() })
    }
}

impl RequestScope {
    /// The scope for an address that names it. Names in headers must agree.
    pub(crate) fn resolve_path(&self, tenant: &str, project: &str) -> Result<Scope, Problem> {
        let scope = Scope {
            tenant: Tenant::new(tenant).map_err(|bad| invalid_name("tenant", bad))?,
            project: Project::new(project).map_err(|bad| invalid_name("project", bad))?,
        };
        let other_tenant = self.tenant_given && scope.tenant != self.scope.tenant;
        if other_tenant || self.project_given && scope.project != self.scope.project {
            return Err(Problem::forbidden("this address is not in the scope of this request"));
        }
        Ok(scope)
    }
}

impl RequestScope {
    /// What the headers say, within what the key is good for.
    pub(crate) fn from_headers(
        headers: &HeaderMap,
        key: Option<&StoredKey>,
    ) -> Result<Self, Problem> {
        let tenant = header_text(headers, TENANT_HEADER)?
            .map(|text| Tenant::new(text).map_err(|bad| invalid_name(TENANT_HEADER, bad)))
            .transpose()?;
        let project = header_text(headers, PROJECT_HEADER)?
            .map(|text| Project::new(text).map_err(|bad| invalid_name(PROJECT_HEADER, bad)))
            .transpose()?;
        let own_tenant = key.map(|key| key.tenant.clone());
        let own_project = key.and_then(|key| key.project.clone());
        let default = Scope::default();
        let tenant_given = tenant.is_some() || own_tenant.is_some();
        let project_given = project.is_some() || own_project.is_some();
        let scope = Scope {
            tenant: merge_names(own_tenant, tenant)?.unwrap_or(default.tenant),
            project: merge_names(own_project, project)?.unwrap_or(default.project),
        };
        Ok(Self { scope, tenant_given, project_given })
    }
}

/// A name that the key has cannot be changed by a header.
fn merge_names<T: PartialEq>(own: Option<T>, asked: Option<T>) -> Result<Option<T>, Problem> {
    match (own, asked) {
        (Some(own), Some(asked)) if own != asked => {
            Err(Problem::forbidden("this key is not good for the scope of this request"))
        }
        (own, asked) => Ok(own.or(asked)),
    }
}

fn header_text<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, Problem> {
    let read = |value: &'a axum::http::HeaderValue| value.to_str();
    headers.get(name).map(read).transpose().map_err(|_| invalid_name(name, BadId::Name))
}

fn invalid_name(field: &str, bad: BadId) -> Problem {
    Problem::invalid(field, format!("{field}: {bad}"))
}
