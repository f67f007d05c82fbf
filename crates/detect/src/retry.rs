//! Detects a user asking nearly the same question again within a short time.

use std::time::Duration;

use model::{Retry, RetryIntent, TurnId, Vector};

use crate::pair::{MIN_COMPARED_COSINE, count_shared, pair_score};
use crate::phrases::Cue;
use crate::utterance::Utterance;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryRule {
    pub min_similarity: f64,
    pub window: Duration,
    pub max_questions: usize,
}

impl Default for RetryRule {
    fn default() -> Self {
        Self { min_similarity: 0.85, window: Duration::from_secs(300), max_questions: 10 }
    }
}

/// Cosine below which no pair reaches `MIN_PREFILTER_SIMILARITY`.
const MIN_RETRY_COSINE: f32 = MIN_COMPARED_COSINE;
const MIN_PREFILTER_SIMILARITY: f64 = 0.7;
/// Cosine error of vectors that were stored as single bytes.
const QUANTIZATION_ERROR: f32 = 0.02;
const MAX_SCORED_CANDIDATES: usize = 2;

#[derive(Clone, Copy, Debug)]
pub struct PastQuestion<'a> {
    pub turn: &'a TurnId,
    pub question: &'a Utterance,
    /// Time since the question; `None` counts as recent.
    pub age: Option<Duration>,
}

/// Returns the most similar recent question above the threshold. `history` is newest first.
pub fn detect_retry(
    rule: &RetryRule,
    message: &Utterance,
    history: &[PastQuestion<'_>],
) -> Option<Retry> {
    let recent = history
        .iter()
        .filter(|past| past.age.is_none_or(|age| age <= rule.window))
        .take(rule.max_questions);
    let mut near: Vec<(f32, &PastQuestion<'_>)> = recent
        .map(|past| (resend_or_cosine(message, past.question), past))
        .filter(|(near, _)| {
            *near >= MIN_RETRY_COSINE || rule.min_similarity < MIN_PREFILTER_SIMILARITY
        })
        .collect();
    // The sort is stable: among equal cosines the newest question stays first.
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let scored = near
        .iter()
        .take(MAX_SCORED_CANDIDATES)
        .map(|(_, past)| (pair_score(message, past.question), past));
    let (similarity, past) =
        scored.reduce(|best, next| if next.0.get() > best.0.get() { next } else { best })?;
    if similarity.get() < rule.min_similarity
        || message.word_hashes.is_empty() && message.original().trim().is_empty()
    {
        return None;
    }
    Some(Retry {
        original_turn_id: past.turn.clone(),
        similarity,
        delay_seconds: past.age.map(|age| age.as_secs_f64()),
        intent: retry_intent(message, past.question),
    })
}

/// Cheap prefilter on a stored vector. False only where [`detect_retry`] would reject the question
/// too, so that its text need not be parsed.
pub fn may_be_retry(rule: &RetryRule, message: &Utterance, text: &str, vector: &Vector) -> bool {
    let Some(cosine) = message.vector.cosine(vector) else { return true };
    let has_zero_vector = message.vector.is_zero() || vector.is_zero();
    let is_dissimilar = cosine < MIN_RETRY_COSINE - QUANTIZATION_ERROR
        && rule.min_similarity >= MIN_PREFILTER_SIMILARITY;
    // Punctuation changes the vector but not the question.
    has_zero_vector
        || !is_dissimilar
        || normalize_letters(message.original()).eq(normalize_letters(text))
}

fn normalize_letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Cosine similarity. An exact resend scores 1, even without a vector.
fn resend_or_cosine(message: &Utterance, before: &Utterance) -> f32 {
    if message.is_resend_of(before) {
        return 1.0;
    }
    message.vector.cosine(&before.vector).unwrap_or(0.0)
}

/// Exploratory when a number or a name changed and the opening continues ("now the same for
/// March"). In doubt the user is dissatisfied.
fn retry_intent(message: &Utterance, before: &Utterance) -> RetryIntent {
    let exchanged = |now: &[u32], then: &[u32]| {
        let both = count_shared(now, then);
        now.len() > both && then.len() > both
    };
    let subject_changed =
        exchanged(&message.numbers, &before.numbers) || exchanged(&message.names, &before.names);
    let continues = message.opens_with(Cue::Step) && !message.opens_with(Cue::Negation);
    if subject_changed && continues { RetryIntent::Exploratory } else { RetryIntent::Dissatisfied }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, history: &[(&str, u64)], expected: Option<&str>) {
        let turns: Vec<TurnId> =
            (0..history.len()).map(|at| TurnId::new(format!("t{at}")).unwrap()).collect();
        let questions: Vec<Utterance> = history.iter().map(|(q, _)| Utterance::read(q)).collect();
        let past: Vec<PastQuestion<'_>> = history
            .iter()
            .enumerate()
            .map(|(at, (_, age))| PastQuestion {
                turn: &turns[at],
                question: &questions[at],
                age: Some(Duration::from_secs(*age)),
            })
            .collect();
        let found = detect_retry(&RetryRule::default(), &Utterance::read(message), &past);
        assert_eq!(found.as_ref().map(|r| r.original_turn_id.as_str()), expected, "{message}");
    }

    const QUESTION: &str = "How do I reset my router password?";

    #[test]
    fn resend_is_a_retry_only_within_the_window() {
        check(QUESTION, &[(QUESTION, 0)], Some("t0"));
        check(QUESTION, &[(QUESTION, 300)], Some("t0"));
        check(QUESTION, &[(QUESTION, 301)], None);
        check("how do i reset my ROUTER password", &[(QUESTION, 12)], Some("t0"));
    }

    #[test]
    fn most_similar_question_wins_and_newest_on_ties() {
        check(QUESTION, &[("what is the weather", 5), (QUESTION, 20), (QUESTION, 90)], Some("t1"));
    }

    #[test]
    fn different_question_is_no_retry() {
        check("What should I cook tonight?", &[(QUESTION, 10)], None);
        check(
            "How do I uninstall Docker on Ubuntu?",
            &[("How do I install Docker on Ubuntu?", 10)],
            None,
        );
        check("", &[("", 10)], None);
        check("hello", &[], None);
    }

    #[test]
    fn only_the_ten_newest_questions_are_compared() {
        let mut history = vec![("something else entirely", 1); 10];
        history.push((QUESTION, 2));
        check(QUESTION, &history, None);
    }

    #[test]
    fn retry_prefilter_never_drops_a_retry() {
        let texts = [
            QUESTION,
            "how do i reset my ROUTER password",
            "router password reset?",
            "What should I cook tonight?",
            "why",
            "why ?????????????????????????? !!!!!!!!!!",
            "???",
            "",
            "SELECT a FROM b WHERE c < 3",
            "now show sales for April",
            "show sales for March",
        ];
        let turn = TurnId::new("t").unwrap();
        let (mut passed, mut found) = (0, 0);
        for before in texts {
            for message in texts {
                let (now, then) = (Utterance::read(message), Utterance::read(before));
                let rule =
                    RetryRule { min_similarity: MIN_PREFILTER_SIMILARITY, ..RetryRule::default() };
                let past = PastQuestion { turn: &turn, question: &then, age: None };
                let is_retry = detect_retry(&rule, &now, &[past]).is_some();
                let may_be = may_be_retry(&rule, &now, before, &then.vector);
                assert!(may_be || !is_retry, "{message:?} after {before:?}");
                passed += usize::from(!may_be);
                found += usize::from(is_retry);
            }
        }
        assert!(passed > 40 && found > 10, "{passed} passed over, {found} found");
    }

    #[test]
    fn changed_subject_with_continuation_is_exploratory() {
        let rows = [
            ("now show sales for April", "show sales for March", RetryIntent::Exploratory),
            ("Now the same for 2023", "revenue by region for 2022", RetryIntent::Exploratory),
            ("show sales for April", "show sales for March", RetryIntent::Dissatisfied),
            ("show sales for March!!", "show sales for March", RetryIntent::Dissatisfied),
        ];
        for (now, before, expected) in rows {
            let intent = retry_intent(&Utterance::read(now), &Utterance::read(before));
            assert_eq!(intent, expected, "{now}");
        }
    }
}
