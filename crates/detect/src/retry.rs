//! Detects a user asking nearly the same question again within a short time.

use std::time::Duration;

use model::{Retry, RetryIntent, TurnId, Vector};

use crate::pair::{pair_score, shared};
use crate::phrases::Cue;
use crate::utterance::Utterance;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryRule {
    /// Minimum pair score at which two questions are the same.
    pub min_similarity: f64,
    /// Maximum age of the first question.
    pub window: Duration,
    /// Number of recent questions that are compared.
    pub most: usize,
}

impl Default for RetryRule {
    fn default() -> Self {
        Self { min_similarity: 0.85, window: Duration::from_secs(300), most: 10 }
    }
}

/// Cosine below which no pair reaches `MIN_PREFILTER_SIMILARITY`. The lowest of 77,000 measured
/// pairs was 0.57.
const HOPELESS: f32 = 0.5;
const SURE: f64 = 0.7;
/// Cosine error of vectors that were stored as single bytes.
const ROUNDING: f32 = 0.02;
/// Candidates with the highest cosine that the pair model scores.
const MOST_SCORED: usize = 2;

/// An earlier question of the same user, or of the same conversation.
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
    let recent =
        history.iter().filter(|past| past.age.is_none_or(|age| age <= rule.window)).take(rule.most);
    let mut near: Vec<(f32, &PastQuestion<'_>)> = recent
        .map(|past| (nearness(message, past.question), past))
        .filter(|(near, _)| *near >= HOPELESS || rule.min_similarity < SURE)
        .collect();
    // The sort is stable: among equal cosines the newest question stays first.
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let scored =
        near.iter().take(MOST_SCORED).map(|(_, past)| (pair_score(message, past.question), past));
    let (similarity, past) =
        scored.reduce(|best, next| if next.0.get() > best.0.get() { next } else { best })?;
    if similarity.get() < rule.min_similarity
        || message.spoken.is_empty() && message.original().trim().is_empty()
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
    let nowhere = message.vector.is_zero() || vector.is_zero();
    let far = cosine < HOPELESS - ROUNDING && rule.min_similarity >= SURE;
    // Punctuation changes the vector but not the question.
    nowhere || !far || letters(message.original()).eq(letters(text))
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Cosine similarity. An exact resend scores 1, even without a vector.
fn nearness(message: &Utterance, before: &Utterance) -> f32 {
    if message.is_resend_of(before) {
        return 1.0;
    }
    message.vector.cosine(&before.vector).unwrap_or(0.0)
}

/// Exploratory when a number or a name changed and the opening continues ("now the same for
/// March"). In doubt the user is dissatisfied.
pub fn retry_intent(message: &Utterance, before: &Utterance) -> RetryIntent {
    let exchanged = |now: &[u32], then: &[u32]| {
        let both = shared(now, then);
        now.len() > both && then.len() > both
    };
    let another =
        exchanged(&message.numbers, &before.numbers) || exchanged(&message.names, &before.names);
    let goes_on = message.opens_with(Cue::Step) && !message.opens_with(Cue::Negation);
    if another && goes_on { RetryIntent::Exploratory } else { RetryIntent::Dissatisfied }
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

    const ASKED: &str = "How do I reset my router password?";

    #[test]
    fn an_exact_resend_is_a_retry_until_the_window_closes() {
        check(ASKED, &[(ASKED, 0)], Some("t0"));
        check(ASKED, &[(ASKED, 300)], Some("t0"));
        check(ASKED, &[(ASKED, 301)], None);
        check("how do i reset my ROUTER password", &[(ASKED, 12)], Some("t0"));
    }

    #[test]
    fn the_closest_question_wins_and_of_equal_ones_the_latest() {
        check(ASKED, &[("what is the weather", 5), (ASKED, 20), (ASKED, 90)], Some("t1"));
    }

    #[test]
    fn another_question_is_no_retry() {
        check("What should I cook tonight?", &[(ASKED, 10)], None);
        check(
            "How do I uninstall Docker on Ubuntu?",
            &[("How do I install Docker on Ubuntu?", 10)],
            None,
        );
        check("", &[("", 10)], None);
        check("hello", &[], None);
    }

    #[test]
    fn only_the_ten_latest_count() {
        let mut history = vec![("something else entirely", 1); 10];
        history.push((ASKED, 2));
        check(ASKED, &history, None);
    }

    #[test]
    fn what_is_passed_over_by_direction_would_not_have_been_found() {
        let texts = [
            ASKED,
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
                let rule = RetryRule { min_similarity: SURE, ..RetryRule::default() };
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
    fn a_new_step_explores() {
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
