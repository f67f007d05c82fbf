//! Extracts links from an answer and matches them with item ids.

use super::weight::is_known_word;

const MAX_LINK_BYTES: usize = 500;
const MAX_LINK_ENDS: usize = 6;

/// Byte ranges of Markdown link targets and of http(s) URLs.
pub(super) fn find_links(text: &str, most: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let marked = text.match_indices("](").map(|(at, mark)| at + mark.len());
    let schemes = ["https://", "http://"];
    let plain = text.match_indices("://").filter_map(|(at, _)| {
        let colon = at + 3;
        let scheme = schemes.iter().find(|scheme| text[..colon].ends_with(**scheme))?;
        Some(colon - scheme.len())
    });
    // Nested links are part of the outer one, which keeps the cost linear.
    let mut read_to = [0, 0];
    let marked = marked.map(|at| (0, at));
    for (link_kind, at) in marked.chain(plain.map(|at| (1, at))).take(most) {
        if at < read_to[link_kind] {
            continue;
        }
        let rest = &text[at..text.floor_char_boundary((at + MAX_LINK_BYTES).min(text.len()))];
        let stops =
            |c: char| c.is_whitespace() || matches!(c, ')' | '>' | '"' | '\'' | '`' | '<' | '|');
        let length = rest.find(stops).unwrap_or(rest.len());
        let link = rest[..length].trim_end_matches(['.', ',', ';', ':', '!', '?', '*']);
        read_to[link_kind] = at + length;
        if !link.is_empty() {
            found.push((at, at + link.len()));
        }
    }
    found
}

/// Candidate ids at the end of a link, with and without query and file ending.
pub(super) fn link_ends(link: &str) -> impl Iterator<Item = &str> {
    let path = link.split(['?', '#']).next().unwrap_or(link);
    let stem = [".html", ".htm", ".md", ".pdf"].iter().find_map(|end| path.strip_suffix(end));
    [link, path, stem.unwrap_or(path)].into_iter().flat_map(|address| {
        let address = address.trim_end_matches('/');
        let borders = address.rmatch_indices(['/', '=', '#', ':', '?', '&']).take(MAX_LINK_ENDS);
        let ends = borders.map(move |(at, _)| &address[at + 1..]);
        ends.chain(std::iter::once(address))
    })
}

/// True when an id at the end of a link is distinctive. `…/3` and `…/login` are not.
pub(super) fn is_linkable_id(id: &str) -> bool {
    let numeric = id.bytes().all(|b| b.is_ascii_digit());
    let too_short = numeric && (id.len() < 3 || id.parse().is_ok_and(is_year));
    !too_short && id.len() >= 2 && !is_known_word(id)
}

pub(super) fn is_year(number: u64) -> bool {
    (1_900..=2_100).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_matches_the_id_at_its_end() {
        for (link, id, expected) in [
            ("https://w.example/ops/kb-5520", "kb-5520", true),
            ("https://w.example/ops/kb-5520.html#top", "kb-5520", true),
            ("https://w.example/ops?doc=kb-5520", "kb-5520", true),
            ("https://w.example/ops/xkb-5520", "kb-5520", false),
            ("https://w.example/ops/kb-5520/next", "kb-5520", false),
            ("https://docs.example/3", "3", false),
            ("https://t.example/4711/", "4711", true),
            ("https://t.example/login", "login", false),
            ("https://t.example/docs?page=search", "search", false),
            ("https://t.example/articles/quellenwart", "quellenwart", true),
            ("https://t.example/a/b/c", "https://t.example/a/b/c", true),
            ("https://t.example/a/guide/c.md", "guide/c", true),
        ] {
            let leads = is_linkable_id(id) && link_ends(link).any(|end| end == id);
            assert_eq!(leads, expected, "{link} {id}");
        }
    }

    #[test]
    fn nested_link_is_read_once() {
        assert_eq!(find_links(&"http://".repeat(50), 1_000).len(), 1);
        assert_eq!(find_links("[a](https://x.example/a), https://x.example/b.", 9).len(), 3);
    }
}
