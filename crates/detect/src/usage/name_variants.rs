//! Derives the shorter names under which an answer may mention an item.

use super::name::{ItemName, MAX_NAME_BYTES, NamePart, PathTail};
use super::tokenizer::{Token, TokenKind, TokenizedText};
use super::weight::{WordWeight, weigh_word};
use super::word_lists::word_lists;
use crate::text::hash;

const MAX_PATH_PARTS: usize = 4;
const MIN_TITLE_WEIGHT: f32 = 1.0;

pub(super) fn derive_names(name: &str) -> Vec<ItemName> {
    let mut names: Vec<ItemName> = Vec::new();
    let trimmed = name[..name.floor_char_boundary(MAX_NAME_BYTES)].trim();
    let Some(whole) = ItemName::parse(trimmed) else { return names };
    let heads = derive_heads(&whole);
    names.push(whole);
    // "tarpitd(8)" and "Leaflet 44: home office" are also known by the part before the mark.
    if let Some((head, _)) = trimmed.split_once(['(', '[']) {
        names.extend(ItemName::parse(head).filter(ItemName::is_distinctive));
    }
    if let Some((head, _)) = trimmed.split_once([':', ',', '–', '—']) {
        names.extend(
            ItemName::parse(head).filter(|n| n.is_distinctive() && n.has_letters_and_digits()),
        );
    }
    names.extend(heads);
    if trimmed.contains(char::is_whitespace) {
        names.extend(derive_titles(trimmed));
        return names;
    }
    let starts = part_starts(trimmed);
    if let Some(last) = starts.last().copied().filter(|last| *last > 0) {
        names.extend(derive_tails(trimmed, last, &starts));
    } else if let Some(stem) = file_stem(trimmed) {
        names.extend(ItemName::parse(stem).filter(|n| n.last > n.first));
    }
    names
}

/// The name without its category: "Nimbus 3000" of a scooter, "Kestrel" of a queue client. Such a
/// name needs support from the content.
fn derive_heads(name: &ItemName) -> Vec<ItemName> {
    if name.last == name.first || name.is_identifier {
        return Vec::new();
    }
    let tokens = &name.tokenized.tokens;
    let is_figure = |p: &Token| matches!(p.kind, TokenKind::Number | TokenKind::Mixed);
    let near = name.first + 1..=name.last.min(name.first + 2);
    let figure = near.into_iter().find(|at| is_figure(&tokens[*at]));
    let first = &tokens[name.first];
    let rare = first.is_capitalised && first.folded_bytes() >= 5;
    let rare = rare && weigh_word(&name.tokenized, first) == WordWeight::Rare;
    let lasts = [figure, rare.then_some(name.first)];
    let heads = lasts.into_iter().flatten().filter(|last| *last < name.last);
    heads.map(|last| ItemName { last, part: NamePart::Head, ..name.clone() }).collect()
}

/// Titles without site or chapter: "How to rotate keys | Acme Docs", "React Hooks - useEffect".
fn derive_titles(name: &str) -> Vec<ItemName> {
    let mut found = Vec::new();
    let site = [" | ", " - ", " – ", " — ", " · ", " • ", " :: "];
    let chapter = [" > ", " › ", " » ", " / ", " -> ", " → "];
    let mut keep = |title: &str| {
        let Some(name) = ItemName::parse(title) else { return };
        let count = name.tokens().len();
        let distinctive = count >= 3 && name.weight >= MIN_TITLE_WEIGHT;
        if is_code_title(title) || distinctive || (count >= 2 && name.is_distinctive()) {
            found.push(ItemName { part: NamePart::Title, ..name });
        }
    };
    for mark in site {
        let Some((title, detail)) = name.rsplit_once(mark) else { continue };
        // The part after the separator is the site, unless it is code; then the part before is a
        // chapter.
        keep(if is_code_title(detail) { detail } else { title });
    }
    for mark in chapter {
        if let Some((_, title)) = name.rsplit_once(mark) {
            keep(title);
        }
    }
    found
}

/// True for an identifier of several tokens or with digits: `useEffect`, `/v1/keys`.
fn is_code_title(title: &str) -> bool {
    let is_identifier = |n: &ItemName| !n.is_one_word() || n.has_letters_and_digits();
    !title.contains(char::is_whitespace)
        && ItemName::parse(title).is_some_and(|n| is_identifier(&n))
}

/// Byte offsets at which the parts of a path or qualified name start; one part for other names.
fn part_starts(name: &str) -> Vec<usize> {
    let path = name.contains(['/', '\\']);
    let mut starts = vec![0];
    let body = file_stem(name).unwrap_or(name);
    for (at, c) in name.char_indices() {
        let border = match c {
            '/' | '\\' | '#' => true,
            ':' => name[..at].ends_with(':'),
            // A dot in a path belongs to the file name.
            '.' => !path && at < body.len() && body.len() == name.len(),
            _ => false,
        };
        let start = at + c.len_utf8();
        if border && name[start..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            starts.push(start);
        }
    }
    starts
}

fn file_stem(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let known = word_lists().file_endings.contains(ending.to_lowercase().as_str());
    (known && !stem.is_empty()).then_some(stem)
}

fn derive_tails(name: &str, last_start: usize, starts: &[usize]) -> Vec<ItemName> {
    let tokenized = TokenizedText::new(name);
    let token_at = |byte: usize| tokenized.tokens.iter().position(|p| p.start as usize >= byte);
    let (Some(first), Some(last)) = (token_at(last_start), tokenized.tokens.len().checked_sub(1))
    else {
        return Vec::new();
    };
    let mut before: Vec<usize> =
        starts.iter().rev().skip(1).filter_map(|at| token_at(*at)).collect();
    before.truncate(MAX_PATH_PARTS);
    let text = &name[last_start..];
    let stem = file_stem(text);
    let stem_tokens = stem.map(|stem| TokenizedText::new(stem).tokens.len()).filter(|n| *n > 0);
    let tail = |last: usize, file: Option<String>| {
        let stem_last = stem_tokens.map_or(last, |n| first + n - 1);
        let key = hash(0, tokenized.folded_range(first, stem_last).as_bytes());
        let lists = word_lists();
        let is_ordinary = lists.platform.contains(&key) || lists.common_files.contains(&key);
        let part = PathTail { preceding_parts: before.clone(), file, is_ordinary };
        ItemName::from_range(name, tokenized.clone(), first, last, NamePart::Tail(part))
    };
    let mut found = vec![tail(last, stem.map(|_| text.to_owned()))];
    if let Some(tokens) = stem_tokens.filter(|tokens| *tokens > 1) {
        found.push(tail(first + tokens - 1, None));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_symbols_and_titles_have_shorter_names() {
        for (full, expected) in [
            ("src/auth/login.py", &["srcauthloginpy", "loginpy"][..]),
            ("src/auth/reset_form.py", &["srcauthresetformpy", "resetformpy", "resetform"]),
            (
                "com.acme.billing.InvoiceService",
                &["comacmebillinginvoiceservice", "invoiceservice"],
            ),
            ("PaymentGateway#charge", &["paymentgatewaycharge", "charge"]),
            ("a::b::RetryPlan", &["abretryplan", "retryplan"]),
            ("values-staging.yaml", &["valuesstagingyaml", "valuesstaging"]),
            ("React Hooks - useEffect", &["reacthooksuseeffect", "react", "useeffect"]),
            (
                "How to rotate the API keys | Acme Docs",
                &["torotatetheapikeysacmedocs", "torotatetheapikeys"],
            ),
            ("Limits | Acme", &["limitsacme"]),
            ("", &[]),
            ("///", &[]),
            ("a/", &["a"]),
        ] {
            let names = derive_names(full);
            let joined: Vec<&str> = names.iter().map(ItemName::joined_text).collect();
            assert_eq!(joined, expected, "{full}");
        }
    }
}
