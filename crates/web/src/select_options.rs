//! Options of a select menu, limited in number.

/// The options are part of every page.
const MAX_OPTIONS: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    pub names: Vec<String>,
    pub left_out: usize,
}

impl SelectOptions {
    /// Keeps the first names and always the selected one. Without it the form would show and submit
    /// a different option.
    pub fn new(names: impl IntoIterator<Item = String>, chosen: Option<&str>) -> Self {
        let mut names: Vec<String> = names.into_iter().collect();
        let mut rest = names.split_off(names.len().min(MAX_OPTIONS));
        if let Some(chosen) = chosen.filter(|chosen| !names.iter().any(|name| name == chosen)) {
            rest.retain(|name| name != chosen);
            names.push(chosen.to_owned());
        }
        Self { names, left_out: rest.len() }
    }

    /// A hint on omitted options and the query parameter that selects them.
    pub fn omitted_hint(&self, parameter: &str) -> Option<String> {
        let others = || format!("{} more, selectable with {parameter}= in the URL", self.left_out);
        (self.left_out > 0).then(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("{number:04}")).collect()
    }

    #[test]
    fn truncated_options_show_a_hint() {
        let all = SelectOptions::new(names(MAX_OPTIONS), None);
        assert_eq!((all.names.len(), all.omitted_hint("project")), (MAX_OPTIONS, None));
        let cut = SelectOptions::new(names(MAX_OPTIONS + 2), None);
        assert_eq!(cut.names, names(MAX_OPTIONS));
        assert_eq!(
            cut.omitted_hint("project").as_deref(),
            Some("2 more, selectable with project= in the URL")
        );
    }

    #[test]
    fn selected_option_is_always_listed() {
        let far = SelectOptions::new(names(MAX_OPTIONS + 2), Some("0201"));
        assert_eq!((far.names.last().map(String::as_str), far.left_out), (Some("0201"), 1));
        let near = SelectOptions::new(names(3), Some("0001"));
        assert_eq!((near.names, near.left_out), (names(3), 0));
        let unknown = SelectOptions::new(names(1), Some("gone"));
        assert_eq!((unknown.names, unknown.left_out), (vec!["0000".into(), "gone".into()], 0));
    }
}
