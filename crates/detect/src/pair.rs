//! Scores whether two messages ask the same question.
//!
//! The similarity starts from the cosine. Two decisions on single words correct the top of the
//! scale: a restatement (typos, emphasis, keywords, background) is the same question, and a trap
//! (another month, number, name, direction) is not, however similar the rest.

mod alignment;
mod blend;
mod direction;
mod distinctions;
mod features;
mod negation;
mod overlap;
mod restatement;
mod reversal;
mod set_overlap;
mod similarity;
mod spelling;
mod trap;

use model::UnitInterval;

use crate::utterance::Utterance;
use crate::wide_deep::Features;
use restatement::Comparison;
use reversal::{REVERSAL_FACTOR, reverses_meaning};
use similarity::score_similarity;

pub use blend::PAIR_BLEND_PARTS;
pub(crate) use features::PAIR_MODEL;
pub use features::pair_features;
pub(crate) use set_overlap::count_shared;
pub(crate) use similarity::MIN_COMPARED_COSINE;
#[cfg(test)]
pub(crate) use similarity::RESTATEMENT_MODEL;

/// Similarity of two messages as requests. Symmetric.
pub fn pair_score(a: &Utterance, b: &Utterance) -> UnitInterval {
    to_unit(PairScores::new(a, b).similarity)
}

/// The score of the learnt model alone, which the verdict models use.
pub fn learnt_pair_score(a: &Utterance, b: &Utterance) -> UnitInterval {
    to_unit(PairScores::new(a, b).learnt)
}

fn to_unit(score: f64) -> UnitInterval {
    UnitInterval::new(score).unwrap_or(UnitInterval::ZERO)
}

/// Two judgements of how alike two messages are, from 0 to 1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairScores {
    pub similarity: f64,
    /// Of the learnt model alone. An input of the verdict models and of rules that were chosen
    /// with it.
    pub learnt: f64,
}

impl PairScores {
    pub(crate) fn new(a: &Utterance, b: &Utterance) -> Self {
        if a.is_resend_of(b) {
            return Self { similarity: 1.0, learnt: 1.0 };
        }
        let features = pair_features(a, b);
        let sum = PAIR_MODEL.raw_sum(&features);
        let learnt = f64::from(crate::sigmoid(PAIR_MODEL.slope * sum + PAIR_MODEL.offset));
        let factor = if reverses_meaning(a, b) { REVERSAL_FACTOR } else { 1.0 };
        let similarity = score_similarity(a, b, &features, sum);
        Self { similarity, learnt: learnt * factor }
    }
}

/// Input features of the restatement model.
pub fn restatement_features(a: &Utterance, b: &Utterance) -> Features {
    Comparison::new(a, b).features(PAIR_MODEL.raw_sum(&pair_features(a, b)))
}

/// The parts of the similarity of two messages, in the order of [`PAIR_BLEND_PARTS`].
pub fn pair_blend_parts(a: &Utterance, b: &Utterance) -> [f64; 4] {
    let features = pair_features(a, b);
    blend::find_parts(a, b, &features, PAIR_MODEL.raw_sum(&features))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(a: &str, b: &str) -> f64 {
        pair_score(&Utterance::read(a), &Utterance::read(b)).get()
    }

    #[test]
    fn reversed_questions_score_at_most_half() {
        for (a, b) in [
            ("How do I install Docker on Ubuntu?", "How do I uninstall Docker on Ubuntu?"),
            ("does aspirin thin blood", "does aspirin not thin blood"),
            ("flights from Rome to Oslo", "flights from Oslo to Rome"),
            ("convert 5 miles to km", "convert 5 km to miles"),
            ("rows where x > 5", "rows where x < 5"),
            ("SELECT a FROM t WHERE x = 1", "SELECT a FROM t WHERE x != 1"),
            ("C vs Java", "C# vs Java"),
            ("how do I buy shares", "how do I sell shares"),
        ] {
            assert!(score(a, b) <= 0.5, "{a} / {b}: {}", score(a, b));
        }
    }

    #[test]
    fn restatements_reach_the_retry_threshold() {
        for (a, b) in [
            // Typos, accents, abbreviations, words written together.
            ("how do i recieve the confimation email", "How do I receive the confirmation email?"),
            (
                "whats the diffrence between var and let",
                "what's the difference between var and let",
            ),
            ("wo fidne ich die rechnug", "Wo finde ich die Rechnung"),
            ("qual o horario de funcionameto da loja", "Qual o horário de funcionamento da loja?"),
            ("jak zmienic haslo do konta", "Jak zmienić hasło do konta?"),
            ("как отменить подпизку", "Как отменить подписку?"),
            ("restart postgre sql on ubuntu", "restart PostgreSQL on Ubuntu"),
            ("pls resend the invoce", "please resend the invoice"),
            // The same again, with insistence.
            ("is the store open on sunday", "I asked: is the store OPEN on Sunday??"),
            ("wann kommt der techniker", "Ich frage nochmal: WANN kommt der Techniker?!"),
            ("¿dónde está mi pedido?", "por tercera vez: ¿dónde está mi pedido?"),
            ("把灯关掉", "我说把灯关掉!!"),
            // Keywords, and background.
            (
                "I would like to know how I can export all my contacts from the old phone",
                "export contacts old phone",
            ),
            (
                "reset thermostat",
                "Hi, we just moved in and there was no manual. How do I reset the thermostat?",
            ),
            (
                "drucker druckt nicht",
                "Hallo, ich sitze seit einer Stunde da und verzweifle, mein Drucker druckt nicht, was tun?",
            ),
            // Another order, other words.
            ("average salary per department in SQL", "SQL query: salary average by department"),
            ("my laptop battery drains too fast", "laptop battery is draining really quickly, why"),
        ] {
            assert!(score(a, b) >= 0.85, "{a} / {b}: {}", score(a, b));
            assert!((score(a, b) - score(b, a)).abs() < 1e-4, "{a} / {b}");
        }
    }

    #[test]
    fn traps_stay_below_the_rephrasing_threshold() {
        for (a, b) in [
            ("top 10 customers", "top 20 customers"),
            ("zeige die letzten drei Bestellungen", "zeige die letzten fünf Bestellungen"),
            ("water for 20 minutes at 6", "water for 6 minutes at 20"),
            ("sales report for march", "sales report for april"),
            ("счет за январь", "счет за февраль"),
            ("明天的会议几点", "今天的会议几点"),
            ("who is the manager of Anna", "who is the manager of Peter"),
            ("describe the table orders", "describe the table invoices"),
            ("files that are encrypted", "files that are unencrypted"),
            ("produkty z cukrem", "produkty bez cukru"),
            ("şekerli kahve", "şekersiz kahve"),
            ("показать оплаченные счета", "показать неоплаченные счета"),
            ("砂糖ありのコーヒー", "砂糖なしのコーヒー"),
            ("Flug von Wien nach Rom", "Flug von Rom nach Wien"),
            ("поезд из Москвы в Казань", "поезд из Казани в Москву"),
            ("turn up the volume", "turn down the volume"),
            ("distance in km", "distance in miles"),
            ("revenue per day", "revenue per month"),
            ("show the first row", "show the last row"),
            ("when does the pool open", "where is the pool"),
            ("wie groß ist das Zimmer", "wie teuer ist das Zimmer"),
        ] {
            assert!(score(a, b) < 0.8, "{a} / {b}: {}", score(a, b));
            assert!((score(a, b) - score(b, a)).abs() < 1e-4, "{a} / {b}");
        }
    }

    #[test]
    fn resend_scores_one_and_other_topics_score_low() {
        assert!(score("Reset my password!", "reset my password") >= 0.999);
        assert!(score("How can I reset my password?", "how do i reset my password") > 0.85);
        assert!(score("How can I reset my password?", "best pizza in Naples") < 0.3);
        // Texts without words are equal only when identical.
        assert!(score("???", "???") >= 0.999);
        assert!(score("", "hello") < 0.5);
    }
}
