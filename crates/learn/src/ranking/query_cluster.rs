//! Query clusters: one number for all wordings of the same question.
//!
//! Stop words and endings are dropped and word order is ignored, so "How do I reset my password?"
//! and "password reset" match. The number is stored, so it must be identical across releases and
//! machines.

use model::hash::Fnv64;
use serde::{Deserialize, Serialize};

use crate::text::list_contains;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QueryCluster(pub u64);

const MAX_QUERY_WORDS: usize = 64;
/// Stems are never cut shorter than this.
const MIN_STEM_BYTES: usize = 4;

/// Question words, conjunctions and politeness in the supported languages.
const STOP_WORDS: &str = " a an the this that these those it its i me my mine we us our you your is are was were be been am \
    do does did done have has had will would shall should can could may might must of in on at by for with from to into \
    about as and or but if so there here what which who whom whose when where why how please tell show give explain want \
    need know help hi hello hey thanks thank get make way ways some any \
    der die das den dem des ein eine einen einem einer ist sind war und oder aber ich du er sie es wir ihr mein meine \
    mir mich von zu zum zur mit auf für im in am bei wie was wer wo wann warum kann man bitte \
    el la los las un una es son y o yo mi me se de del a en con por para que qué como cómo cuál dónde cuándo puedo \
    le les un une des du est sont et ou je tu il elle nous vous mon ma mes au aux dans avec pour par sur qui quoi comment \
    quand pourquoi peut puis il lo gli uno una di da che come dove quando perché posso o os as um uma do da em no na com \
    por onde não de het een en of ik je hoe wat waar wanneer kan ";

pub(crate) fn stop_words() -> impl Iterator<Item = &'static str> {
    STOP_WORDS.split_whitespace()
}

/// Clusters a query by its stems. A query without words is clustered by its text.
pub fn cluster_query(query: &str) -> QueryCluster {
    let lower = query.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    let mut stems: Vec<&str> = words
        .filter(|w| !list_contains(STOP_WORDS, w))
        .take(MAX_QUERY_WORDS)
        .map(stem_word)
        .collect();
    stems.sort_unstable();
    stems.dedup();
    if stems.is_empty() {
        stems.push(lower.trim());
    }
    let mut hash = Fnv64::default();
    for stem in stems {
        hash = hash.add_bytes(stem.as_bytes()).add_byte(b' ');
    }
    QueryCluster(hash.0)
}

/// Cuts the most common English endings; other languages are mostly left alone.
pub(crate) fn stem_word(word: &str) -> &str {
    if !word.is_ascii() || word.bytes().any(|b| b.is_ascii_digit()) {
        return word;
    }
    for ending in ["ing", "ies", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending) {
            let kept = ending == "s" && stem.ends_with('s');
            if stem.len() >= MIN_STEM_BYTES && !kept {
                return undouble_consonant(stem.strip_suffix('e').unwrap_or(stem));
            }
        }
    }
    match word.strip_suffix(['e', 'y']) {
        Some(stem) if stem.len() >= MIN_STEM_BYTES => stem,
        Some(_) | None => word,
    }
}

/// "resett" becomes "reset": English doubles the consonant before an ending.
fn undouble_consonant(stem: &str) -> &str {
    match stem.as_bytes() {
        [.., a, b] if a == b && !b"aeiousl".contains(b) => &stem[..stem.len() - 1],
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rephrased_questions_share_a_cluster() {
        for (one, other) in [
            ("How do I reset my password?", "password reset"),
            ("How do I reset my password?", "how can I reset passwords"),
            ("Resetting the password, please", "reset password"),
            ("Wie kündige ich den Vertrag?", "Vertrag: wie kündige ich?"),
            ("¿Cómo cambio la contraseña?", "como cambio mi contraseña"),
        ] {
            assert_eq!(cluster_query(one), cluster_query(other), "{one} / {other}");
        }
    }

    #[test]
    fn different_questions_get_different_clusters() {
        for (one, other) in [
            ("reset password", "reset router"),
            ("error 404", "error 500"),
            ("???", "!!!"),
            ("", "x"),
        ] {
            assert_ne!(cluster_query(one), cluster_query(other), "{one} / {other}");
        }
    }

    #[test]
    fn query_cluster_is_stable_across_releases() {
        // Stored value: a change loses all relevance data by cluster.
        assert_eq!(cluster_query("How do I reset my password?"), cluster_query("RESET PASSWORD"));
        assert_eq!(cluster_query("reset password").0, 0x8be1_a0a5_7c95_4155);
    }
}
