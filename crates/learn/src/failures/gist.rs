//! What a remark asks for, so that those who say the opposite are not taken for agreeing.
//!
//! Words alone do not tell: "completed orders only" and "not completed orders only" have the same. So
//! a word is kept with what turns it round in its clause ("not", "instead of", "under"), numbers are
//! words too, and what is only asked ("why completed orders only?") asks for nothing.

use std::collections::BTreeSet;

use super::words::carries_meaning;
use crate::ranking::stem_word;

/// Words of a remark that are read.
const MOST_WORDS: usize = 200;

/// Denies what follows it.
#[rustfmt::skip]
const DENYING: &str = " not no never none nor neither cannot without except excluding exclude excludes omit omitting \
    ignore ignoring avoid avoiding skip skipping remove removing drop hide stop unlike statt anstatt anstelle \
    nicht kein keine keinen keiner keines nie niemals ohne außer weder ne pas jamais aucun aucune sans sauf non \
    sin nunca jamás ningún ninguna excepto não nunca sem nem niet geen nooit zonder mai senza nessun nessuna \
    не нет без никогда ";
/// Says that the answer did so, which is the opposite of asking for it.
const DID: &str = " excluded ignored omitted avoided skipped removed dropped hid stopped ";
/// Gives a direction to what follows it.
#[rustfmt::skip]
const DIRECTIONS: &[(&str, &str)] = &[
    ("more", " more above over exceeding higher larger greater mehr über plus más mais più meer "),
    ("less", " less fewer under below beneath lower smaller weniger unter moins menos meno minder "),
    ("before", " before until prior vor bis avant antes prima voor "),
    ("after", " after since from nach seit ab après después desde dopo na "),
];
/// Begins another clause.
const TURNING: &str = " but sondern aber mais sino pero ma maar mas ";
/// Among these "mais" is "but"; in Portuguese it is "more".
#[rustfmt::skip]
const FRENCH: &str = " le les des du une et est sont pas non je il elle nous vous ils ne au aux avec pour dans sur sans \
    ce cette ces votre notre leur seulement veux voudrais voulais ";
/// Begins a question that asks for a reason.
const WHY: &str = " why warum wieso weshalb pourquoi perché waarom porque почему ";
/// Begins a question that is a request.
#[rustfmt::skip]
const REQUESTING: &str = " can could would will may please kannst könntest können könnten würdest bitte peux pouvez \
    pourriez puedes puede podrías pode poderia puoi potresti kun kunt kan ";

/// What a text asks for: its words without endings, each with what turns it round.
pub(crate) fn gist(text: &str) -> BTreeSet<String> {
    let mut left = MOST_WORDS;
    let mut found = BTreeSet::new();
    for sentence in sentences(text) {
        let words = sentence.split(is_between_words).find(|word| !word.is_empty());
        let first = words.unwrap_or_default();
        if is_in(WHY, first) || (sentence.ends_with('?') && !is_in(REQUESTING, first)) {
            continue;
        }
        for clause in clauses(&sentence) {
            let words = &clause[..clause.len().min(left)];
            left -= words.len();
            found.extend(turned(words));
        }
    }
    found
}

/// In lower case, each with the sign that ends it. A point between digits ends nothing.
fn sentences(text: &str) -> Vec<String> {
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
            // Kept as a letter, so that 1.5 stays one word.
            sentence.push(if inside {
                '_'
            } else if *c == '？' {
                '?'
            } else {
                *c
            });
        }
        if ends && !inside {
            found.push(String::new());
        }
    }
    found.into_iter().map(|sentence| sentence.trim().to_owned()).collect()
}

/// The words of each clause.
fn clauses(sentence: &str) -> Vec<Vec<&str>> {
    let french = sentence.contains("mais")
        && sentence.split(is_between_words).any(|word| is_in(FRENCH, word));
    let mut found = Vec::new();
    for part in sentence.split([',', ':', '(', ')', '—', '–']).flat_map(|part| part.split(" - "))
    {
        let mut clause = Vec::new();
        for word in part.split(is_between_words).map(|word| word.trim_matches(['\'', '_'])) {
            if is_in(TURNING, word) && (french || word != "mais") {
                found.push(std::mem::take(&mut clause));
            } else if !word.is_empty() {
                clause.push(word.strip_suffix("'s").unwrap_or(word));
            }
        }
        found.push(clause);
    }
    found
}

/// The words that carry meaning, marked by what stands before them in the clause. What is denied only
/// later ("die Rechnungen nicht") is marked too, and in another way.
fn turned(clause: &[&str]) -> Vec<String> {
    let next = |at: usize, word: &str| clause.get(at + 1) == Some(&word);
    let denies = |at: usize, word: &str| {
        is_in(DENYING, word)
            || word.ends_with("n't")
            || (word == "instead" && next(at, "of"))
            || (word == "rather" && next(at, "than"))
    };
    let any = clause.iter().enumerate().any(|(at, word)| denies(at, word) || is_in(DID, word));
    let (mut denied, mut direction) = (String::new(), "");
    let mut found = Vec::new();
    for (at, word) in clause.iter().enumerate() {
        if denies(at, word) || is_in(DID, word) {
            denied.push_str(if is_in(DID, word) { "did " } else { "not " });
            direction = "";
        } else if let Some((name, _)) = DIRECTIONS.iter().find(|(_, words)| is_in(words, word)) {
            direction = name;
        } else if carries_meaning(word) || word.chars().any(|c| c.is_ascii_digit()) {
            let mark = if any && denied.is_empty() { "then-not " } else { denied.as_str() };
            found.push(format!("{mark}{direction}>{}", stem_word(word)));
        }
    }
    found
}

fn is_between_words(c: char) -> bool {
    !c.is_alphanumeric() && c != '\'' && c != '_'
}

fn is_in(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_in_other_words_is_the_same() {
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
            let (one, other) = (gist(one), gist(other));
            assert!(one.is_subset(&other) || other.is_subset(&one), "{one:?} {other:?}");
        }
    }

    #[test]
    fn the_opposite_is_not_the_same() {
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
            let (a, b) = (gist(one), gist(other));
            let apart =
                |x: &BTreeSet<String>, y: &BTreeSet<String>| x.is_empty() || !x.is_subset(y);
            assert!(apart(&a, &b) && apart(&b, &a), "{a:?} {b:?}");
        }
    }
}
