//! Pages of a few words: the way in, help, and what went wrong.

use askama::Template;

use crate::shell::Shell;

/// The way in.
#[derive(Clone, Debug, Template)]
#[template(path = "login.html")]
pub struct Login {
    /// What proves that the form is ours.
    pub token: String,
    /// Where to go afterwards.
    pub next: String,
    /// Why it did not work before.
    pub trouble: Option<String>,
}

/// Which keys do what.
#[derive(Clone, Debug, Template)]
#[template(path = "help.html")]
pub struct Help {
    /// The frame.
    pub shell: Shell,
}

/// Something is not possible, and what can be done.
#[derive(Clone, Debug, Template)]
#[template(path = "trouble.html")]
pub struct Trouble {
    /// The status as a number.
    pub status: u16,
    /// In a few words.
    pub title: String,
    /// In a sentence.
    pub detail: String,
}
