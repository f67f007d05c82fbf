//! Who visits a page, whose data they see, and what they may do there.

mod arrival;

use engine::{PageAccess, QualityQuery};
use model::{Position, Project, Role, Scope, Tenant, Timestamp, Window};
use web::{Choices, Filter, Reader, Shell, View};

use super::Site;
use crate::auth::{Managing, Permission, Writing};

/// Projects that are followed; each is asked after on its own.
const MOST_FOLLOWED: usize = 200;

/// Somebody who may see pages.
#[derive(Debug)]
pub(super) struct Visitor {
    /// What forms of theirs are proven by.
    proof: String,
    role: Role,
    pass: PageAccess,
    reader: Reader,
    tenant: Tenant,
    /// It is made up.
    is_demo: bool,
    project: Option<Project>,
    own_project: bool,
    tenants: Choices,
    projects: Vec<String>,
    filter: Filter,
    /// The parameters of the address.
    parameters: Vec<(String, String)>,
    /// Where this server is, as they see it.
    address: String,
    /// How far the log went before anything was read for them.
    position: Position,
}

impl Visitor {
    /// Whether they may change anything.
    pub(super) fn may_write(&self) -> bool {
        Writing::ROLES.contains(&self.role)
    }

    /// Whether they may change the rules: experiments, for one.
    pub(super) fn may_manage(&self) -> bool {
        Managing::ROLES.contains(&self.role)
    }

    /// By which their forms are known.
    pub(super) fn proof(&self) -> &str {
        &self.proof
    }

    /// Under which name they react and correct: nobody else has it.
    pub(super) fn signs_as(&self) -> String {
        match &self.pass {
            PageAccess::Key(id) => format!("page-{id}"),
            PageAccess::Session(visit) => format!("page-{}", visit.key.id),
            PageAccess::Open | PageAccess::Owner => "page".to_owned(),
        }
    }

    /// What they came in by, and may stay as long as.
    pub(super) fn pass(&self) -> &PageAccess {
        &self.pass
    }

    /// What they look at.
    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Whose data they see.
    pub(super) fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Projects that they may see, and that something was stored for.
    pub(super) fn projects(&self) -> &[String] {
        &self.projects
    }

    /// The one project that a page about one thing is in: the one that is chosen, or the only one there is.
    pub(super) fn scope(&self) -> Scope {
        let only = || match self.projects.as_slice() {
            [only] => Project::new(only.as_str()).ok(),
            [] | [_, ..] => None,
        };
        let project = self.project.clone().or_else(only);
        let project = project.unwrap_or_else(|| Scope::default().project);
        Scope { tenant: self.tenant.clone(), project }
    }

    /// Everything that they follow: the project that is chosen, or all of them, but no more than can be asked after.
    pub(super) fn scopes(&self) -> Vec<Scope> {
        if self.project.is_some() || self.projects.len() < 2 {
            return vec![self.scope()];
        }
        let projects = self.projects.iter().filter_map(|name| Project::new(name.as_str()).ok());
        let scopes = projects.map(|project| Scope { tenant: self.tenant.clone(), project });
        scopes.take(MOST_FOLLOWED).collect()
    }

    /// Whether a key's project is one that they may see: of a key of one project, only that one.
    pub(super) fn project_is_own(&self, project: Option<&Project>) -> bool {
        !self.own_project || project == self.project.as_ref()
    }

    /// A parameter of the address, unless it is empty.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut found =
            self.parameters.iter().filter(|(one, value)| one == name && !value.is_empty());
        found.next().map(|(_, value)| value.as_str())
    }

    /// How far the log went before anything was read for them.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Whether anything was ever stored for whom they see.
    pub(super) fn has_data(&self) -> bool {
        !self.projects.is_empty()
    }

    /// What is looked at, in stretches of so many hours.
    pub(super) fn query(&self, now: Timestamp, bucket_hours: u32) -> QualityQuery {
        let start = now.plus_secs(-i64::from(self.filter.days) * 86_400);
        QualityQuery {
            tenant: self.tenant.clone(),
            project: self.project.clone(),
            window: Window { start, end: now },
            model: self.filter.model.clone(),
            prompt: self.filter.prompt.clone(),
            users: None,
            bucket_hours,
            bucket_shift: 0,
        }
    }

    /// The frame of a page for them.
    pub(super) fn shell(&self, site: &Site, here: Option<View>) -> Shell {
        Shell {
            here,
            filter: self.filter.clone(),
            tenant: self.tenant.to_string(),
            is_demo: self.is_demo,
            tenants: self.tenants.clone(),
            projects: Choices::of(self.projects.iter().cloned(), self.filter.project.as_deref()),
            may_choose_project: !self.own_project && self.projects.len() > 1,
            reader: self.reader.clone(),
            may_write: self.may_write(),
            token: site.engine.access.create_form_token(&self.proof),
            address: self.address.clone(),
            position: self.position.0,
            notice: self.parameter("done").and_then(notice).map(str::to_owned),
        }
    }
}

/// What was just done; only our own sentences are ever shown.
fn notice(word: &str) -> Option<&'static str> {
    match word {
        "confirmed" => Some("Confirmed. It counts as a label for the detector."),
        "flipped" => Some("Flipped. The rates follow, and the detector learns from it."),
        "reacted" => Some("Your reaction is stored."),
        "cleared" => Some("Your reaction is taken back."),
        "corrected" => Some("Your correction is stored."),
        "started" => {
            Some("The experiment is defined. Start it when the application asks for its variants.")
        }
        "moved" => Some("Done. The experiment stands as shown."),
        _ => None,
    }
}
