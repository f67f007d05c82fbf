//! How a visitor is known, and what they look at.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use engine::{DEMO_TENANT, PageAccess};
use model::{Position, Project, Scope, Tenant};
use web::{Choices, DEFAULT_DAYS, Filter, Reader};

use super::Visitor;
use crate::auth::{Caller, Identity, Permission, Reading, check_origin};
use crate::error::Problem;
use crate::site::trouble::Trouble;
use crate::site::{Site, session};

const MOST_DAYS: u32 = 3650;

/// Who it is, before it is known what they look at.
struct Known {
    proof: String,
    caller: Caller,
    pass: PageAccess,
}

impl FromRequestParts<Site> for Visitor {
    type Rejection = Trouble;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Trouble> {
        let position = site.engine.head();
        let known = known(parts, site)?;
        let role = known.caller.role();
        if !Reading::ROLES.contains(&role) {
            let detail = format!("a key with the role {} cannot see the page", role.as_word());
            return Err(Problem::forbidden(detail).into());
        }
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let bad = |_| Problem::invalid("query", "query: it could not be read");
        let Query(parameters) = query.map_err(bad)?;
        let visitor = place(site, known, parameters).await?;
        Ok(Self { address: address(&parts.headers), position, ..visitor })
    }
}

/// By a key in a header, by being on this machine without keys, or by the cookie.
fn known(parts: &Parts, site: &Site) -> Result<Known, Trouble> {
    let Some(identity) = parts.extensions.get::<Identity>() else {
        return Err(Problem::unauthorized("nobody looked at this request").into());
    };
    match &identity.caller {
        Ok(caller) => {
            let (proof, pass) = match caller {
                Caller::Open => ("open".to_owned(), PageAccess::Open),
                Caller::Owner => ("owner".to_owned(), PageAccess::Owner),
                Caller::Key(key) => {
                    check_origin(key, &parts.headers)?;
                    identity.count(key, site.engine.now())?;
                    (format!("key {}", key.id), PageAccess::Key(key.id.clone()))
                }
            };
            return Ok(Known { proof, caller: caller.clone(), pass });
        }
        // Without keys there is nothing to log in with.
        Err(problem) if site.engine.access.is_open() => return Err(problem.clone().into()),
        Err(_) => {}
    }
    let asked = parts.uri.path_and_query().map_or("/", |asked| asked.as_str());
    let next = if parts.method == Method::GET { asked } else { "/" };
    let door = || Trouble::Door(next.to_owned());
    let note = session::note(&parts.headers).ok_or_else(door)?;
    // Where its key may be used from was asked at the door: browsers do not say it of every page they get.
    let visit = site.engine.access.read_page_session(note).ok_or_else(door)?;
    identity.count(&visit.key, site.engine.now())?;
    let caller = Caller::Key(Arc::clone(&visit.key));
    Ok(Known { proof: note.to_owned(), caller, pass: PageAccess::Session(visit) })
}

/// Whose data is looked at. A key's own names cannot be changed by the address.
async fn place(
    site: &Site,
    known: Known,
    parameters: Vec<(String, String)>,
) -> Result<Visitor, Trouble> {
    let caller = &known.caller;
    let given = |name: &str| {
        let mut found = parameters.iter().filter(|(one, value)| one == name && !value.is_empty());
        found.next().map(|(_, value)| value.clone())
    };
    let scopes = site.engine.insights.scopes().await?;
    let (tenant, choice) = match caller {
        Caller::Key(key) => (agreed(&key.tenant, given("tenant"))?, None),
        Caller::Open | Caller::Owner => chosen_tenant(&scopes, given("tenant"))?,
    };
    let own_project = match caller {
        Caller::Key(key) => key.project.clone(),
        Caller::Open | Caller::Owner => None,
    };
    let asked =
        given("project").map(|name| Project::new(name).map_err(bad_name("project"))).transpose()?;
    let project = match (&own_project, asked) {
        (Some(own), Some(asked)) if *own != asked => return Err(elsewhere()),
        (Some(own), _) => Some(own.clone()),
        // Whoever chooses another tenant leaves the projects of the one before behind.
        (None, asked) => asked.filter(|asked| is_of(&scopes, &tenant, asked)),
    };
    let tenants = match caller {
        Caller::Key(_) => Choices::default(),
        Caller::Open | Caller::Owner => {
            let all: BTreeSet<&str> = scopes.iter().map(|scope| scope.tenant.as_str()).collect();
            Choices::of(all.into_iter().map(str::to_owned), Some(tenant.as_str()))
        }
    };
    let of_tenant = scopes.iter().filter(|scope| scope.tenant == tenant);
    let projects = of_tenant.map(|scope| &scope.project);
    let visible = projects.filter(|project| own_project.as_ref().is_none_or(|own| own == *project));
    let days = given("days").and_then(|days| days.parse().ok()).unwrap_or(DEFAULT_DAYS);
    let filter = Filter {
        tenant: choice,
        project: project.as_ref().filter(|_| own_project.is_none()).map(ToString::to_string),
        model: given("model"),
        prompt: given("prompt"),
        days: days.clamp(1, MOST_DAYS),
    };
    Ok(Visitor {
        role: caller.role(),
        reader: reader(caller),
        proof: known.proof,
        pass: known.pass,
        tenants,
        projects: visible.map(ToString::to_string).collect(),
        own_project: own_project.is_some(),
        is_demo: tenant.as_str() == DEMO_TENANT && site.engine.privacy.has_demo_data().await?,
        tenant,
        project,
        filter,
        parameters,
        address: String::new(),
        position: Position(0),
    })
}

/// Whether a tenant has a project; of one without any nothing is known.
fn is_of(scopes: &[Scope], tenant: &Tenant, project: &Project) -> bool {
    let mut own = scopes.iter().filter(|scope| scope.tenant == *tenant).peekable();
    own.peek().is_none() || own.any(|scope| scope.project == *project)
}

fn reader(caller: &Caller) -> Reader {
    match caller {
        Caller::Open => Reader::Open,
        Caller::Owner => Reader::Key { id: "of the data folder".to_owned(), role: "owner" },
        Caller::Key(key) => Reader::Key { id: key.id.clone(), role: key.role.as_word() },
    }
}

fn agreed(own: &Tenant, asked: Option<String>) -> Result<Tenant, Trouble> {
    match asked {
        Some(asked) if asked != own.as_str() => Err(elsewhere()),
        Some(_) | None => Ok(own.clone()),
    }
}

fn elsewhere() -> Trouble {
    Problem::forbidden("this key is not good for the scope of this request").into()
}

fn bad_name(field: &'static str) -> impl Fn(model::BadId) -> Problem {
    move |bad| Problem::invalid(field, format!("{field}: {bad}"))
}

/// The tenant, and its name where links must say it: the usual one goes without saying.
fn chosen_tenant(
    scopes: &[Scope],
    asked: Option<String>,
) -> Result<(Tenant, Option<String>), Trouble> {
    let usual = Scope::default().tenant;
    let has_usual = scopes.is_empty() || scopes.iter().any(|scope| scope.tenant == usual);
    let usual = if has_usual { usual } else { scopes[0].tenant.clone() };
    let Some(asked) = asked else { return Ok((usual, None)) };
    let tenant = Tenant::new(asked).map_err(bad_name("tenant"))?;
    let choice = (tenant != usual).then(|| tenant.to_string());
    Ok((tenant, choice))
}

/// Where this server is, as the visitor sees it.
fn address(headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = text("x-forwarded-proto").filter(|scheme| *scheme == "https").unwrap_or("http");
    format!("{scheme}://{}", text(header::HOST.as_str()).unwrap_or("127.0.0.1:8787"))
}
