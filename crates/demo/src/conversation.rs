//! Simulates one conversation: messages, replies and user gestures.

use crate::experiments::PromptVersion;
use crate::models::{DemoModel, OUTAGE_DAYS};
use crate::people::DemoUser;
use crate::phrasing::{self, Placeholders};
use crate::rng::DemoRng;
use crate::topics::{self, Assistant, ConversationTopic, KnownError};

/// Kinds of user messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// A new question.
    Ask,
    /// The question in other words.
    Rephrase,
    /// The same text sent again with the regenerate button.
    Regenerate,
    /// A complaint about the answer.
    Complain,
    /// A reply that neither accepts nor rejects the answer.
    Doubt,
    /// A follow-up question after a correct answer.
    FollowUp,
    /// Thanks; usually ends the conversation.
    Thanks,
}

/// An interaction of the user with an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Gesture {
    /// Thumbs up (true) or down, optionally with a note.
    Thumb(bool, Option<&'static str>),
    /// One to five stars.
    Stars(u8),
    Comment(&'static str),
    Copy,
    /// Reading time in milliseconds.
    Dwell(u32),
    /// Id of the opened result.
    Click(&'static str),
    Export,
    Dashboard,
    Regenerate,
    /// The corrected answer and the reason.
    Correct {
        better: String,
        why: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) text: Option<String>,
    pub(crate) error: Option<&'static str>,
    pub(crate) good: bool,
    pub(crate) secs: f64,
    /// The score of a simulated validator, which is mostly right.
    pub(crate) score: Option<f64>,
    /// Ids of the retrieved pages, best first.
    pub(crate) pages: Vec<&'static str>,
}

/// A running conversation.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) id: String,
    pub(crate) person: usize,
    pub(crate) app: Assistant,
    pub(crate) topic: &'static ConversationTopic,
    pub(crate) rng: DemoRng,
    placeholders: Placeholders,
    asked: String,
    /// Remaining number of questions.
    left: u32,
    /// Failed answers to the current question.
    tries: u8,
    /// Set with the first answer; an experiment does not change it during the conversation.
    pub(crate) prompt: Option<PromptVersion>,
}

const CALL_ERRORS: [&str; 3] = [
    "upstream timeout after 30 s",
    "the search over the documents is unavailable",
    "model overloaded",
];
const SQL_ERRORS: [&str; 3] = [
    "column \"closed_month\" does not exist",
    "relation \"customer_regions\" does not exist",
    "division by zero",
];

impl Conversation {
    pub(crate) fn new(
        id: String,
        person_index: usize,
        person: &DemoUser,
        mut rng: DemoRng,
    ) -> Self {
        let suits = |topic: &&&'static ConversationTopic| topic.language == person.language;
        let mut candidates: Vec<&'static ConversationTopic> = topics::all_topics().collect();
        candidates.retain(|topic| suits(&topic) || topic.app == Assistant::Sql);
        let weights: Vec<f64> = candidates.iter().map(|topic| topic.weight).collect();
        let topic = candidates[rng.pick_weighted(&weights)];
        let left = [1, 1, 1, 2, 2, 3][rng.next_index(6)];
        let placeholders = Placeholders::new(person, &mut rng);
        let app = topic.app;
        Self {
            id,
            person: person_index,
            app,
            topic,
            rng,
            placeholders,
            asked: String::new(),
            left,
            tries: 0,
            prompt: None,
        }
    }

    /// Switches to another question for the same assistant in the same language.
    fn switch_topic(&mut self, person: &DemoUser) {
        let same: Vec<&'static ConversationTopic> = topics::all_topics()
            .filter(|topic| topic.app == self.app && topic.language == self.topic.language)
            .collect();
        let weights: Vec<f64> = same.iter().map(|topic| topic.weight).collect();
        self.topic = same[self.rng.pick_weighted(&weights)];
        self.placeholders = Placeholders::new(person, &mut self.rng);
        self.tries = 0;
    }

    pub(crate) fn message_text(&mut self, message: MessageKind, person: &DemoUser) -> String {
        let language = self.topic.language;
        if message == MessageKind::Ask && !self.asked.is_empty() {
            self.switch_topic(person);
        }
        let sentences = match message {
            MessageKind::Regenerate => return self.asked.clone(),
            MessageKind::Ask => self.topic.questions,
            MessageKind::Rephrase => self.topic.rephrasings,
            MessageKind::Complain if !self.topic.complaints.is_empty() => self.topic.complaints,
            MessageKind::Complain => phrasing::complaint_phrases(language),
            MessageKind::Doubt => phrasing::doubt_phrases(language),
            MessageKind::FollowUp if !self.topic.follow_ups.is_empty() => self.topic.follow_ups,
            MessageKind::FollowUp => self.topic.questions,
            MessageKind::Thanks => phrasing::thanks_phrases(language),
        };
        let text = self.placeholders.fill_sentence(self.rng.pick_one(sentences));
        if matches!(message, MessageKind::Ask | MessageKind::Rephrase | MessageKind::FollowUp) {
            self.asked.clone_from(&text);
        }
        text
    }

    /// Generates the reply of a model. A `care` below 1 lowers the probability of a wrong answer.
    pub(crate) fn generate_reply(
        &mut self,
        message: MessageKind,
        model: &DemoModel,
        day: f64,
        care: f64,
    ) -> Reply {
        let slow = if (OUTAGE_DAYS.0..OUTAGE_DAYS.1).contains(&day) { 2.2 } else { 1.0 };
        let secs = self.rng.next_skewed(model.secs) * slow;
        if message == MessageKind::Thanks {
            let text = self.rng.pick_one(phrasing::farewell_phrases(self.topic.language));
            let text = Some(text.to_owned());
            return Reply { text, error: None, good: true, secs, score: None, pages: Vec::new() };
        }
        let pages = self.search_pages();
        if self.rng.flip_biased(model.failure_probability(self.app, day)) {
            let errors = if self.app == Assistant::Sql { &SQL_ERRORS } else { &CALL_ERRORS };
            let error = Some(self.rng.pick_one(errors));
            let secs = secs * 3.0;
            return Reply { text: None, error, good: false, secs, score: None, pages };
        }
        // After a complaint the model usually corrects itself.
        let known_error = self.topic.known_error.filter(|_| message != MessageKind::FollowUp);
        let wrong = model.error_probability(known_error) * care;
        let wrong = match message {
            MessageKind::Complain => wrong * 0.4,
            MessageKind::Rephrase | MessageKind::Regenerate | MessageKind::Doubt => wrong * 0.7,
            MessageKind::Ask | MessageKind::FollowUp | MessageKind::Thanks => wrong,
        };
        let good = !self.rng.flip_biased(wrong);
        let sentences = if good { self.topic.good } else { self.topic.bad };
        let mut text = self.placeholders.fill_sentence(self.rng.pick_one(sentences));
        if message == MessageKind::Complain && self.app != Assistant::Sql {
            text = format!(
                "{} {text}",
                self.rng.pick_one(phrasing::apology_phrases(self.topic.language))
            );
        }
        let score = match good {
            true => self.rng.next_between(0.74, 1.0),
            false => self.rng.next_between(0.25, 0.75),
        };
        Reply { text: Some(text), error: None, good, secs, score: Some(score), pages }
    }

    /// Simulates the document search.
    fn search_pages(&mut self) -> Vec<&'static str> {
        if self.app != Assistant::Docs {
            return Vec::new();
        }
        let mut found: Vec<&'static str> = self.topic.pages.to_vec();
        // The glossary is retrieved for every question and never used.
        found.push("doc-glossary");
        while found.len() < 5 {
            let (page, ..) = self.rng.pick_one(topics::doc_pages());
            if !found.contains(&page) {
                found.push(page);
            }
        }
        if self.rng.flip_biased(0.3) {
            found.swap(0, 2);
        }
        found
    }

    /// The user's gestures on an answer, each with its delay in seconds.
    pub(crate) fn pick_gestures(
        &mut self,
        reply: &Reply,
        person: &DemoUser,
    ) -> Vec<(f64, Gesture)> {
        let mut gestures = Vec::new();
        let vocal = person.vocal;
        let mut may = |gestures: &mut Vec<_>, likely: f64, after: f64, gesture: Gesture| {
            if self.rng.flip_biased(likely) {
                gestures.push((after + self.rng.next_between(0.0, 6.0), gesture));
            }
        };
        if reply.good {
            let note =
                phrasing::HAPPY_NOTES[reply.secs.to_bits() as usize % phrasing::HAPPY_NOTES.len()];
            may(&mut gestures, 0.06 * vocal, 6.0, Gesture::Thumb(true, None));
            may(&mut gestures, 0.012 * vocal, 8.0, Gesture::Thumb(true, Some(note)));
            may(&mut gestures, 0.012 * vocal, 9.0, Gesture::Stars(5));
            may(&mut gestures, 0.008 * vocal, 12.0, Gesture::Comment(note));
            may(&mut gestures, 0.26, 5.0, Gesture::Copy);
            may(&mut gestures, 0.12, 2.0, Gesture::Dwell(9_000 + (reply.secs * 9_000.0) as u32));
            match self.app {
                Assistant::Docs => {
                    let page = reply.pages.first().copied().unwrap_or("doc-quickstart");
                    may(&mut gestures, 0.2, 7.0, Gesture::Click(page));
                }
                Assistant::Sql => {
                    may(&mut gestures, 0.12, 9.0, Gesture::Export);
                    may(&mut gestures, 0.08, 11.0, Gesture::Dashboard);
                }
                Assistant::Support => {}
            }
        } else if reply.error.is_none() {
            let note = phrasing::UNHAPPY_NOTES
                [reply.secs.to_bits() as usize % phrasing::UNHAPPY_NOTES.len()];
            may(&mut gestures, 0.12 * vocal, 5.0, Gesture::Thumb(false, None));
            may(&mut gestures, 0.03 * vocal, 7.0, Gesture::Thumb(false, Some(note)));
            may(&mut gestures, 0.015 * vocal, 8.0, Gesture::Stars(2));
            may(&mut gestures, 0.012 * vocal, 11.0, Gesture::Comment(note));
            may(&mut gestures, 0.1, 2.0, Gesture::Dwell(2_500));
            if let Some(correct) = self.maybe_correct(person) {
                gestures.push((14.0, correct));
            }
        }
        gestures
    }

    /// A correction of a wrong answer, if this user writes one.
    fn maybe_correct(&mut self, person: &DemoUser) -> Option<Gesture> {
        let likely = if self.app == Assistant::Sql { 0.45 } else { 0.06 };
        if !self.rng.flip_biased(likely * person.vocal.clamp(0.6, 1.6)) {
            return None;
        }
        let why = match self.topic.known_error {
            None => "This is how it should be.".to_owned(),
            Some(KnownError::TimeZone | KnownError::OldApi | KnownError::WrongTable) => {
                self.placeholders.fill_sentence(self.rng.pick_one(self.topic.complaints))
            }
        };
        Some(Gesture::Correct { better: self.placeholders.fill_sentence(self.topic.good[0]), why })
    }

    /// The next message and its delay in seconds, or `None` when the conversation ends.
    pub(crate) fn next_message(
        &mut self,
        message: MessageKind,
        reply: &Reply,
    ) -> Option<(f64, MessageKind)> {
        if message == MessageKind::Thanks {
            self.left = self.left.saturating_sub(1);
            // After thanking, users rarely ask another question.
            return (self.left > 0 && self.rng.flip_biased(0.4))
                .then(|| (self.pause_secs(90.0), MessageKind::Ask));
        }
        if reply.error.is_some() {
            self.tries += 1;
            return (self.tries < 3 && self.rng.flip_biased(0.6))
                .then(|| (self.pause_secs(12.0), MessageKind::Regenerate));
        }
        if !reply.good {
            return self.next_after_bad_reply();
        }
        let choices =
            [MessageKind::Thanks, MessageKind::FollowUp, MessageKind::Ask, MessageKind::Doubt];
        let follows = if self.left > 0 { 0.24 } else { 0.0 };
        let weights = [0.5, follows, f64::from(self.left) * 0.16, 0.025];
        let ends = 0.3;
        let place = self.rng.pick_weighted(&[weights[0], weights[1], weights[2], weights[3], ends]);
        let message = *choices.get(place)?;
        if message != MessageKind::Thanks {
            self.left = self.left.saturating_sub(1);
        }
        Some((self.pause_secs(45.0), message))
    }

    fn next_after_bad_reply(&mut self) -> Option<(f64, MessageKind)> {
        self.tries += 1;
        if self.tries > 3 {
            return None;
        }
        // The last weight is the probability of leaving.
        let place = self.rng.pick_weighted(&[0.48, 0.2, 0.1, 0.05, 0.17]);
        let message = *[
            MessageKind::Complain,
            MessageKind::Rephrase,
            MessageKind::Regenerate,
            MessageKind::Doubt,
        ]
        .get(place)?;
        Some((self.pause_secs(22.0), message))
    }

    fn pause_secs(&mut self, middle: f64) -> f64 {
        self.rng.next_skewed(middle).max(3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::find_model;
    use crate::people::generate_people;

    #[test]
    fn conversations_end_and_most_answers_are_good() {
        let rng = DemoRng::new(11);
        let people = generate_people(&mut rng.fork(0));
        let (mut turns, mut good, mut most) = (0, 0, 0);
        for number in 0..500 {
            let person = &people[number % people.len()];
            let mut conversation =
                Conversation::new(format!("c{number}"), 0, person, rng.fork(number as u64));
            let (mut message, mut said) = (MessageKind::Ask, 0);
            loop {
                let words = conversation.message_text(message, person);
                assert!(!words.is_empty() && !words.contains("{report}"), "{words}");
                let reply = conversation.generate_reply(message, find_model("atlas-2"), 5.0, 1.0);
                conversation.pick_gestures(&reply, person);
                (turns, said) = (turns + 1, said + 1);
                good += u32::from(reply.good);
                match conversation.next_message(message, &reply) {
                    Some((after, next)) => {
                        assert!(after >= 3.0);
                        message = next;
                    }
                    None => break,
                }
            }
            most = most.max(said);
        }
        assert!((900..2400).contains(&turns), "{turns}");
        assert!(most < 25, "{most}");
        assert!(f64::from(good) / f64::from(turns) > 0.7, "{good} of {turns}");
    }
}
