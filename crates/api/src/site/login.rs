//! Login, logout and the help page.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use web::{HelpPage, LoginPage};

use super::Site;
use super::form::{FormFields, SubmittedForm};
use super::page_response::{PageResult, html_page};
use super::session_cookie;
use super::visitor::Visitor;
use crate::error::Problem;
use crate::middleware::auth::{Identity, Permission, ReadAccess, check_origin};
use crate::params::{self, ParamKind, QueryParams};

/// The login form has no session yet, so its token is the same for all. The origin is checked too.
const CSRF_SUBJECT: &str = "door";
/// Login attempts per second and client address.
const LOGIN_RATE: u32 = 5;

pub(super) async fn show_login(State(site): State<Site>, query: QueryParams) -> PageResult {
    if site.engine.access.is_open() {
        return Ok(redirect_to("/"));
    }
    let mut query = params::read_query(query, &[("next", ParamKind::Text)])?;
    let next: Option<String> = query.take("next")?;
    Ok(html_page(&login_form(&site, next.as_deref(), None)))
}

pub(super) async fn log_in(State(site): State<Site>, request: Request) -> PageResult {
    if let Some(identity) = request.extensions().get::<Identity>() {
        identity.auth.limits.take_token(
            "page login",
            identity.client,
            LOGIN_RATE,
            site.engine.now(),
        )?;
    }
    let headers = request.headers().clone();
    let fields = FormFields::from_request(request, &site).await?;
    if !site.engine.access.check_form_token(CSRF_SUBJECT, fields.get("token").unwrap_or("")) {
        let detail = "the form token is invalid; reload the page and submit the form again";
        return Err(Problem::forbidden(detail).into());
    }
    let next = fields.get("next");
    let key = fields.get("key").and_then(|text| site.engine.access.authenticate(text.trim()));
    let refused = |reason: &str| {
        let page = html_page(&login_form(&site, next, Some(reason.to_owned())));
        Ok((StatusCode::UNAUTHORIZED, page).into_response())
    };
    let Some(key) = key else { return refused("This API key is unknown or revoked.") };
    if !ReadAccess::ROLES.contains(&key.role) {
        let role = key.role.as_word();
        return refused(&format!(
            "A key with the role {role} cannot open the web interface; use one with read or admin."
        ));
    }
    if check_origin(&key, &headers).is_err() {
        return refused(
            "This API key is restricted to another origin and cannot open the web interface.",
        );
    }
    tracing::info!(key = key.id, "web login");
    let cookie = session_cookie::set_cookie(&site.engine.access.start_page_session(&key), &headers);
    Ok(([(header::SET_COOKIE, cookie)], redirect_to(local_path(next))).into_response())
}

pub(super) async fn log_out(
    State(site): State<Site>,
    headers: HeaderMap,
    posted: SubmittedForm,
) -> PageResult {
    drop(posted);
    if let Some(visit) = session_cookie::read_session(&headers)
        .and_then(|token| site.engine.access.read_page_session(token))
    {
        site.engine.access.end_page_session(&visit).await?;
    }
    Ok(([(header::SET_COOKIE, session_cookie::clear_cookie(&headers))], redirect_to("/login"))
        .into_response())
}

pub(super) async fn show_help(State(site): State<Site>, visitor: Visitor) -> Response {
    html_page(&HelpPage { layout: visitor.shell(&site, None) })
}

fn login_form(site: &Site, next: Option<&str>, trouble: Option<String>) -> LoginPage {
    LoginPage {
        token: site.engine.access.create_form_token(CSRF_SUBJECT),
        next: local_path(next).to_owned(),
        trouble,
    }
}

/// Prevents open redirects: anything but a local path becomes `/`.
fn local_path(next: Option<&str>) -> &str {
    let is_local = |next: &&str| {
        next.starts_with('/')
            && !next.starts_with("//")
            && !next.starts_with("/\\")
            && next.bytes().all(|byte| byte.is_ascii_graphic())
    };
    next.filter(is_local).unwrap_or("/")
}

/// Redirects after a form (303).
pub(super) fn redirect_to(path: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, path.to_owned())]).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_redirects_only_to_local_paths() {
        for bad in ["https://evil.example", "//evil.example", "/\\evil.example", "x", "/a\nb", "/é"]
        {
            assert_eq!(local_path(Some(bad)), "/", "{bad}");
        }
        assert_eq!(local_path(Some("/conversations?days=7")), "/conversations?days=7");
        assert_eq!(local_path(None), "/");
    }
}
