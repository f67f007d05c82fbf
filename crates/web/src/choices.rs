//! What can be chosen from in a form: so many names, and always the one that is chosen.

/// Names on a list; each is on every page, and nobody reads more of them.
const MOST: usize = 200;

/// Names to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Those that are on the list.
    pub names: Vec<String>,
    /// How many are not.
    pub left_out: usize,
}

impl Choices {
    /// The first of some names, and the one that is chosen, wherever it stands: without it a form would show another
    /// one as chosen, and choose that when it is sent.
    pub fn of(names: impl IntoIterator<Item = String>, chosen: Option<&str>) -> Self {
        let mut names: Vec<String> = names.into_iter().collect();
        let mut rest = names.split_off(names.len().min(MOST));
        if let Some(chosen) = chosen.filter(|chosen| !names.iter().any(|name| name == chosen)) {
            rest.retain(|name| name != chosen);
            names.push(chosen.to_owned());
        }
        Self { names, left_out: rest.len() }
    }

    /// What to know of those that are not on the list, and by which parameter of the address they are chosen.
    pub fn others(&self, parameter: &str) -> Option<String> {
        let others = || format!("and {} more, by {parameter}= in the address", self.left_out);
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
    fn a_list_that_is_cut_says_so() {
        let all = Choices::of(names(MOST), None);
        assert_eq!((all.names.len(), all.others("project")), (MOST, None));
        let cut = Choices::of(names(MOST + 2), None);
        assert_eq!(cut.names, names(MOST));
        assert_eq!(
            cut.others("project").as_deref(),
            Some("and 2 more, by project= in the address")
        );
    }

    #[test]
    fn the_chosen_one_is_always_on_the_list() {
        let far = Choices::of(names(MOST + 2), Some("0201"));
        assert_eq!((far.names.last().map(String::as_str), far.left_out), (Some("0201"), 1));
        let near = Choices::of(names(3), Some("0001"));
        assert_eq!((near.names, near.left_out), (names(3), 0));
        let unknown = Choices::of(names(1), Some("gone"));
        assert_eq!((unknown.names, unknown.left_out), (vec!["0000".into(), "gone".into()], 0));
    }
}
