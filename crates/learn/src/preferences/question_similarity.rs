//! Decides whether two answers from different conversations answer the same question.

use model::{Vector, dot};

use super::turn::PreferenceTurn;
use crate::question::normalise_question;

const MIN_SAME_COSINE: f32 = 0.95;
/// This many letters of an unspaced script carry as much as two words.
const MIN_UNSPACED_CHARS: usize = 6;

/// True for identical words, or for similar vectors with identical numbers. Vectors barely
/// distinguish years or versions.
pub(super) fn is_same_question(a: (&str, Option<&Vector>), b: (&str, Option<&Vector>)) -> bool {
    let (left, right) = (normalise_question(a.0), normalise_question(b.0));
    if left.is_empty() || right.is_empty() {
        return false;
    }
    if left == right {
        return true;
    }
    let cosine = a.1.zip(b.1).filter(|(x, y)| x.model() == y.model()).map(|(x, y)| {
        let same_length = x.values().len() == y.values().len();
        if same_length { dot(x.values(), y.values()) } else { 0.0 }
    });
    cosine.is_some_and(|cosine| cosine >= MIN_SAME_COSINE)
        && words_with_digits(&left) == words_with_digits(&right)
}

fn words_with_digits(question: &str) -> Vec<&str> {
    question.split(' ').filter(|word| word.bytes().any(|b| b.is_ascii_digit())).collect()
}

pub(super) fn is_same_context(a: &[PreferenceTurn], b: &[PreferenceTurn]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(x, y)| {
            normalise_question(&x.question) == normalise_question(&y.question)
                && x.answer == y.answer
        })
}

/// Words that refer back or carry no information.
const UNINFORMATIVE_WORDS: &str = " it its this that these those they them their he she him her there then one ones same other \
    others another else instead again also too more less further above previous last former latter such yes no ok okay \
    sure please thanks thank and or but so what which who when where why how about is are was were be been do does did \
    can could will would should the a an of in on at by for with from to as me my i you your we us our tell show give \
    explain continue go ahead try now just not dont es sie das dies diese dieser den dem ihn ihm ihr dort dann noch \
    weiter mehr ja nein bitte und oder aber ello eso esto ese esta lo la le los las más otra otro sí por favor ça cela \
    ceci celui celle encore plus oui non ";
/// Words that always refer back.
const BACK_REFERENCES: &str = " it this that these those they them instead same again also above previous es das dies diese \
    dieser dort eso esto ese ça cela ceci ";

/// True when a question needs no context: "show total sales", but not "and for 2023?".
pub(super) fn is_self_contained(question: &str) -> bool {
    let plain = normalise_question(question);
    let in_list = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    if plain.split(' ').any(|word| in_list(BACK_REFERENCES, word)) {
        return false;
    }
    let informative = || plain.split(' ').filter(|word| !in_list(UNINFORMATIVE_WORDS, word));
    let unspaced = plain.chars().filter(|c| *c >= '\u{2e80}').count();
    informative().count() >= 2 || unspaced >= MIN_UNSPACED_CHARS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(x: f32, y: f32) -> Vector {
        Vector::new("m".into(), vec![x, y])
    }

    #[test]
    fn same_question_matches_words_or_vectors() {
        let (here, near, far) = (vector(1.0, 0.0), vector(1.0, 0.2), vector(1.0, 0.5));
        let check = |a, va, b, vb, expected| {
            assert_eq!(is_same_question((a, va), (b, vb)), expected, "{a} / {b}");
        };
        check("Total sales?", None, "total SALES", None, true);
        check("total sales", Some(&here), "sales in total", Some(&near), true);
        check("total sales", Some(&here), "sales in total", Some(&far), false);
        check("total sales", Some(&here), "sales in total", None, false);
        check("sales of 2023", Some(&here), "sales of 2024", Some(&near), false);
        check("???", Some(&here), "???", Some(&here), false);
        let other = Vector::new("n".into(), vec![1.0, 0.0]);
        check("total sales", Some(&here), "sales in total", Some(&other), false);
    }

    #[test]
    fn context_dependent_questions_are_not_self_contained() {
        for alone in [
            "Show total sales",
            "reset my password",
            "How do I cancel my contract?",
            "売上の合計を表示して",
        ] {
            assert!(is_self_contained(alone), "{alone}");
        }
        for leaning in [
            "yes please",
            "and for 2023?",
            "tell me more",
            "what about Germany",
            "does it work offline",
            "",
            "はい",
        ] {
            assert!(!is_self_contained(leaning), "{leaning}");
        }
    }
}
