//! Japanese and Chinese, which have no spaces: clauses by punctuation, phrases as substrings.

use std::sync::LazyLock;

use model::Contrast;

use super::roles::load_substrings;
use crate::text::{hash, is_ideograph};
use crate::verdict::Exchange;

const MARKS: &str = "、，,。.!！?？…;；\n：:「」\"“”";
const MAX_JAPANESE_CHARS: usize = 20;
const MAX_CHINESE_CHARS: usize = 16;
const MAX_BARE_CHARS: usize = 8;
/// Clauses that are read.
const MAX_CLAUSES: usize = 12;

struct Lists {
    ja_not_but: Vec<&'static str>,
    ja_not_end: Vec<&'static str>,
    ja_got_end: Vec<&'static str>,
    ja_want_end: Vec<&'static str>,
    ja_reason: Vec<&'static str>,
    ja_filler: Vec<&'static str>,
    ja_tail: Vec<&'static str>,
    ja_comparing: Vec<&'static str>,
    ja_choosing: Vec<&'static str>,
    ja_pointer: Vec<&'static str>,
    ja_verb_end: Vec<&'static str>,
    zh_want: Vec<&'static str>,
    zh_not: Vec<&'static str>,
    zh_got: Vec<&'static str>,
    zh_between: Vec<&'static str>,
    zh_filler: Vec<&'static str>,
    zh_compound: Vec<&'static str>,
    tail: Vec<&'static str>,
    remark: Vec<&'static str>,
    asks: Vec<&'static str>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| Lists {
    ja_not_but: load_substrings("ja_not_but"),
    ja_not_end: load_substrings("ja_not_end"),
    ja_got_end: load_substrings("ja_got_end"),
    ja_want_end: load_substrings("ja_want_end"),
    ja_reason: load_substrings("ja_reason"),
    ja_filler: load_substrings("ja_filler"),
    ja_tail: load_substrings("ja_tail"),
    ja_comparing: load_substrings("ja_comparing"),
    ja_choosing: load_substrings("ja_choosing"),
    ja_pointer: load_substrings("ja_pointer"),
    ja_verb_end: load_substrings("ja_verb_end"),
    zh_want: load_substrings("zh_want"),
    zh_not: load_substrings("zh_not"),
    zh_got: load_substrings("zh_got"),
    zh_between: load_substrings("zh_between"),
    zh_filler: load_substrings("zh_filler"),
    zh_compound: load_substrings("zh_compound"),
    tail: load_substrings("cjk_tail"),
    remark: load_substrings("cjk_remark"),
    asks: load_substrings("cjk_asks"),
});

#[derive(Clone, Copy, Debug)]
struct Part<'a> {
    text: &'a str,
    mark: char,
}

impl Part<'_> {
    fn asks(self) -> bool {
        contains_any(self.text, &LISTS.asks) || "?？".contains(self.mark)
    }
}

pub(super) fn extract_unspaced_contrast(exchange: &Exchange<'_>) -> Option<Contrast> {
    let message = exchange.message.original();
    if contains_any(message, &LISTS.remark) {
        return None;
    }
    let parts = split_parts(message);
    let is_japanese = message.chars().any(|c| ('\u{3040}'..='\u{30ff}').contains(&c));
    let (wants, instead_of) = if is_japanese {
        extract_japanese(&parts, exchange)
    } else {
        extract_chinese(&parts, exchange)
    };
    let own = |side: Option<&str>| side.map(str::to_owned);
    let contrast = Contrast { wants: own(wants), instead_of: own(instead_of) };
    (contrast.wants.is_some() || contrast.instead_of.is_some()).then_some(contrast)
}

type Sides<'a> = (Option<&'a str>, Option<&'a str>);

fn split_parts(message: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let marks = message.char_indices().filter(|(_, c)| MARKS.contains(*c));
    for (at, mark) in marks.chain([(message.len(), ' ')]) {
        let text = message.get(start..at).unwrap_or_default().trim();
        if !text.is_empty() && parts.len() < MAX_CLAUSES {
            parts.push(Part { text, mark });
        }
        start = at + mark.len_utf8();
    }
    parts
}

fn contains_any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|phrase| text.contains(phrase))
}

/// The text before the longest phrase that ends it.
fn strip_end<'a>(text: &'a str, list: &[&str]) -> Option<&'a str> {
    list.iter().find_map(|end| text.strip_suffix(end)).filter(|rest| !rest.is_empty())
}

/// Removes fillers before a phrase and particles behind it.
fn trim_phrase<'a>(text: &'a str, fillers: &[&str], tails: &[&[&str]]) -> Option<&'a str> {
    let mut phrase = text.trim();
    loop {
        let before = phrase;
        let opened = fillers.iter().find_map(|filler| phrase.strip_prefix(filler));
        phrase = opened.map(str::trim).filter(|rest| !rest.is_empty()).unwrap_or(phrase);
        for list in tails {
            phrase = strip_end(phrase, list).map_or(phrase, str::trim);
        }
        if phrase == before {
            return (!phrase.is_empty() && !fillers.contains(&phrase)).then_some(phrase);
        }
    }
}

fn trim_japanese(text: &str) -> Option<&str> {
    trim_phrase(text, &LISTS.ja_filler, &[&LISTS.tail, &LISTS.ja_tail])
}

fn trim_chinese(text: &str) -> Option<&str> {
    let phrase = trim_phrase(text, &LISTS.zh_filler, &[&LISTS.tail])?;
    (phrase.chars().count() <= MAX_CHINESE_CHARS).then_some(phrase)
}

/// True when the answer has at least half of the signs of the phrase.
fn is_in_answer(phrase: &str, exchange: &Exchange<'_>) -> bool {
    is_in(phrase, |sign| {
        exchange.answer.is_some_and(|answer| answer.content.binary_search(&sign).is_ok())
    })
}

fn is_in_question(phrase: &str, exchange: &Exchange<'_>) -> bool {
    is_in(phrase, |sign| exchange.question.is_some_and(|q| q.word_hashes.contains(&sign)))
}

fn is_in(phrase: &str, contains: impl Fn(u32) -> bool) -> bool {
    // Kana carry grammar.
    let is_kana = |c: &char| ('\u{3040}'..='\u{309f}').contains(c);
    let signs: Vec<char> = phrase.chars().filter(|c| is_ideograph(*c) && !is_kana(c)).collect();
    if signs.is_empty() {
        let word = phrase.trim().to_lowercase();
        return contains(hash(0, word.as_bytes()));
    }
    let mut buffer = [0; 4];
    let known = |c: &&char| contains(hash(0, c.encode_utf8(&mut buffer).as_bytes()));
    signs.iter().filter(known).count() * 2 >= signs.len()
}

fn extract_japanese<'a>(parts: &[Part<'a>], exchange: &Exchange<'_>) -> Sides<'a> {
    let parts: Vec<Part<'a>> = parts
        .iter()
        .filter(|part| !part.asks() || japanese_wish(part.text).is_some())
        .copied()
        .collect();
    if let Some((wants, instead_of)) = japanese_pair(&parts) {
        return (Some(wants), Some(instead_of));
    }
    let (mut wants, mut instead_of) = (None, None);
    for part in &parts {
        let unwanted = match instead_of {
            None => japanese_unwanted(part.text, exchange),
            Some(_) => None,
        };
        if unwanted.is_some() {
            instead_of = unwanted;
        } else if wants.is_none() {
            wants = japanese_wish(part.text);
        }
    }
    if let ([part], None, None) = (&parts[..], wants, instead_of) {
        let is_short = part.text.chars().count() <= MAX_BARE_CHARS;
        let ends_in_verb = strip_end(part.text, &LISTS.ja_verb_end).is_some();
        wants = trim_japanese(part.text).filter(|_| is_short && !ends_in_verb);
    }
    (wants.filter(|wants| wants.chars().count() <= MAX_JAPANESE_CHARS), instead_of)
}

/// "YではなくてX". X may be in the next clause.
fn japanese_pair<'a>(parts: &[Part<'a>]) -> Option<(&'a str, &'a str)> {
    parts.iter().enumerate().find_map(|(index, part)| {
        let splits =
            LISTS.ja_not_but.iter().filter_map(|but| Some((but, part.text.split_once(but)?)));
        splits.into_iter().find_map(|(but, (before, after))| {
            let next = || parts.get(index + 1).map(|part| part.text);
            let after = if after.is_empty() { next()? } else { after };
            if LISTS.ja_comparing.contains(but) && !contains_any(after, &LISTS.ja_choosing) {
                return None;
            }
            let wants = japanese_wish(after).or_else(|| trim_japanese(after))?;
            let instead_of = trim_japanese(before)?;
            let is_short = |side: &str| side.chars().count() <= MAX_JAPANESE_CHARS;
            (is_short(wants) && is_short(instead_of)).then_some((wants, instead_of))
        })
    })
}

fn japanese_wish(text: &str) -> Option<&str> {
    let reasons = LISTS.ja_reason.iter().filter_map(|reason| text.rsplit_once(reason));
    let behind =
        reasons.map(|(_, rest)| rest).filter(|rest| !rest.is_empty()).min_by_key(|r| r.len());
    strip_end(behind.unwrap_or(text), &LISTS.ja_want_end).and_then(trim_japanese)
}

fn japanese_unwanted<'a>(text: &'a str, exchange: &Exchange<'_>) -> Option<&'a str> {
    if let Some(denied) = strip_end(text, &LISTS.ja_not_end) {
        return trim_japanese(denied);
    }
    let given = strip_end(text, &LISTS.ja_got_end).and_then(trim_japanese)?;
    let pointed = LISTS.ja_pointer.iter().find_map(|pointer| given.strip_prefix(pointer));
    let given = pointed.unwrap_or(given);
    is_in_answer(given, exchange).then_some(given)
}

fn extract_chinese<'a>(parts: &[Part<'a>], exchange: &Exchange<'_>) -> Sides<'a> {
    let (mut wants, mut instead_of) = (None, None);
    for part in parts.iter().filter(|part| !part.asks()) {
        match read_chinese(part.text) {
            Some(ChinesePart::Both { wants: x, instead_of: y }) => {
                wants = wants.or(x);
                instead_of = instead_of.or(y);
            }
            Some(ChinesePart::Given(given)) => instead_of = instead_of.or(Some(given)),
            Some(ChinesePart::Denied(denied)) => {
                let others = parts.iter().filter(|other| other.text != part.text);
                let is_named = is_in_answer(denied, exchange)
                    || parts.len() == 1
                    || others.into_iter().any(|other| shares_signs(denied, other.text));
                instead_of = instead_of.or(is_named.then_some(denied));
            }
            Some(ChinesePart::Wanted(wanted)) => wants = wants.or(Some(wanted)),
            None => {}
        }
    }
    if wants.is_none() {
        wants = bare_chinese(parts, instead_of.is_some());
    }
    let is_inverted = wants.zip(instead_of).is_some_and(|(wants, instead_of)| {
        is_in_answer(wants, exchange)
            && !is_in_answer(instead_of, exchange)
            && !is_in_question(wants, exchange)
    });
    if is_inverted { (None, None) } else { (wants, instead_of) }
}

enum ChinesePart<'a> {
    Both { wants: Option<&'a str>, instead_of: Option<&'a str> },
    Given(&'a str),
    Denied(&'a str),
    Wanted(&'a str),
}

/// Bytes before a marker at the start of a clause: two signs.
const MAX_LEAD_BYTES: usize = 6;

fn read_chinese(text: &str) -> Option<ChinesePart<'_>> {
    let behind = |at: usize, marker: &str| text.get(at + marker.len()..).and_then(trim_chinese);
    match find_first(text, &LISTS.zh_not) {
        Some((at, between)) if at > 0 && LISTS.zh_between.contains(&between) => {
            let before = text.get(..at)?;
            let wants = chinese_wish(before).or_else(|| trim_chinese(before));
            Some(ChinesePart::Both { wants, instead_of: behind(at, between) })
        }
        Some((at, marker)) if at <= MAX_LEAD_BYTES => behind(at, marker).map(ChinesePart::Denied),
        Some(_) => None,
        None => match find_first(text, &LISTS.zh_got) {
            Some((at, marker)) if at <= MAX_LEAD_BYTES => {
                behind(at, marker).map(ChinesePart::Given)
            }
            _ => chinese_wish(text).map(ChinesePart::Wanted),
        },
    }
}

/// The phrase behind the longest marker. A marker of one sign counts only at the start.
fn chinese_wish(text: &str) -> Option<&str> {
    LISTS.zh_want.iter().find_map(|marker| {
        let (before, after) = text.split_once(marker)?;
        let is_single = marker.chars().count() == 1;
        let is_inside = before.chars().count() > 1 || contains_any(text, &LISTS.zh_compound);
        if is_single && is_inside { None } else { trim_chinese(after) }
    })
}

/// A short first clause without any marker.
fn bare_chinese<'a>(parts: &[Part<'a>], has_unwanted: bool) -> Option<&'a str> {
    let first = parts.first()?;
    let is_short = first.text.chars().count() <= MAX_BARE_CHARS;
    let is_marked = find_first(first.text, &LISTS.zh_not).is_some()
        || find_first(first.text, &LISTS.zh_got).is_some();
    let stands_alone = parts.len() == 1 || has_unwanted;
    (!first.asks() && is_short && !is_marked && stands_alone)
        .then(|| trim_chinese(first.text))
        .flatten()
}

/// The first phrase of the list in the text; of several at one place, the longest.
fn find_first<'l>(text: &str, list: &[&'l str]) -> Option<(usize, &'l str)> {
    let found = list.iter().filter_map(|phrase| Some((text.find(phrase)?, *phrase)));
    found.min_by_key(|(at, phrase)| (*at, std::cmp::Reverse(phrase.len())))
}

fn shares_signs(one: &str, other: &str) -> bool {
    let signs: Vec<char> = one.chars().collect();
    signs.windows(2).any(|pair| other.contains(&pair.iter().collect::<String>()))
}
