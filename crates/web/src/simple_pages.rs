//! Pages without data: login, keyboard shortcuts and errors.

use askama::Template;

use crate::layout::PageLayout;

#[derive(Clone, Debug, Template)]
#[template(path = "login.html")]
pub struct LoginPage {
    pub token: String,
    pub next: String,
    pub trouble: Option<String>,
}

#[derive(Clone, Debug, Template)]
#[template(path = "help.html")]
pub struct HelpPage {
    pub layout: PageLayout,
}

#[derive(Clone, Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    pub status: u16,
    pub title: String,
    pub detail: String,
}
