//! Resolves the tenant and project of a request from its key, headers and path.

use axum::http::HeaderMap;
use engine::StoredKey;
use model::{BadId, Project, Scope, Tenant};

use crate::error::Problem;
use crate::params;

const TENANT_HEADER: &str = "x-uptake-tenant";
const PROJECT_HEADER: &str = "x-uptake-project";

#[derive(Clone, Debug)]
pub(crate) struct RequestScope {
    scope: Scope,
    tenant_given: bool,
    project_given: bool,
}

impl RequestScope {
    pub(crate) fn get(&self) -> &Scope {
        &self.scope
    }

    /// `None` when neither the key nor a header names a project.
    pub(crate) fn explicit_project(&self) -> Option<&Project> {
        self.project_given.then_some(&self.scope.project)
    }

    /// Scope for a body that may name a tenant, which must agree with the key and headers.
    pub(crate) fn resolve_tenant(&self, tenant: Option<&str>) -> Result<Scope, Problem> {
        let Some(tenant) = tenant else { return Ok(self.scope.clone()) };
        let tenant = params::parse_id("tenant_id", tenant.to_owned(), Tenant::new)?;
        if self.tenant_given && tenant != self.scope.tenant {
            return Err(Problem::forbidden(format!(
                "tenant_id is {tenant}, expected {}, the tenant of the key or header",
                self.scope.tenant
            )));
        }
        Ok(Scope { tenant, project: self.scope.project.clone() })
    }

    /// Scope for a path that names it, which must agree with the key and headers.
    pub(crate) fn resolve_path(&self, tenant: &str, project: &str) -> Result<Scope, Problem> {
        let scope = Scope {
            tenant: params::parse_id("tenant", tenant.to_owned(), Tenant::new)?,
            project: params::parse_id("project", project.to_owned(), Project::new)?,
        };
        let other_tenant = self.tenant_given && scope.tenant != self.scope.tenant;
        if other_tenant || self.project_given && scope.project != self.scope.project {
            return Err(Problem::forbidden(format!(
                "the path names {tenant}/{project}, which is outside the scope of the key or headers"
            )));
        }
        Ok(scope)
    }

    /// Reads the scope headers. A header cannot widen the scope of the key.
    pub(crate) fn from_headers(
        headers: &HeaderMap,
        key: Option<&StoredKey>,
    ) -> Result<Self, Problem> {
        let tenant = read_name(headers, TENANT_HEADER, Tenant::new)?;
        let project = read_name(headers, PROJECT_HEADER, Project::new)?;
        let key_tenant = key.map(|key| key.tenant.clone());
        let key_project = key.and_then(|key| key.project.clone());
        let default = Scope::default();
        let tenant_given = tenant.is_some() || key_tenant.is_some();
        let project_given = project.is_some() || key_project.is_some();
        let scope = Scope {
            tenant: merge_names(key_tenant, tenant)?.unwrap_or(default.tenant),
            project: merge_names(key_project, project)?.unwrap_or(default.project),
        };
        Ok(Self { scope, tenant_given, project_given })
    }
}

/// The name of the key and the name of the header must agree.
fn merge_names<T: PartialEq>(
    of_key: Option<T>,
    of_header: Option<T>,
) -> Result<Option<T>, Problem> {
    match (of_key, of_header) {
        (Some(of_key), Some(of_header)) if of_key != of_header => Err(Problem::forbidden(
            "the X-Uptake-Tenant or X-Uptake-Project header names a scope outside the key's",
        )),
        (of_key, of_header) => Ok(of_key.or(of_header)),
    }
}

fn read_name<T>(
    headers: &HeaderMap,
    name: &str,
    new: impl Fn(String) -> Result<T, BadId>,
) -> Result<Option<T>, Problem> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let bad = |_| Problem::invalid(name, format!("{name}: {}", BadId::Name));
    params::parse_id(name, value.to_str().map_err(bad)?.to_owned(), new).map(Some)
}
