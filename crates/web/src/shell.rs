//! What every page has around it: navigation, whose data it is, who is looking.

use crate::choices::Choices;
use crate::filter::Filter;

// One list: the address, the words and the key of each view.
macro_rules! views {
    ($($(#[$doc:meta])* $view:ident $path:literal $name:literal $key:literal $icon:literal),+ $(,)?) => {
        /// A view that the navigation leads to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum View { $($(#[$doc])* $view),+ }

        impl View {
            /// All of them, in the order they are shown.
            pub const ALL: &[Self] = &[$(Self::$view),+];

            /// Where it is.
            pub const fn path(self) -> &'static str {
                match self { $(Self::$view => $path),+ }
            }

            /// What it is called.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$view => $name),+ }
            }

            /// The key that leads there, after `g`.
            pub const fn key(self) -> &'static str {
                match self { $(Self::$view => $key),+ }
            }

            /// The lines of its icon, in a square of 20.
            pub const fn icon(self) -> &'static str {
                match self { $(Self::$view => $icon),+ }
            }
        }
    };
}

views! {
    /// How good the answers are.
    Overview "/" "Overview" "o" "M3 16.5h14M5.5 13V9.5M10 13V4M14.5 13V7",
    /// What people asked, and how they took the answers.
    Conversations "/conversations" "Conversations" "c" "M3.5 4.5h13v8.5h-7l-3.5 3v-3h-2.5z M6.5 7.5h7M6.5 10h4.5",
    /// What goes wrong, in patterns.
    Failures "/failures" "Failures" "f" "M10 3 18 17H2zM10 8v4m0 2.5v.01",
    /// Which model serves which turn.
    Routing "/routing" "Routing" "r" "M3 10h4l3-5h7M7 10l3 5h7M15 3l2 2-2 2M15 13l2 2-2 2",
    /// What was retrieved, and used.
    Retrieval "/retrieval" "Retrieval" "t" "M4.5 3h8l3 3v11h-11zM7 9h6M7 12h6M7 6h3",
    /// Which variant is better.
    Experiments "/experiments" "Experiments" "e" "M8 3v5L3.5 15a1.4 1.4 0 0 0 1.2 2h10.6a1.4 1.4 0 0 0 1.2-2L12 8V3M6.5 3h7M6 12h8",
    /// Data for training, and what waits for a person.
    Data "/data" "Data" "d" "M4 5c0-1.4 2.7-2.5 6-2.5S16 3.600 16 5s-2.700 2.500-6 2.500S4 6.400 4 5zM4 5v10c0 1.400 2.700 2.500 6 2.500s6-1.100 6-2.500V5M4 10c0 1.400 2.700 2.500 6 2.500s6-1.100 6-2.500",
    /// How the program itself is doing.
    System "/system" "System" "s" "M3 4h14v5H3zM3 11h14v5H3zM6 6.500h.01M6 13.500h.01",
}

/// Who is looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reader {
    /// There are no keys: everybody on this machine.
    Open,
    /// Whoever has a key of this id and role.
    Key {
        /// Its id.
        id: String,
        /// Its role.
        role: &'static str,
    },
}

/// The frame of a page.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The view that is shown; none for pages beside them.
    pub here: Option<View>,
    /// What is looked at.
    pub filter: Filter,
    /// Whose data it is.
    pub tenant: String,
    /// It is made up, to look around.
    pub is_demo: bool,
    /// Tenants that the visitor may choose from.
    pub tenants: Choices,
    /// The tenant's projects.
    pub projects: Choices,
    /// Whether the visitor may choose among them.
    pub may_choose_project: bool,
    /// Who is looking.
    pub reader: Reader,
    /// Whether they may change anything.
    pub may_write: bool,
    /// What proves that a form is ours.
    pub token: String,
    /// What was just done, in a sentence.
    pub notice: Option<String>,
    /// Where this server is, as the visitor sees it, for examples.
    pub address: String,
    /// How far the log went when the page was asked for: what comes behind it is not on the page.
    pub position: u64,
}

impl Shell {
    /// What the navigation leads to.
    pub fn views(&self) -> &'static [View] {
        View::ALL
    }

    /// Where a view is, about the same as this page.
    pub fn to(&self, view: &View) -> String {
        let place = Filter { model: None, prompt: None, ..self.filter.clone() };
        place.link(view.path())
    }

    /// Whether a view is the one that is shown.
    pub fn is_here(&self, view: &View) -> bool {
        self.here == Some(*view)
    }

    /// Whether a model is the one that is looked at.
    pub fn is_model(&self, model: &str) -> bool {
        self.filter.model.as_deref() == Some(model)
    }

    /// Whether a prompt is the one that is looked at.
    pub fn is_prompt(&self, prompt: &str) -> bool {
        self.filter.prompt.as_deref() == Some(prompt)
    }

    /// Whether a session can be ended.
    pub fn can_leave(&self) -> bool {
        self.reader != Reader::Open
    }

    /// What an example on the command line needs besides: the key, where there are keys.
    pub fn key_header(&self) -> &'static str {
        if self.can_leave() { " -H 'Authorization: Bearer uk_…'" } else { "" }
    }

    /// Who is looking, in a few words.
    pub fn who(&self) -> String {
        match &self.reader {
            Reader::Open => "open on this machine".to_owned(),
            Reader::Key { id, role } => format!("{role} key {id}"),
        }
    }
}

#[cfg(test)]
impl Shell {
    /// Around a view of a store without keys.
    pub(crate) fn around(view: View) -> Self {
        Self {
            here: Some(view),
            filter: Filter::default(),
            tenant: "default".to_owned(),
            is_demo: false,
            tenants: Choices::default(),
            projects: Choices::default(),
            may_choose_project: false,
            reader: Reader::Open,
            may_write: true,
            token: String::new(),
            notice: None,
            address: String::new(),
            position: 0,
        }
    }
}
