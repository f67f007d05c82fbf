//! What is looked at, and links that keep it.

use std::fmt::Write;

/// How far back one looks who says nothing.
pub const DEFAULT_DAYS: u32 = 30;

/// What a page is about: every link on it is about the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The tenant, where the visitor may choose one.
    pub tenant: Option<String>,
    /// The project; all of the tenant's when absent.
    pub project: Option<String>,
    /// Answered by this model only.
    pub model: Option<String>,
    /// Answered with this prompt only.
    pub prompt: Option<String>,
    /// How many days back.
    pub days: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self { tenant: None, project: None, model: None, prompt: None, days: DEFAULT_DAYS }
    }
}

impl Filter {
    /// The parameters that say it, without those that say nothing.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
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

    /// An address about the same.
    pub fn link(&self, path: &str) -> String {
        self.link_with(path, &[])
    }

    /// An address about the same but for some parameters; an empty one is left out.
    pub fn link_with(&self, path: &str, others: &[(&str, &str)]) -> String {
        let own = self.pairs();
        let own = own.iter().map(|(name, value)| (*name, value.as_str()));
        let own = own.filter(|(name, _)| others.iter().all(|(other, _)| other != name));
        address(path, own.chain(others.iter().copied()))
    }

    /// An address that names the tenant and a project only.
    pub fn place_link(&self, path: &str, project: &str, others: &[(&str, &str)]) -> String {
        let tenant = self.tenant.as_deref().map(|tenant| ("tenant", tenant));
        let place = tenant.into_iter().chain([("project", project)]);
        address(path, place.chain(others.iter().copied()))
    }
}

fn address<'a>(path: &str, parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = path.to_owned();
    let mut sign = '?';
    for (name, value) in parameters.filter(|(_, value)| !value.is_empty()) {
        text.push(sign);
        text.push_str(name);
        text.push('=');
        text.push_str(&encoded(value));
        sign = '&';
    }
    text
}

/// A text as a part of an address.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~@:".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_what_is_looked_at() {
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
