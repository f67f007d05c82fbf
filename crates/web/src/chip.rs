//! A short coloured label.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// The CSS class: `good`, `bad`, `unsure` or `none`.
    pub class: &'static str,
    pub label: Cow<'static, str>,
}

impl Chip {
    pub(crate) fn new(class: &'static str, label: impl Into<Cow<'static, str>>) -> Self {
        Self { class, label: label.into() }
    }
}
