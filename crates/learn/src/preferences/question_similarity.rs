//! When answers that were given in two conversations answer the same question.

use model::{Vector, dot};

use super::turn::PreferenceTurn;
use crate::question::normalised;

/// From this cosine on, questions are taken for the same.
const SAME: f32 = 0.95;
/// So many letters of a script without spaces say as much as two words.
const UNSPACED: usize = 6;

/// Whether two questions are the same: in the same words, or nearly so by their vectors and with the
/// same numbers in them. Vectors hardly see that a year or a version differs.
pub(super) fn same_question(a: (&str, Option<&Vector>), b: (&str, Option<&Vector>)) -> bool {
    let (left, right) = (normalised(a.0), normalised(b.0));
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
    cosine.is_some_and(|cosine| cosine >= SAME) && numbers(&left) == numbers(&right)
}

/// Words with a digit in them.
fn numbers(question: &str) -> Vec<&str> {
    question.split(' ').filter(|word| word.bytes().any(|b| b.is_ascii_digit())).collect()
}

/// Whether the same was said before.
pub(super) fn same_context(a: &[PreferenceTurn], b: &[PreferenceTurn]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(x, y)| {
            normalised(&x.question) == normalised(&y.question) && x.answer == y.answer
        })
}

/// Words that point at something said before, or say nothing by themselves.
const LEANING: &str = " it its this that these those they them their he she him her there then one ones same other \
    others another else instead again also too more less further above previous last former latter such yes no ok okay \
    sure please thanks thank and or but so what which who when where why how about is are was were be been do does did \
    can could will would should the a an of in on at by for with from to as me my i you your we us our tell show give \
    explain continue go ahead try now just not dont es sie das dies diese dieser den dem ihn ihm ihr dort dann noch \
    weiter mehr ja nein bitte und oder aber ello eso esto ese esta lo la le los las más otra otro sí por favor ça cela \
    ceci celui celle encore plus oui non ";
/// The ones that point back, whatever else is said.
const POINTING: &str = " it this that these those they them instead same again also above previous es das dies diese \
    dieser dort eso esto ese ça cela ceci ";

/// Whether a question can be understood without what was said before it: "yes please" and "and for
/// 2023?" cannot, "show total sales" can.
pub(super) fn stands_alone(question: &str) -> bool {
    let plain = normalised(question);
    let in_list = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    if plain.split(' ').any(|word| in_list(POINTING, word)) {
        return false;
    }
    let said = || plain.split(' ').filter(|word| !in_list(LEANING, word));
    let unspaced = plain.chars().filter(|c| *c >= '\u{2e80}').count();
    said().count() >= 2 || unspaced >= UNSPACED
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
            assert_eq!(same_question((a, va), (b, vb)), expected, "{a} / {b}");
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
            assert!(stands_alone(alone), "{alone}");
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
            assert!(!stands_alone(leaning), "{leaning}");
        }
    }
}
