//! How the program itself is doing.

use askama::Template;

use crate::chart::Chart;
use crate::moment::Moment;
use crate::shell::Shell;

/// A figure of the program: what it is, how much, and a class.
#[derive(Clone, Debug)]
pub struct Gauge {
    /// What.
    pub name: &'static str,
    /// How much, with its unit.
    pub value: String,
    /// More of it.
    pub about: String,
    /// `good`, `bad` or `none`.
    pub class: &'static str,
}

/// A key on the page.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// Its id; its secret is known to nobody here.
    pub id: String,
    /// What it may do.
    pub role: &'static str,
    /// For which project.
    pub project: String,
    /// Requests per second.
    pub rate: String,
    /// When it was made.
    pub created: Moment,
    /// When it was revoked.
    pub revoked: Option<Moment>,
}

/// Something that could not be stored.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Moment,
    /// Why.
    pub reason: String,
}

/// The page.
#[derive(Debug, Template)]
#[template(path = "system.html")]
pub struct System {
    /// The frame.
    pub shell: Shell,
    /// The figures.
    pub gauges: Vec<Gauge>,
    /// Turns of the last day, by the hour.
    pub throughput: Chart,
    /// What could not be stored.
    pub letters: Vec<Letter>,
    /// The tenant's keys, for those who may see them.
    pub keys: Option<Vec<KeyRow>>,
    /// The program's version.
    pub version: &'static str,
    /// The tenant.
    pub tenant: String,
}
