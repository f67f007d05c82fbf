//! Simulates one conversation: messages, replies and user gestures.

use crate::experiments::PromptVersion;
use crate::models::{DemoModel, OUTAGE_DAYS};
use crate::people::DemoUser;
use crate::phrasing::{PHRASE_BOOK, Placeholders};
use crate::rng::DemoRng;
use crate::topics::{Assistant, ConversationTopic, DOC_PAGES, TOPICS};

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

#[derive(Clone, Debug, Default)]
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
        let topic = pick_topic(&mut rng, |topic| {
            topic.language == person.language || topic.app == Assistant::Sql
        });
        Self {
            id,
            person: person_index,
            app: topic.app,
            topic,
            left: *rng.pick_one(&[1, 1, 1, 2, 2, 3]),
            placeholders: Placeholders::new(person, &mut rng),
            rng,
            asked: String::new(),
            tries: 0,
            prompt: None,
        }
    }

    /// Switches to another question for the same assistant in the same language.
    fn switch_topic(&mut self, person: &DemoUser) {
        let language = self.topic.language;
        self.topic =
            pick_topic(&mut self.rng, |topic| topic.app == self.app && topic.language == language);
        self.placeholders = Placeholders::new(person, &mut self.rng);
        self.tries = 0;
    }

    pub(crate) fn message_text(&mut self, message: MessageKind, person: &DemoUser) -> String {
        if message == MessageKind::Ask && !self.asked.is_empty() {
            self.switch_topic(person);
        }
        let (topic, phrases) = (self.topic, PHRASE_BOOK.phrases(self.topic.language));
        let sentences = match message {
            MessageKind::Regenerate => return self.asked.clone(),
            MessageKind::Ask => &topic.questions,
            MessageKind::Rephrase => &topic.rephrasings,
            MessageKind::Complain if topic.complaints.is_empty() => &phrases.complaints,
            MessageKind::Complain => &topic.complaints,
            MessageKind::Doubt => &phrases.doubts,
            MessageKind::FollowUp => &topic.follow_ups,
            MessageKind::Thanks => &phrases.thanks,
        };
        let text = self.placeholders.pick_sentence(sentences, &mut self.rng);
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
        let phrases = PHRASE_BOOK.phrases(self.topic.language);
        if message == MessageKind::Thanks {
            let text = Some(self.rng.pick_one(&phrases.farewells).clone());
            return Reply { text, good: true, secs, ..Reply::default() };
        }
        let pages = self.search_pages();
        if self.rng.flip_biased(model.failure_probability(self.app, day)) {
            let errors = if self.app == Assistant::Sql { &SQL_ERRORS } else { &CALL_ERRORS };
            let error = Some(*self.rng.pick_one(errors));
            return Reply { error, secs: secs * 3.0, pages, ..Reply::default() };
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
        let sentences = if good { &self.topic.good } else { &self.topic.bad };
        let mut text = self.placeholders.pick_sentence(sentences, &mut self.rng);
        if message == MessageKind::Complain && self.app != Assistant::Sql {
            text = format!("{} {text}", self.rng.pick_one(&phrases.apologies));
        }
        let (low, high) = if good { (0.74, 1.0) } else { (0.25, 0.75) };
        let score = self.rng.next_between(low, high);
        Reply { text: Some(text), error: None, good, secs, score: Some(score), pages }
    }

    /// Simulates the document search.
    fn search_pages(&mut self) -> Vec<&'static str> {
        if self.app != Assistant::Docs {
            return Vec::new();
        }
        let mut found: Vec<&'static str> = self.topic.pages.iter().map(String::as_str).collect();
        // The glossary is retrieved for every question and never used.
        found.push("doc-glossary");
        while found.len() < 5 {
            let page = self.rng.pick_one(&DOC_PAGES).id.as_str();
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
            let note = choose_note(&PHRASE_BOOK.happy_notes, reply);
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
            let note = choose_note(&PHRASE_BOOK.unhappy_notes, reply);
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
            Some(_) => self.placeholders.pick_sentence(&self.topic.complaints, &mut self.rng),
        };
        Some(Gesture::Correct { better: self.placeholders.fill_sentence(&self.topic.good[0]), why })
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
        let follows = if self.left > 0 { 0.24 } else { 0.0 };
        let message = self.choose_message([
            (Some(MessageKind::Thanks), 0.5),
            (Some(MessageKind::FollowUp), follows),
            (Some(MessageKind::Ask), f64::from(self.left) * 0.16),
            (Some(MessageKind::Doubt), 0.025),
            (None, 0.3),
        ])?;
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
        let message = self.choose_message([
            (Some(MessageKind::Complain), 0.48),
            (Some(MessageKind::Rephrase), 0.2),
            (Some(MessageKind::Regenerate), 0.1),
            (Some(MessageKind::Doubt), 0.05),
            (None, 0.17),
        ])?;
        Some((self.pause_secs(22.0), message))
    }

    /// Picks by weight; `None` means that the user leaves.
    fn choose_message(&mut self, choices: [(Option<MessageKind>, f64); 5]) -> Option<MessageKind> {
        choices[self.rng.pick_weighted(&choices.map(|(_, weight)| weight))].0
    }

    fn pause_secs(&mut self, middle: f64) -> f64 {
        self.rng.next_skewed(middle).max(3.0)
    }
}

/// Picks one of the suitable topics by its weight.
fn pick_topic(
    rng: &mut DemoRng,
    suits: impl Fn(&ConversationTopic) -> bool,
) -> &'static ConversationTopic {
    let candidates: Vec<_> = TOPICS.iter().filter(|topic| suits(topic)).collect();
    let weights: Vec<f64> = candidates.iter().map(|topic| topic.weight).collect();
    candidates[rng.pick_weighted(&weights)]
}

/// A note that depends on the reply alone, so that it takes no random number.
fn choose_note(notes: &'static [String], reply: &Reply) -> &'static str {
    &notes[reply.secs.to_bits() as usize % notes.len()]
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
