//! Which queries are the same question: a number that is the same for the same question.
//!
//! Words that carry no meaning are dropped, endings are cut, and the order is forgotten, so that "How
//! do I reset my password?" and "password reset" fall together. The number is the same in every
//! version of the program and on every machine: it is stored.

use serde::{Deserialize, Serialize};

/// A question, whatever its wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QueryCluster(pub u64);

/// Words of a query that are read.
const MOST_WORDS: usize = 64;
/// Shorter stems are not cut further.
const SHORTEST_STEM: usize = 4;

/// Words that ask, join or are polite, in the languages we know best.
const EMPTY: &str = " a an the this that these those it its i me my mine we us our you your is are was were be been am \
    do does did done have has had will would shall should can could may might must of in on at by for with from to into \
    about as and or but if so there here what which who whom whose when where why how please tell show give explain want \
    need know help hi hello hey thanks thank get make way ways some any \
    der die das den dem des ein eine einen einem einer ist sind war und oder aber ich du er sie es wir ihr mein meine \
    mir mich von zu zum zur mit auf für im in am bei wie was wer wo wann warum kann man bitte \
    el la los las un una es son y o yo mi me se de del a en con por para que qué como cómo cuál dónde cuándo puedo \
    le les un une des du est sont et ou je tu il elle nous vous mon ma mes au aux dans avec pour par sur qui quoi comment \
    quand pourquoi peut puis il lo gli uno una di da che come dove quando perché posso o os as um uma do da em no na com \
    por onde não de het een en of ik je hoe wat waar wanneer kan ";

/// The words that carry no meaning.
pub(crate) fn empty_words() -> impl Iterator<Item = &'static str> {
    EMPTY.split_whitespace()
}

/// The cluster of a query by its words. A query without words is a cluster by its text.
pub fn cluster_of_text(query: &str) -> QueryCluster {
    let lower = query.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    let mut stems: Vec<&str> = words.filter(|w| !is_empty(w)).take(MOST_WORDS).map(stem).collect();
    stems.sort_unstable();
    stems.dedup();
    if stems.is_empty() {
        stems.push(lower.trim());
    }
    let mut hash = Fnv::new();
    for stem in stems {
        hash.take(stem.as_bytes());
        hash.take(b" ");
    }
    QueryCluster(hash.0)
}

fn is_empty(word: &str) -> bool {
    EMPTY.split(' ').any(|empty| empty == word)
}

/// Cuts the commonest endings of English; in other languages it cuts little.
pub(crate) fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.bytes().any(|b| b.is_ascii_digit()) {
        return word;
    }
    for ending in ["ing", "ies", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending) {
            let kept = ending == "s" && stem.ends_with('s');
            if stem.len() >= SHORTEST_STEM && !kept {
                return single(stem.strip_suffix('e').unwrap_or(stem));
            }
        }
    }
    match word.strip_suffix(['e', 'y']) {
        Some(stem) if stem.len() >= SHORTEST_STEM => stem,
        Some(_) | None => word,
    }
}

/// "resett" is "reset": a consonant is doubled before an ending.
fn single(stem: &str) -> &str {
    match stem.as_bytes() {
        [.., a, b] if a == b && !b"aeiousl".contains(b) => &stem[..stem.len() - 1],
        _ => stem,
    }
}

/// FNV-1a of 64 bits: the same everywhere and for ever.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_in_other_words_falls_together() {
        for (one, other) in [
            ("How do I reset my password?", "password reset"),
            ("How do I reset my password?", "how can I reset passwords"),
            ("Resetting the password, please", "reset password"),
            ("Wie kündige ich den Vertrag?", "Vertrag: wie kündige ich?"),
            ("¿Cómo cambio la contraseña?", "como cambio mi contraseña"),
        ] {
            assert_eq!(cluster_of_text(one), cluster_of_text(other), "{one} / {other}");
        }
    }

    #[test]
    fn other_questions_stay_apart() {
        for (one, other) in [
            ("reset password", "reset router"),
            ("error 404", "error 500"),
            ("???", "!!!"),
            ("", "x"),
        ] {
            assert_ne!(cluster_of_text(one), cluster_of_text(other), "{one} / {other}");
        }
    }

    #[test]
    fn a_cluster_never_changes() {
        // Stored: another number here means that everything learnt by question is lost.
        assert_eq!(
            cluster_of_text("How do I reset my password?"),
            cluster_of_text("RESET PASSWORD")
        );
        assert_eq!(cluster_of_text("reset password").0, 0x8be1_a0a5_7c95_4155);
    }
}
