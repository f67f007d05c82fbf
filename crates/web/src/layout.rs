//! The common page layout: navigation, filter scope and viewer. Also the pages without data.

use askama::Template;

use crate::filter::Filter;
use crate::select_options::SelectOptions;

// One list with the path, name, shortcut key and icon of each view.
macro_rules! views {
    ($($(#[$doc:meta])* $view:ident $path:literal $name:literal $key:literal $icon:literal),+ $(,)?) => {
        /// A view in the navigation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum View { $($(#[$doc])* $view),+ }

        impl View {
            pub const IN_ORDER: &[Self] = &[$(Self::$view),+];

            pub const fn path(self) -> &'static str {
                match self { $(Self::$view => $path),+ }
            }

            pub const fn name(self) -> &'static str {
                match self { $(Self::$view => $name),+ }
            }

            /// The shortcut key, pressed after `g`.
            pub const fn key(self) -> &'static str {
                match self { $(Self::$view => $key),+ }
            }

            /// SVG path of the icon in a 20 by 20 box.
            pub const fn icon(self) -> &'static str {
                match self { $(Self::$view => $icon),+ }
            }
        }
    };
}

views! {
    Overview "/" "Overview" "o" "M3 16.5h14M5.5 13V9.5M10 13V4M14.5 13V7",
    Conversations "/conversations" "Conversations" "c" "M3.5 4.5h13v8.5h-7l-3.5 3v-3h-2.5z M6.5 7.5h7M6.5 10h4.5",
    Failures "/failures" "Failures" "f" "M10 3 18 17H2zM10 8v4m0 2.5v.01",
    Routing "/routing" "Routing" "r" "M3 10h4l3-5h7M7 10l3 5h7M15 3l2 2-2 2M15 13l2 2-2 2",
    Retrieval "/retrieval" "Retrieval" "t" "M4.5 3h8l3 3v11h-11zM7 9h6M7 12h6M7 6h3",
    Experiments "/experiments" "Experiments" "e" "M8 3v5L3.5 15a1.4 1.4 0 0 0 1.2 2h10.6a1.4 1.4 0 0 0 1.2-2L12 8V3M6.5 3h7M6 12h8",
    Data "/data" "Data" "d" "M4 5c0-1.4 2.7-2.5 6-2.5S16 3.600 16 5s-2.700 2.500-6 2.500S4 6.400 4 5zM4 5v10c0 1.400 2.700 2.500 6 2.500s6-1.100 6-2.500V5M4 10c0 1.400 2.700 2.500 6 2.500s6-1.100 6-2.500",
    System "/system" "System" "s" "M3 4h14v5H3zM3 11h14v5H3zM6 6.500h.01M6 13.500h.01",
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Viewer {
    /// No keys exist, so every client on this machine has access.
    #[default]
    Open,
    Key {
        id: String,
        role: &'static str,
    },
}

#[derive(Clone, Debug, Default)]
pub struct PageLayout {
    pub current_view: Option<View>,
    pub filter: Filter,
    pub tenant: String,
    pub is_demo: bool,
    pub tenants: SelectOptions,
    pub projects: SelectOptions,
    pub may_choose_project: bool,
    pub viewer: Viewer,
    pub may_write: bool,
    /// CSRF token of the page's forms.
    pub token: String,
    /// Result of the form that was just submitted.
    pub notice: Option<String>,
    /// Base URL of this server as the viewer sees it, for curl examples.
    pub address: String,
    /// Log position of the page's data; the live stream resumes after it.
    pub position: u64,
}

impl PageLayout {
    pub fn views(&self) -> &'static [View] {
        View::IN_ORDER
    }

    /// A link to a view with the current tenant, project and period.
    pub fn link_to(&self, view: &View) -> String {
        let place = Filter { model: None, prompt: None, ..self.filter.clone() };
        place.link(view.path())
    }

    pub fn is_current(&self, view: &View) -> bool {
        self.current_view == Some(*view)
    }

    /// True when the viewer can log out.
    pub fn has_session(&self) -> bool {
        self.viewer != Viewer::Open
    }

    /// The authorization option for curl examples, when keys exist.
    pub fn key_header(&self) -> &'static str {
        if self.has_session() { " -H 'Authorization: Bearer uk_…'" } else { "" }
    }

    pub fn describe_viewer(&self) -> String {
        match &self.viewer {
            Viewer::Open => "no API keys, local access".to_owned(),
            Viewer::Key { id, role } => format!("{role} key {id}"),
        }
    }
}

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

#[cfg(test)]
impl PageLayout {
    /// The layout of a view in a store without keys.
    pub(crate) fn test_layout(view: View) -> Self {
        Self {
            current_view: Some(view),
            tenant: "default".to_owned(),
            may_write: true,
            ..Self::default()
        }
    }
}
