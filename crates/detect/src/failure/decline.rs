//! Finds the sentence in which an assistant declines, in twelve languages.
//!
//! The refusal model was trained on English answers; these phrases add what it does not know.

use std::sync::LazyLock;

use model::Evidence;

use super::{FAILURES, InspectedAnswer};
use crate::pattern::{PatternSet, Sentence, split_sentences};
use crate::phrases::{Cue, CueHit, find_answer_cues};
use crate::text::FoldedText;
use crate::utterance::Utterance;

const DECLINES: &str = include_str!("../phrases/declines.txt");

static PATTERNS: LazyLock<PatternSet> = LazyLock::new(|| PatternSet::parse(DECLINES, "decline"));
static IDIOMS: LazyLock<PatternSet> = LazyLock::new(|| PatternSet::parse(DECLINES, "idiom"));
static ASKED: LazyLock<PatternSet> = LazyLock::new(|| PatternSet::parse(DECLINES, "asked"));
static TURNS: LazyLock<PatternSet> = LazyLock::new(|| PatternSet::parse(DECLINES, "turn"));
static GREETINGS: LazyLock<PatternSet> = LazyLock::new(|| PatternSet::parse(DECLINES, "greeting"));
static SUBJECTS: LazyLock<PatternSet> = LazyLock::new(|| PatternSet::parse(DECLINES, "subject"));
static COPY: LazyLock<PatternSet> = LazyLock::new(|| PatternSet::parse(FAILURES, "about_copy"));

/// A sentence that declines.
pub(super) struct Decline {
    pub evidence: Evidence,
    /// Words before it.
    pub before: usize,
}

impl Decline {
    /// True when the answer is about declining: it comes early, and little else follows.
    pub(super) fn is_main_content(&self, words: usize) -> bool {
        const MAX_WORDS_BEFORE: usize = 40;
        const MAX_WORDS_OF_SHORT_ANSWER: usize = 60;
        self.before <= MAX_WORDS_BEFORE || words <= MAX_WORDS_OF_SHORT_ANSWER
    }
}

pub(super) fn find_decline(answer: &InspectedAnswer<'_>) -> Option<Decline> {
    let sentences = split_sentences(&answer.prose, &answer.text);
    sentences.iter().find_map(|sentence| {
        let (first, last) = find_in_sentence(sentence)?;
        let word = sentence.words[first];
        if word == "tamam" || is_turkish_ending(word) && answer.language() != "tr" {
            return None;
        }
        let evidence = Evidence {
            start: sentence.spans[first].0,
            end: sentence.spans[last].1,
            rule: "decline_phrase".to_owned(),
        };
        Some(Decline { evidence, before: sentence.first + first })
    })
}

fn find_in_sentence(sentence: &Sentence<'_>) -> Option<(usize, usize)> {
    let found = PATTERNS.matches(sentence);
    if found.is_empty() {
        return None;
    }
    let idioms = IDIOMS.matches(sentence);
    let overlaps =
        |hit: &(usize, usize)| idioms.iter().any(|idiom| idiom.0 <= hit.1 && hit.0 <= idiom.1);
    found.into_iter().find(|hit| !overlaps(hit))
}

/// True for a phrase of the refusal model's list that is no idiom: "unable to", "beyond my".
pub(super) fn has_decline_cue(answer: &InspectedAnswer<'_>) -> bool {
    let hits = find_answer_cues(&answer.text);
    let in_idiom =
        |hit: &CueHit| hits.iter().any(|other| other.cue == Cue::Idiom && other.overlaps(hit));
    hits.iter().any(|hit| hit.cue == Cue::Declines && !in_idiom(hit))
}

/// True for verbs such as "yapamam", whose ending other languages have too.
fn is_turkish_ending(word: &str) -> bool {
    word.ends_with("amam") || word.ends_with("emem")
}

/// True when the answer helps nevertheless: code, a list, or "but here is …".
pub(super) fn helps_anyway(answer: &InspectedAnswer<'_>) -> bool {
    let is_item = |line: &&str| {
        let line = line.trim_start();
        line.starts_with(['-', '*', '•']) || line.starts_with(|c: char| c.is_ascii_digit())
    };
    let items = answer.response.lines().filter(is_item).count();
    answer.response.contains("```") || items >= 2 || TURNS.is_in(&answer.text)
}

/// True for a drafted message: a subject, a salutation on a line of its own, or one with a name.
pub(super) fn is_letter(answer: &InspectedAnswer<'_>) -> bool {
    const MAX_SALUTATION_WORDS: usize = 6;
    let trimmed = answer.response.trim_start();
    let line = trimmed.lines().next().unwrap_or_default().trim_end();
    let is_first_line = line.len() < trimmed.trim_end().len();
    let short = line.split_whitespace().count() <= MAX_SALUTATION_WORDS;
    let greets = short && line.ends_with([',', '!', '，', '！', '：', ':']);
    let subject = line.contains([':', '：']) && SUBJECTS.is_in(&FoldedText::new(line));
    is_first_line && (greets || subject) || has_salutation(line)
}

/// "Hi Anna, …": a salutation, a name in capitals and a comma.
fn has_salutation(line: &str) -> bool {
    const MAX_NAME_WORDS: usize = 3;
    let Some((opening, _)) = line.split_once([',', '!']) else { return false };
    let Some((greeting, name)) = opening.split_once(' ') else { return false };
    let capitals = name.split_whitespace().all(|word| word.starts_with(char::is_uppercase));
    let count = name.split_whitespace().count();
    let folded = FoldedText::new(greeting);
    (1..=MAX_NAME_WORDS).contains(&count) && capitals && GREETINGS.is_in(&folded)
}

/// True when the question asks for words that decline, or quotes some: "How do I say no politely?"
pub(super) fn asks_for_decline(question: &Utterance) -> bool {
    let sentences = split_sentences(question.original(), &question.text);
    ASKED.is_in(&question.text) || sentences.iter().any(|one| find_in_sentence(one).is_some())
}

/// True when the question asks for a text for others, such as an error message.
pub(super) fn asks_for_copy(question: &Utterance) -> bool {
    COPY.is_in(&question.text)
}
