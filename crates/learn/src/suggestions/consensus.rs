//! What turns agree on, who they are of, and when it becomes a suggestion.

use std::collections::{BTreeMap, BTreeSet};

use super::{Suggestion, SuggestionBasis, is_prompt_injection, sanitisation};
use crate::failures::FailurePattern;

/// People that must agree: what one repeats is that one's opinion.
const LEAST_VOICES: usize = 2;

/// Who said something, or whose a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Voice<'a> {
    /// A user.
    User(&'a str),
    /// Somebody in a conversation.
    Conversation(&'a str),
    /// Nothing is known but the turn.
    Turn(&'a str),
}

/// Who says something, and of which turn: two people may say it of one.
pub(super) type Given<'a> = (&'a str, Voice<'a>);

/// Everybody who says the same.
pub(super) type Support<'a> = BTreeSet<Given<'a>>;

/// Whether at least two people speak: two users or, where users are not known, two conversations.
/// Somebody unknown may be any of those who are known.
pub fn are_several<'a>(voices: impl IntoIterator<Item = Voice<'a>>) -> bool {
    let found: BTreeSet<Voice<'a>> = voices.into_iter().collect();
    let users = found.iter().filter(|voice| matches!(voice, Voice::User(_))).count();
    users >= LEAST_VOICES || found.len() - users >= LEAST_VOICES
}

/// Whether at least two people are behind it.
pub(super) fn is_shared(support: &Support<'_>) -> bool {
    are_several(support.iter().map(|(_, voice)| *voice))
}

/// These turns, with whose they are.
pub(super) fn of_turns<'a>(turns: &'a [String], voices: &BTreeMap<&str, Voice<'a>>) -> Support<'a> {
    let voiced = |turn: &'a String| Some((turn.as_str(), *voices.get(turn.as_str())?));
    turns.iter().filter_map(voiced).collect()
}

/// People who agree on what to do in a pattern.
#[derive(Clone, Debug)]
pub(super) struct Agreed<'a> {
    pub(super) basis: SuggestionBasis,
    /// Behind "When the question is about …,".
    pub(super) what: String,
    pub(super) support: Support<'a>,
    pub(super) of: usize,
}

/// The same to do, for one pattern or several.
struct Merged<'a> {
    patterns: Vec<&'a FailurePattern>,
    agreed: Agreed<'a>,
}

/// Suggestions in the order in which they come first. What is to be done in several patterns is one
/// suggestion, for the first of them; their turns and their reach are added up.
pub(super) fn merged<'a>(
    agreed: impl IntoIterator<Item = (&'a FailurePattern, Agreed<'a>)>,
) -> Vec<Suggestion> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<Merged<'a>> = Vec::new();
    for (pattern, agreed) in agreed {
        let place = *places.entry(agreed.what.to_lowercase()).or_insert(all.len());
        let Some(same) = all.get_mut(place) else {
            all.push(Merged { patterns: vec![pattern], agreed });
            continue;
        };
        same.agreed.of += agreed.of;
        same.agreed.support.extend(agreed.support);
        if same.patterns.iter().all(|known| known.id != pattern.id) {
            same.patterns.push(pattern);
        }
    }
    all.into_iter().filter_map(Merged::suggested).collect()
}

impl Merged<'_> {
    fn suggested(self) -> Option<Suggestion> {
        let Agreed { basis, what, support, of } = self.agreed;
        let turns: BTreeSet<&str> = support.iter().map(|(turn, _)| *turn).collect();
        let first = self.patterns.first()?;
        let topics: BTreeSet<&str> = self.patterns.iter().map(|p| p.topic.as_str()).collect();
        // In several topics it holds without one.
        let topic = if topics.len() == 1 { first.topic.as_str() } else { "" };
        let agree = support.len();
        let of = of.max(agree);
        let why = match basis {
            SuggestionBasis::Corrections => {
                format!("{agree} of {of} corrections change this in the same way")
            }
            SuggestionBasis::Contrast => format!("{agree} of {of} turns asked for this instead"),
            SuggestionBasis::Remarks => format!("{agree} of {of} remarks say this"),
            SuggestionBasis::Errors => format!("{agree} answers failed with this"),
        };
        Some(Suggestion {
            pattern_id: first.id.clone(),
            instruction: sentence(&format!("{}{what}", when(topic))),
            why,
            basis,
            reach: self.patterns.iter().map(|pattern| pattern.share).sum::<f64>().min(1.0),
            evidence: turns.into_iter().map(str::to_owned).collect(),
            agree: agree as u32,
            of: of as u32,
        })
    }
}

/// "When the question is about orders, "; nothing when it is not known what it is about.
fn when(topic: &str) -> String {
    let topic = if is_prompt_injection(topic) { String::new() } else { sanitisation::words(topic) };
    if topic.is_empty() { String::new() } else { format!("When the question is about {topic}, ") }
}

/// A sentence: a capital first, a full stop last.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
