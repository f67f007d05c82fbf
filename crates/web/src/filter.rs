//! The filter of a page, and links that keep it.

use model::encode_url;

pub const DEFAULT_DAYS: u32 = 30;

/// The filter in the query string; every link on the page keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    pub tenant: Option<String>,
    /// `None` means all projects of the tenant.
    pub project: Option<String>,
    pub model: Option<String>,
    pub prompt: Option<String>,
    pub days: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self { tenant: None, project: None, model: None, prompt: None, days: DEFAULT_DAYS }
    }
}

impl Filter {
    /// Query parameters that differ from the defaults.
    pub fn query_pairs(&self) -> Vec<(&'static str, String)> {
        let days = (self.days != DEFAULT_DAYS).then(|| self.days.to_string());
        [
            ("tenant", self.tenant.clone()),
            ("project", self.project.clone()),
            ("model", self.model.clone()),
            ("prompt", self.prompt.clone()),
            ("days", days),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    pub fn link(&self, path: &str) -> String {
        self.link_with(path, &[])
    }

    /// A link with the same filter, in which `others` replaces or adds parameters. Empty values are
    /// left out.
    pub fn link_with(&self, path: &str, others: &[(&str, &str)]) -> String {
        let own = self.query_pairs();
        let own = own.iter().map(|(name, value)| (*name, value.as_str()));
        let own = own.filter(|(name, _)| others.iter().all(|(other, _)| other != name));
        build_url(path, own.chain(others.iter().copied()))
    }

    /// A link that keeps only the tenant and sets the project.
    pub fn place_link(&self, path: &str, project: &str, others: &[(&str, &str)]) -> String {
        let tenant = self.tenant.as_deref().map(|tenant| ("tenant", tenant));
        let place = tenant.into_iter().chain([("project", project)]);
        build_url(path, place.chain(others.iter().copied()))
    }
}

fn build_url<'a>(path: &str, parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = path.to_owned();
    let mut sign = '?';
    for (name, value) in parameters.filter(|(_, value)| !value.is_empty()) {
        text.push(sign);
        text.push_str(name);
        text.push('=');
        text.push_str(&encode_url(value));
        sign = '&';
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_the_filter() {
        let filter = Filter { model: Some("a b&c".into()), days: 7, ..Filter::default() };
        assert_eq!(filter.link("/"), "/?model=a%20b%26c&days=7");
        assert_eq!(
            filter.link_with("/x", &[("days", "1"), ("show", "failed")]),
            "/x?model=a%20b%26c&days=1&show=failed"
        );
        assert_eq!(filter.link_with("/x", &[("model", "")]), "/x?days=7");
        assert_eq!(Filter::default().link("/x"), "/x");
    }
}
