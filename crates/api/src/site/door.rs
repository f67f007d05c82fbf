//! Coming in, leaving, and the list of keys.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use web::{Help, Login};

use super::Site;
use super::answer::html;
use super::posted::{Fields, Posted};
use super::session;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::address::{self, Parameters, Read};
use crate::auth::{Identity, Permission, Reading, check_origin};
use crate::error::Problem;

/// What the form at the door is proven by: everybody may have it, and the origin is checked.
const DOOR: &str = "door";
/// Attempts per second that one client address may make.
const RATE: u32 = 5;

/// `GET /login`
pub(super) async fn show(
    State(site): State<Site>,
    parameters: Parameters,
) -> Result<Response, Trouble> {
    if site.engine.access.is_open() {
        return Ok(to("/"));
    }
    let fields = address::as_json(parameters, &[("next", Read::Text)])?;
    Ok(html(&form(&site, fields["next"].as_str(), None)))
}

/// `POST /login`
pub(super) async fn enter(State(site): State<Site>, request: Request) -> Result<Response, Trouble> {
    if let Some(identity) = request.extensions().get::<Identity>() {
        identity.doorman.limits.take("page login", identity.client, RATE, site.engine.now())?;
    }
    let headers = request.headers().clone();
    let fields = Fields::read(request, &site).await?;
    if !site.engine.access.check_form_token(DOOR, fields.get("token").unwrap_or("")) {
        let detail = "this form is not of this server; load the page again and repeat it";
        return Err(Problem::forbidden(detail).into());
    }
    let next = fields.get("next");
    let key = fields.get("key").and_then(|text| site.engine.access.authenticate(text.trim()));
    let refused = |why: &str| {
        let page = html(&form(&site, next, Some(why.to_owned())));
        Ok((StatusCode::UNAUTHORIZED, page).into_response())
    };
    let Some(key) = key else { return refused("This API key is not valid.") };
    if !Reading::ROLES.contains(&key.role) {
        let role = key.role.as_word();
        return refused(&format!(
            "A key with the role {role} cannot see the page; read or admin can."
        ));
    }
    if check_origin(&key, &headers).is_err() {
        return refused("This API key belongs to a page of another origin and opens no page here.");
    }
    tracing::info!(key = key.id, "somebody came in");
    let cookie = session::keep(&site.engine.access.start_page_session(&key), &headers);
    Ok(([(header::SET_COOKIE, cookie)], to(own(next))).into_response())
}

/// `POST /logout`
pub(super) async fn leave(
    State(site): State<Site>,
    headers: HeaderMap,
    posted: Posted,
) -> Result<Response, Trouble> {
    drop(posted);
    if let Some(visit) =
        session::note(&headers).and_then(|note| site.engine.access.read_page_session(note))
    {
        site.engine.access.end_page_session(&visit).await?;
    }
    Ok(([(header::SET_COOKIE, session::drop_note(&headers))], to("/login")).into_response())
}

/// `GET /help`
pub(super) async fn help(State(site): State<Site>, visitor: Visitor) -> Response {
    html(&Help { shell: visitor.shell(&site, None) })
}

fn form(site: &Site, next: Option<&str>, trouble: Option<String>) -> Login {
    Login { token: site.engine.access.create_form_token(DOOR), next: own(next).to_owned(), trouble }
}

/// An address of ours, whatever was asked for: nobody is sent elsewhere.
fn own(next: Option<&str>) -> &str {
    let is_own = |next: &&str| {
        next.starts_with('/')
            && !next.starts_with("//")
            && !next.starts_with("/\\")
            && next.bytes().all(|byte| byte.is_ascii_graphic())
    };
    next.filter(is_own).unwrap_or("/")
}

/// Sends a browser on after a form.
pub(super) fn to(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address.to_owned())]).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for bad in ["https://evil.example", "//evil.example", "/\\evil.example", "x", "/a\nb", "/é"]
        {
            assert_eq!(own(Some(bad)), "/", "{bad}");
        }
        assert_eq!(own(Some("/conversations?days=7")), "/conversations?days=7");
        assert_eq!(own(None), "/");
    }
}
