//! Derives the shorter names under which an answer may mention an item.

use super::name::{LONGEST_NAME, Name, Part, Tail};
use super::tokenizer::{Piece, Reading, Sort};
use super::weight::{Weight, weight_of};
use super::word_lists::lists;
use crate::text::hash;

/// Maximum preceding path components that are kept.
const MOST_PARTS: usize = 4;
/// Minimum weight of a title, so that it is not a common phrase.
const TITLE_WEIGHT: f32 = 1.0;

/// Variants of a name, the full one first.
pub(super) fn names_of(name: &str) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let trimmed = name[..name.floor_char_boundary(LONGEST_NAME)].trim();
    let Some(whole) = Name::of(trimmed) else { return names };
    let heads = heads_of(&whole);
    names.push(whole);
    // "tarpitd(8)" and "Leaflet 44: home office" are also known by the part before the mark.
    if let Some((head, _)) = trimmed.split_once(['(', '[']) {
        names.extend(Name::of(head).filter(Name::is_distinctive));
    }
    if let Some((head, _)) = trimmed.split_once([':', ',', '–', '—']) {
        names.extend(Name::of(head).filter(|n| n.is_distinctive() && n.has_letters_and_digits()));
    }
    names.extend(heads);
    if trimmed.contains(char::is_whitespace) {
        names.extend(titles_of(trimmed));
        return names;
    }
    let starts = part_starts(trimmed);
    if let Some(last) = starts.last().copied().filter(|last| *last > 0) {
        names.extend(tails_of(trimmed, last, &starts));
    } else if let Some(stem) = stem_of(trimmed) {
        names.extend(Name::of(stem).filter(|n| n.last > n.first));
    }
    names
}

/// The name without its category: "Nimbus 3000" of a scooter, "Kestrel" of a queue client. Such a
/// name needs support from the content.
fn heads_of(name: &Name) -> Vec<Name> {
    if name.last == name.first || name.is_identifier {
        return Vec::new();
    }
    let pieces = &name.reading.pieces;
    let is_figure = |p: &Piece| matches!(p.sort, Sort::Number | Sort::Mixed);
    let near = name.first + 1..=name.last.min(name.first + 2);
    let figure = near.into_iter().find(|at| is_figure(&pieces[*at]));
    let first = &pieces[name.first];
    let rare = first.capital && first.to - first.from >= 5;
    let rare = rare && weight_of(&name.reading, first) == Weight::Rare;
    let lasts = [figure, rare.then_some(name.first)];
    let heads = lasts.into_iter().flatten().filter(|last| *last < name.last);
    heads.map(|last| Name { last, part: Part::Head, ..name.clone() }).collect()
}

/// Titles without site or chapter: "How to rotate keys | Acme Docs", "React Hooks - useEffect".
fn titles_of(name: &str) -> Vec<Name> {
    let mut found = Vec::new();
    let site = [" | ", " - ", " – ", " — ", " · ", " • ", " :: "];
    let chapter = [" > ", " › ", " » ", " / ", " -> ", " → "];
    let mut keep = |title: &str| {
        let Some(name) = Name::of(title) else { return };
        let count = name.pieces().len();
        let telling = count >= 3 && name.weight >= TITLE_WEIGHT;
        if is_code(title) || telling || (count >= 2 && name.is_distinctive()) {
            found.push(Name { part: Part::Title, ..name });
        }
    };
    for mark in site {
        let Some((title, detail)) = name.rsplit_once(mark) else { continue };
        // The part after the separator is the site, unless it is code; then the part before is a
        // chapter.
        if is_code(detail) {
            keep(detail);
        } else {
            keep(title);
        }
    }
    for mark in chapter {
        if let Some((_, title)) = name.rsplit_once(mark) {
            keep(title);
        }
    }
    found
}

/// True for an identifier of several tokens or with digits: `useEffect`, `/v1/keys`.
fn is_code(title: &str) -> bool {
    let is_identifier = |n: &Name| !n.is_one_word() || n.has_letters_and_digits();
    !title.contains(char::is_whitespace) && Name::of(title).is_some_and(|n| is_identifier(&n))
}

/// Byte offsets at which the parts of a path or qualified name start; one part for other names.
fn part_starts(name: &str) -> Vec<usize> {
    let path = name.contains(['/', '\\']);
    let mut starts = vec![0];
    let body = stem_of(name).unwrap_or(name);
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

fn stem_of(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let known = lists().file_endings.contains(ending.to_lowercase().as_str());
    (known && !stem.is_empty()).then_some(stem)
}

fn tails_of(name: &str, last_start: usize, starts: &[usize]) -> Vec<Name> {
    let reading = Reading::of(name);
    let piece_at = |byte: usize| reading.pieces.iter().position(|p| p.start as usize >= byte);
    let (Some(first), Some(last)) = (piece_at(last_start), reading.pieces.len().checked_sub(1))
    else {
        return Vec::new();
    };
    let mut before: Vec<usize> =
        starts.iter().rev().skip(1).filter_map(|at| piece_at(*at)).collect();
    before.truncate(MOST_PARTS);
    let text = &name[last_start..];
    let stem = stem_of(text);
    let stem_pieces = stem.map(|stem| Reading::of(stem).pieces.len()).filter(|n| *n > 0);
    let is_platform = |last: usize| {
        let from = reading.pieces[first].from as usize;
        let joined = &reading.folded[from..reading.pieces[last].to as usize];
        let key = hash(0, joined.as_bytes());
        (lists().platform.contains(&key), lists().every_project.contains(&key))
    };
    let tail = |last: usize, file: Option<String>| {
        let (platform, ordinary) = is_platform(stem_pieces.map_or(last, |n| first + n - 1));
        let part = Tail { before: before.clone(), file, is_ordinary: platform || ordinary };
        Name::between(name, reading.clone(), first, last, Part::Tail(part))
    };
    let mut found = vec![tail(last, stem.map(|_| text.to_owned()))];
    if let Some(pieces) = stem_pieces.filter(|pieces| *pieces > 1) {
        found.push(tail(first + pieces - 1, None));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_a_symbol_and_a_title_have_shorter_names() {
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
            let names = names_of(full);
            let joined: Vec<&str> = names.iter().map(Name::joined).collect();
            assert_eq!(joined, expected, "{full}");
        }
    }
}
