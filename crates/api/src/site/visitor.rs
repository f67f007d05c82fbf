//! The visitor of a page: identity, permissions and selected data.

mod extractor;

use engine::{ListQuery, PageAccess, QualityQuery, ReactionTime, TurnFilter, TurnMark};
use model::{Position, Project, Role, Scope, Tenant, Timestamp, Window};
use web::{Filter, PageLayout, SelectOptions, View, Viewer};

use super::Site;
use crate::middleware::auth::{AdminAccess, Permission, WriteAccess};
use crate::params;

/// Each followed project costs one query.
const MAX_FOLLOWED_PROJECTS: usize = 200;

/// An authenticated visitor with read access.
#[derive(Debug)]
pub(super) struct Visitor {
    /// Form tokens are derived from this.
    pub(super) csrf_subject: String,
    role: Role,
    pub(super) pass: PageAccess,
    reader: Viewer,
    pub(super) tenant: Tenant,
    is_demo: bool,
    project: Option<Project>,
    is_project_key: bool,
    tenants: SelectOptions,
    /// Visible projects that have data.
    pub(super) projects: Vec<String>,
    filter: Filter,
    parameters: Vec<(String, String)>,
    /// Base URL of this server as the visitor sees it.
    address: String,
    /// Head of the log before any data was read for the page.
    pub(super) position: Position,
}

impl Visitor {
    pub(super) fn may_write(&self) -> bool {
        WriteAccess::ROLES.contains(&self.role)
    }

    /// True when the visitor may change settings such as experiments.
    pub(super) fn may_manage(&self) -> bool {
        AdminAccess::ROLES.contains(&self.role)
    }

    /// User id for reactions and corrections of this visitor.
    pub(super) fn author_id(&self) -> String {
        match &self.pass {
            PageAccess::Key(id) => format!("page-{id}"),
            PageAccess::Session(visit) => format!("page-{}", visit.key.id),
            PageAccess::Open | PageAccess::Owner => "page".to_owned(),
        }
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The selected project, the only one, or the default.
    pub(super) fn scope(&self) -> Scope {
        let only = || match self.projects.as_slice() {
            [only] => Project::new(only.as_str()).ok(),
            [] | [_, ..] => None,
        };
        let project = self.project.clone().or_else(only);
        let project = project.unwrap_or_else(|| Scope::default().project);
        Scope { tenant: self.tenant.clone(), project }
    }

    /// Scopes for live updates: the selected project, or all visible ones up to a limit.
    pub(super) fn scopes(&self) -> Vec<Scope> {
        if self.project.is_some() || self.projects.len() < 2 {
            return vec![self.scope()];
        }
        let projects = self.projects.iter().filter_map(|name| Project::new(name.as_str()).ok());
        let scopes = projects.map(|project| Scope { tenant: self.tenant.clone(), project });
        scopes.take(MAX_FOLLOWED_PROJECTS).collect()
    }

    /// A visitor with a key of one project sees only keys of that project.
    pub(super) fn can_see_project(&self, project: Option<&Project>) -> bool {
        !self.is_project_key || project == self.project.as_ref()
    }

    /// Returns `None` for absent and empty parameters.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        params::find_text(&self.parameters, name)
    }

    /// A link to a page of the selected project.
    pub(super) fn link(&self, path: &str, others: &[(&str, &str)]) -> String {
        self.filter.place_link(path, self.scope().project.as_str(), others)
    }

    pub(super) fn has_data(&self) -> bool {
        !self.projects.is_empty()
    }

    /// Query for the selected data, in buckets of `bucket_hours`.
    pub(super) fn query(&self, now: Timestamp, bucket_hours: u32) -> QualityQuery {
        let start = now.plus_secs(-i64::from(self.filter.days) * 86_400);
        QualityQuery {
            tenant: self.tenant.clone(),
            project: self.project.clone(),
            window: Window { start, end: now },
            model: self.filter.model.clone(),
            prompt: self.filter.prompt.clone(),
            users: None,
            by: ReactionTime::default(),
            bucket_hours,
            bucket_shift: 0,
        }
    }

    pub(super) fn shell(&self, site: &Site, here: Option<View>) -> PageLayout {
        PageLayout {
            current_view: here,
            filter: self.filter.clone(),
            tenant: self.tenant.to_string(),
            is_demo: self.is_demo,
            tenants: self.tenants.clone(),
            projects: SelectOptions::new(
                self.projects.iter().cloned(),
                self.filter.project.as_deref(),
            ),
            may_choose_project: !self.is_project_key && self.projects.len() > 1,
            viewer: self.reader.clone(),
            may_write: self.may_write(),
            token: site.engine.access.create_form_token(&self.csrf_subject),
            address: self.address.clone(),
            position: self.position.0,
            notice: self.parameter("done").and_then(notice_text).map(str::to_owned),
        }
    }
}

/// Selects the first conversations of a period with a marked turn.
pub(super) fn list_query(period: QualityQuery, mark: TurnMark, limit: usize) -> ListQuery {
    let QualityQuery { tenant, project, window, model, prompt, .. } = period;
    let (user, words, behind) = (None, None, None);
    let filter = TurnFilter::default();
    ListQuery { tenant, project, window, model, prompt, user, words, mark, filter, behind, limit }
}

/// Notice after a form. Unknown words show nothing, so links cannot inject text.
fn notice_text(word: &str) -> Option<&'static str> {
    match word {
        "confirmed" => Some("Verdict confirmed. It counts as a label for the detector."),
        "flipped" => Some("Verdict changed. Metrics are updated, and the detector learns from it."),
        "reacted" => Some("Reaction stored."),
        "cleared" => Some("Reaction cleared."),
        "corrected" => Some("Correction stored."),
        "started" => {
            Some("Experiment created. Start it when the application requests its variants.")
        }
        "moved" => Some("Experiment updated."),
        _ => None,
    }
}
