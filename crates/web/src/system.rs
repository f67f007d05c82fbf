//! The system page: server health, dead letters and API keys.

use askama::Template;

use crate::chart::Chart;
use crate::display_time::DisplayTime;
use crate::layout::PageLayout;

#[derive(Clone, Debug)]
pub struct SystemGauge {
    pub name: &'static str,
    pub value: String,
    pub about: String,
    pub class: &'static str,
}

#[derive(Clone, Debug)]
pub struct KeyRow {
    pub id: String,
    pub role: &'static str,
    pub project: String,
    pub rate: String,
    pub created: DisplayTime,
    pub revoked: Option<DisplayTime>,
}

#[derive(Clone, Debug)]
pub struct DeadLetterRow {
    pub id: String,
    pub at: DisplayTime,
    pub reason: String,
}

#[derive(Debug, Template)]
#[template(path = "system.html")]
pub struct SystemPage {
    pub layout: PageLayout,
    pub gauges: Vec<SystemGauge>,
    pub throughput: Chart,
    pub letters: Vec<DeadLetterRow>,
    pub keys: Option<Vec<KeyRow>>,
    pub version: &'static str,
    pub tenant: String,
}
