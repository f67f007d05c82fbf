//! Terms of a remark with their polarity, so that opposite remarks do not count as agreement.
//!
//! "Completed orders only" and "not completed orders only" have the same words. Each term therefore
//! carries the negation or direction before it in its clause ("not", "instead of", "under").
//! Numbers are terms. A plain question ("why completed orders only?") requests nothing.

use std::collections::BTreeSet;

use super::words::is_content_word;
use crate::ranking::stem_word;
use crate::text::list_contains;

const MAX_WORDS: usize = 200;

#[rustfmt::skip]
const NEGATIONS: &str = " not no never none nor neither cannot without except excluding exclude excludes omit omitting \
    ignore ignoring avoid avoiding skip skipping remove removing drop hide stop unlike statt anstatt anstelle \
    nicht kein keine keinen keiner keines nie niemals ohne außer weder ne pas jamais aucun aucune sans sauf non \
    sin nunca jamás ningún ninguna excepto não nunca sem nem niet geen nooit zonder mai senza nessun nessuna \
    не нет без никогда ";
/// Words that state what the answer did, the opposite of a request.
const PAST_EXCLUSIONS: &str =
    " excluded ignored omitted avoided skipped removed dropped hid stopped ";
/// Words that give what follows a direction.
#[rustfmt::skip]
const DIRECTIONS: &[(&str, &str)] = &[
    ("more", " more above over exceeding higher larger greater mehr über plus más mais più meer "),
    ("less", " less fewer under below beneath lower smaller weniger unter moins menos meno minder "),
    ("before", " before until prior vor bis avant antes prima voor "),
    ("after", " after since from nach seit ab après después desde dopo na "),
];
const CONTRAST_CONJUNCTIONS: &str = " but sondern aber mais sino pero ma maar mas ";
/// Words that identify French, where "mais" is "but". In Portuguese it is "more".
#[rustfmt::skip]
const FRENCH_WORDS: &str = " le les des du une et est sont pas non je il elle nous vous ils ne au aux avec pour dans sur sans \
    ce cette ces votre notre leur seulement veux voudrais voulais ";
/// Words that start a question about a reason.
const WHY_WORDS: &str = " why warum wieso weshalb pourquoi perché waarom porque почему ";
#[rustfmt::skip]
const REQUEST_OPENINGS: &str = " can could would will may please kannst könntest können könnten würdest bitte peux pouvez \
    pourriez puedes puede podrías pode poderia puoi potresti kun kunt kan ";

/// Extracts the stems that a text requests, each prefixed by its polarity.
pub(crate) fn extract_signed_terms(text: &str) -> BTreeSet<String> {
    let mut budget = MAX_WORDS;
    let mut found = BTreeSet::new();
    for sentence in split_sentences(text) {
        let words = sentence.split(is_separator).find(|word| !word.is_empty());
        let first = words.unwrap_or_default();
        if list_contains(WHY_WORDS, first)
            || (sentence.ends_with('?') && !list_contains(REQUEST_OPENINGS, first))
        {
            continue;
        }
        for clause in split_clauses(&sentence) {
            let words = &clause[..clause.len().min(budget)];
            budget -= words.len();
            found.extend(sign_terms(words));
        }
    }
    found
}

/// Lower-case sentences with their final punctuation. A point between digits does not end one.
fn split_sentences(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('’', "'");
    let letters: Vec<char> = lower.chars().collect();
    let mut found = vec![String::new()];
    for (at, c) in letters.iter().enumerate() {
        let digit = |at: Option<usize>| {
            at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_ascii_digit())
        };
        let inside = matches!(c, '.' | ',') && digit(at.checked_sub(1)) && digit(Some(at + 1));
        let ends = matches!(c, '.' | '!' | '?' | ';' | '\n' | '？' | '。' | '！');
        if let Some(sentence) = found.last_mut() {
            // A placeholder letter keeps 1.5 one word.
            sentence.push(match c {
                _ if inside => '_',
                '？' => '?',
                other => *other,
            });
        }
        if ends && !inside {
            found.push(String::new());
        }
    }
    found.into_iter().map(|sentence| sentence.trim().to_owned()).collect()
}

fn split_clauses(sentence: &str) -> Vec<Vec<&str>> {
    let french = sentence.contains("mais")
        && sentence.split(is_separator).any(|word| list_contains(FRENCH_WORDS, word));
    let mut found = Vec::new();
    for part in sentence.split([',', ':', '(', ')', '—', '–']).flat_map(|part| part.split(" - "))
    {
        let mut clause = Vec::new();
        for word in part.split(is_separator).map(|word| word.trim_matches(['\'', '_'])) {
            if list_contains(CONTRAST_CONJUNCTIONS, word) && (french || word != "mais") {
                found.push(std::mem::take(&mut clause));
            } else if !word.is_empty() {
                clause.push(word.strip_suffix("'s").unwrap_or(word));
            }
        }
        found.push(clause);
    }
    found
}

/// Prefixes each content word with the negations before it in its clause. Words before a later
/// negation ("die Rechnungen nicht") get a prefix of their own.
fn sign_terms(clause: &[&str]) -> Vec<String> {
    let next = |at: usize, word: &str| clause.get(at + 1) == Some(&word);
    let negates = |at: usize, word: &str| {
        list_contains(NEGATIONS, word)
            || word.ends_with("n't")
            || (word == "instead" && next(at, "of"))
            || (word == "rather" && next(at, "than"))
    };
    let is_past = |word: &str| list_contains(PAST_EXCLUSIONS, word);
    let has_negation =
        clause.iter().enumerate().any(|(at, word)| negates(at, word) || is_past(word));
    let (mut negation, mut direction) = (String::new(), "");
    let mut found = Vec::new();
    for (at, word) in clause.iter().enumerate() {
        if negates(at, word) || is_past(word) {
            negation.push_str(if is_past(word) { "did " } else { "not " });
            direction = "";
        } else if let Some((name, _)) =
            DIRECTIONS.iter().find(|(_, words)| list_contains(words, word))
        {
            direction = name;
        } else if is_content_word(word) || word.chars().any(|c| c.is_ascii_digit()) {
            let mark =
                if has_negation && negation.is_empty() { "then-not " } else { negation.as_str() };
            found.push(format!("{mark}{direction}>{}", stem_word(word)));
        }
    }
    found
}

fn is_separator(c: char) -> bool {
    !c.is_alphanumeric() && c != '\'' && c != '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_terms_match_across_wordings() {
        let rows = [
            ("completed orders only", "No, completed orders only!"),
            ("completed orders only", "wrong. I want completed orders"),
            ("completed orders only", "Can you show completed orders?"),
            ("completed orders only", "Why this? Completed orders only."),
            ("exclude cancelled orders", "don’t include cancelled orders"),
            ("sales of 1.5 million", "Sales of 1.5 million, please"),
            ("completed orders, not cancelled", "completed orders but not cancelled"),
            ("commandes terminées, pas annulées", "les commandes terminées mais pas annulées"),
        ];
        for (one, other) in rows {
            let (one, other) = (extract_signed_terms(one), extract_signed_terms(other));
            assert!(one.is_subset(&other) || other.is_subset(&one), "{one:?} {other:?}");
        }
    }

    #[test]
    fn signed_terms_distinguish_opposites() {
        let rows = [
            ("completed orders only", "not completed orders only"),
            ("completed orders only", "never completed orders only"),
            ("completed orders only", "why completed orders only?"),
            ("completed orders only", "why completed orders only"),
            ("completed orders only", "completed orders only? no way"),
            ("completed orders, not cancelled", "cancelled orders, not completed"),
            ("completed orders not cancelled", "cancelled orders not completed"),
            ("I meant net, not gross", "I meant gross, not net"),
            ("net instead of gross", "gross instead of net"),
            ("net over gross", "gross over net"),
            ("sales of 2021", "sales of 2022"),
            ("sales of 1.5 million", "sales of 5.1 million"),
            ("orders under 500", "orders over 500"),
            ("orders under 500", "orders under 2000"),
            ("pedidos de 500", "pedidos com mais de 500"),
            ("more detail in tables", "less detail in tables"),
            ("include cancelled orders", "exclude cancelled orders"),
            ("you excluded cancelled orders", "exclude cancelled orders"),
            ("abgeschlossene Bestellungen zählen", "abgeschlossene Bestellungen nicht zählen"),
            ("commandes terminées", "pas de commandes terminées"),
        ];
        for (one, other) in rows {
            let (a, b) = (extract_signed_terms(one), extract_signed_terms(other));
            let apart =
                |x: &BTreeSet<String>, y: &BTreeSet<String>| x.is_empty() || !x.is_subset(y);
            assert!(apart(&a, &b) && apart(&b, &a), "{a:?} {b:?}");
        }
    }
}
