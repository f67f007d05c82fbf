//! Extracts the visitor from a request: authentication and selected data.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use engine::{DEMO_TENANT, PageAccess, set_reader};
use model::{Position, Project, Scope, Tenant};
use web::{DEFAULT_DAYS, Filter, SelectOptions, Viewer};

use super::Visitor;
use crate::error::Problem;
use crate::middleware::auth::{Caller, Identity, Permission, ReadAccess, check_origin};
use crate::params;
use crate::site::page_response::PageError;
use crate::site::{Site, session_cookie};

const MAX_DAYS: u32 = 3650;

struct IdentifiedVisitor {
    csrf_subject: String,
    caller: Caller,
    pass: PageAccess,
}

impl FromRequestParts<Site> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, PageError> {
        let position = site.engine.head();
        let identified = identify_visitor(parts, site)?;
        let role = identified.caller.role();
        if !ReadAccess::ROLES.contains(&role) {
            let detail = format!(
                "a key with the role {} cannot open the web interface, expected read or admin",
                role.as_word()
            );
            return Err(Problem::forbidden(detail).into());
        }
        let parameters = params::read_pairs(Query::try_from_uri(&parts.uri))?;
        let visitor = resolve_visitor(site, identified, parameters).await?;
        Ok(Self { address: public_url(&parts.headers), position, ..visitor })
    }
}

/// Authenticates by a key in a header, as local caller of an open server, or by the session cookie.
fn identify_visitor(parts: &Parts, site: &Site) -> Result<IdentifiedVisitor, PageError> {
    let Some(identity) = parts.extensions.get::<Identity>() else {
        return Err(Problem::unauthorized("the request was not authenticated").into());
    };
    match &identity.caller {
        Ok(caller) => {
            let (csrf_subject, pass) = match caller {
                Caller::Open => ("open".to_owned(), PageAccess::Open),
                Caller::Owner => ("owner".to_owned(), PageAccess::Owner),
                Caller::Key(key) => {
                    check_origin(key, &parts.headers)?;
                    identity.check_rate_limit(key, site.engine.now())?;
                    (format!("key {}", key.id), PageAccess::Key(key.id.clone()))
                }
            };
            return Ok(IdentifiedVisitor { csrf_subject, caller: caller.clone(), pass });
        }
        // An open server has no keys to log in with.
        Err(problem) if site.engine.access.is_open() => return Err(problem.clone().into()),
        Err(_) => {}
    }
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let next = if parts.method == Method::GET { target } else { "/" };
    let login = || PageError::LoginRequired(next.to_owned());
    let token = session_cookie::read_session(&parts.headers).ok_or_else(login)?;
    // The origin of the key was checked at login: browsers do not send it with every page request.
    let visit = site.engine.access.read_page_session(token).ok_or_else(login)?;
    identity.check_rate_limit(&visit.key, site.engine.now())?;
    let caller = Caller::Key(Arc::clone(&visit.key));
    Ok(IdentifiedVisitor {
        csrf_subject: token.to_owned(),
        caller,
        pass: PageAccess::Session(visit),
    })
}

/// Resolves the selected tenant and project. The query cannot leave the scope of the key.
async fn resolve_visitor(
    site: &Site,
    identified: IdentifiedVisitor,
    parameters: Vec<(String, String)>,
) -> Result<Visitor, PageError> {
    let caller = &identified.caller;
    let given = |name: &str| params::find_text(&parameters, name).map(str::to_owned);
    let scopes = site.engine.insights.scopes().await?;
    let (tenant, choice) = match caller {
        Caller::Key(key) => (check_tenant(&key.tenant, given("tenant"))?, None),
        Caller::Open | Caller::Owner => choose_tenant(&scopes, given("tenant"))?,
    };
    set_reader(&tenant);
    let key_project = caller.key().and_then(|key| key.project.clone());
    let asked = params::parse_optional_id("project", given("project"), Project::new)?;
    let project = match (&key_project, asked) {
        (Some(own), Some(asked)) if *own != asked => return Err(scope_mismatch()),
        (Some(own), _) => Some(own.clone()),
        // After a change of tenant, the project of the previous one is dropped.
        (None, asked) => asked.filter(|asked| has_project(&scopes, &tenant, asked)),
    };
    let tenants = match caller {
        Caller::Key(_) => SelectOptions::default(),
        Caller::Open | Caller::Owner => {
            let all: BTreeSet<&str> = scopes.iter().map(|scope| scope.tenant.as_str()).collect();
            SelectOptions::new(all.into_iter().map(str::to_owned), Some(tenant.as_str()))
        }
    };
    let of_tenant = scopes.iter().filter(|scope| scope.tenant == tenant);
    let projects = of_tenant.map(|scope| &scope.project);
    let visible = projects.filter(|project| key_project.as_ref().is_none_or(|own| own == *project));
    let days = given("days").and_then(|days| days.parse().ok()).unwrap_or(DEFAULT_DAYS);
    let filter = Filter {
        tenant: choice,
        project: project.as_ref().filter(|_| key_project.is_none()).map(ToString::to_string),
        model: given("model"),
        prompt: given("prompt"),
        days: days.clamp(1, MAX_DAYS),
    };
    Ok(Visitor {
        role: caller.role(),
        reader: build_reader(caller),
        csrf_subject: identified.csrf_subject,
        pass: identified.pass,
        tenants,
        projects: visible.map(ToString::to_string).collect(),
        is_project_key: key_project.is_some(),
        is_demo: tenant.as_str() == DEMO_TENANT && site.engine.privacy.has_demo_data().await?,
        tenant,
        project,
        filter,
        parameters,
        address: String::new(),
        position: Position(0),
    })
}

/// True also for tenants without any known project.
fn has_project(scopes: &[Scope], tenant: &Tenant, project: &Project) -> bool {
    let mut own = scopes.iter().filter(|scope| scope.tenant == *tenant).peekable();
    own.peek().is_none() || own.any(|scope| scope.project == *project)
}

fn build_reader(caller: &Caller) -> Viewer {
    match caller {
        Caller::Open => Viewer::Open,
        Caller::Owner => Viewer::Key { id: "of the data folder".to_owned(), role: "owner" },
        Caller::Key(key) => Viewer::Key { id: key.id.clone(), role: key.role.as_word() },
    }
}

fn check_tenant(own: &Tenant, asked: Option<String>) -> Result<Tenant, PageError> {
    match asked {
        Some(asked) if asked != own.as_str() => Err(scope_mismatch()),
        Some(_) | None => Ok(own.clone()),
    }
}

fn scope_mismatch() -> PageError {
    Problem::forbidden("the tenant or project in the query is outside the scope of the key").into()
}

/// Returns the tenant, and its name when links must contain it. The default tenant is omitted.
fn choose_tenant(
    scopes: &[Scope],
    asked: Option<String>,
) -> Result<(Tenant, Option<String>), PageError> {
    let default = Scope::default().tenant;
    let has_default = scopes.is_empty() || scopes.iter().any(|scope| scope.tenant == default);
    let default = if has_default { default } else { scopes[0].tenant.clone() };
    let Some(asked) = asked else { return Ok((default, None)) };
    let tenant = params::parse_id("tenant", asked, Tenant::new)?;
    let choice = (tenant != default).then(|| tenant.to_string());
    Ok((tenant, choice))
}

/// Base URL of this server as the visitor sees it.
fn public_url(headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = text("x-forwarded-proto").filter(|scheme| *scheme == "https").unwrap_or("http");
    format!("{scheme}://{}", text(header::HOST.as_str()).unwrap_or("127.0.0.1:8787"))
}
