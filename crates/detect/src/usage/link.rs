//! Links in an answer, and whether one leads to an item.

/// Longer addresses are not read to their end.
const LONGEST_LINK: usize = 500;

/// Addresses: after `](`, or with their scheme.
pub(super) fn links(text: &str, most: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let marked = text.match_indices("](").map(|(at, mark)| at + mark.len());
    let schemes = ["https://", "http://"];
    let plain = text.match_indices("://").filter_map(|(at, _)| {
        let colon = at + 3;
        let scheme = schemes.iter().find(|scheme| text[..colon].ends_with(**scheme))?;
        Some(colon - scheme.len())
    });
    for at in marked.chain(plain).take(most) {
        let rest = &text[at..text.floor_char_boundary((at + LONGEST_LINK).min(text.len()))];
        let stops =
            |c: char| c.is_whitespace() || matches!(c, ')' | '>' | '"' | '\'' | '`' | '<' | '|');
        let length = rest.find(stops).unwrap_or(rest.len());
        let link = rest[..length].trim_end_matches(['.', ',', ';', ':', '!', '?', '*']);
        if !link.is_empty() {
            found.push((at, at + link.len()));
        }
    }
    found
}

/// Whether a link leads to the item: its address ends with the id as a part of its own.
pub(super) fn leads_to(link: &str, id: &str) -> bool {
    let numeric = id.bytes().all(|b| b.is_ascii_digit());
    let too_short = numeric && (id.len() < 3 || id.parse().is_ok_and(is_year));
    if too_short || id.len() < 2 {
        return false;
    }
    let trimmed = |link: &str| link.trim_end_matches('/').to_owned();
    let path = link.split(['?', '#']).next().unwrap_or(link);
    let stem = [".html", ".htm", ".md", ".pdf"].iter().find_map(|end| path.strip_suffix(end));
    [trimmed(link), trimmed(path), trimmed(stem.unwrap_or(path))].iter().any(|address| {
        let Some(before) = address.strip_suffix(id) else { return false };
        before.is_empty() || before.ends_with(['/', '=', '#', ':', '?', '&'])
    })
}

/// A year in brackets dates something.
pub(super) fn is_year(number: u64) -> bool {
    (1_900..=2_100).contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_the_id_at_its_end() {
        for (link, id, expected) in [
            ("https://w.example/ops/kb-5520", "kb-5520", true),
            ("https://w.example/ops/kb-5520.html#top", "kb-5520", true),
            ("https://w.example/ops?doc=kb-5520", "kb-5520", true),
            ("https://w.example/ops/xkb-5520", "kb-5520", false),
            ("https://w.example/ops/kb-5520/next", "kb-5520", false),
            ("https://docs.example/3", "3", false),
            ("https://t.example/4711/", "4711", true),
        ] {
            assert_eq!(leads_to(link, id), expected, "{link} {id}");
        }
    }
}
