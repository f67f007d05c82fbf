//! How one conversation goes: what is said, how it is answered, and what happens then.

use crate::cast::Person;
use crate::dice::Dice;
use crate::models::{Model, OUTAGE};
use crate::phrasing::{self, Gaps};
use crate::topics::{self, App, Topic, Trap};
use crate::trials::Prompt;

/// What somebody says next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Something new.
    Ask,
    /// The same in other words.
    Again,
    /// The very same: the button for another answer.
    Same,
    /// What is wrong with the answer.
    Complain,
    /// Nobody can be sure.
    Doubt,
    /// What comes after a right answer.
    Next,
    /// Content, and gone.
    Thanks,
}

/// What somebody does with an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Gesture {
    /// A thumb, perhaps with a note.
    Thumb(bool, Option<&'static str>),
    /// One to five.
    Stars(u8),
    /// In words.
    Comment(&'static str),
    Copy,
    /// Milliseconds that it was read.
    Dwell(u32),
    /// A result that was opened.
    Click(&'static str),
    Export,
    Dashboard,
    Regenerate,
    /// How it should have been, and why.
    Correct {
        better: String,
        why: String,
    },
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) text: Option<String>,
    pub(crate) error: Option<&'static str>,
    pub(crate) good: bool,
    pub(crate) secs: f64,
    /// What a validator thinks of it, which is mostly right.
    pub(crate) score: Option<f64>,
    /// Ids of the pages that the search found, best first.
    pub(crate) pages: Vec<&'static str>,
}

/// A conversation that is going on.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) id: String,
    pub(crate) person: usize,
    pub(crate) app: App,
    pub(crate) topic: &'static Topic,
    pub(crate) dice: Dice,
    gaps: Gaps,
    asked: String,
    /// Questions that are still to come.
    left: u32,
    /// Answers to this question that did not help.
    tries: u8,
    /// The prompt, once it is chosen: an experiment does not change it half way.
    pub(crate) prompt: Option<Prompt>,
}

const ERRORS: [&str; 3] = [
    "upstream timeout after 30 s",
    "the search over the documents is unavailable",
    "model overloaded",
];
const SQL_ERRORS: [&str; 3] = [
    "column \"closed_month\" does not exist",
    "relation \"customer_regions\" does not exist",
    "division by zero",
];

impl Talk {
    /// One that begins now.
    pub(crate) fn begin(id: String, place: usize, person: &Person, mut dice: Dice) -> Self {
        let suits = |topic: &&&'static Topic| topic.language == person.language;
        let mut suiting: Vec<&'static Topic> = topics::all().collect();
        suiting.retain(|topic| suits(&topic) || topic.app == App::Sql);
        let weights: Vec<f64> = suiting.iter().map(|topic| topic.weight).collect();
        let topic = suiting[dice.weighted(&weights)];
        let left = [1, 1, 1, 2, 2, 3][dice.below(6)];
        let gaps = Gaps::of(person, &mut dice);
        let app = topic.app;
        Self {
            id,
            person: place,
            app,
            topic,
            dice,
            gaps,
            asked: String::new(),
            left,
            tries: 0,
            prompt: None,
        }
    }

    /// Another question of the same sort.
    fn turn_to_another(&mut self, person: &Person) {
        let same: Vec<&'static Topic> = topics::all()
            .filter(|topic| topic.app == self.app && topic.language == self.topic.language)
            .collect();
        let weights: Vec<f64> = same.iter().map(|topic| topic.weight).collect();
        self.topic = same[self.dice.weighted(&weights)];
        self.gaps = Gaps::of(person, &mut self.dice);
        self.tries = 0;
    }

    /// The words of a message.
    pub(crate) fn says(&mut self, message: Message, person: &Person) -> String {
        let language = self.topic.language;
        if message == Message::Ask && !self.asked.is_empty() {
            self.turn_to_another(person);
        }
        let sentences = match message {
            Message::Same => return self.asked.clone(),
            Message::Ask => self.topic.asks,
            Message::Again => self.topic.again,
            Message::Complain if !self.topic.complaints.is_empty() => self.topic.complaints,
            Message::Complain => phrasing::complaints(language),
            Message::Doubt => phrasing::doubts(language),
            Message::Next if !self.topic.next.is_empty() => self.topic.next,
            Message::Next => self.topic.asks,
            Message::Thanks => phrasing::thanks(language),
        };
        let said = self.gaps.fill(self.dice.pick(sentences));
        if matches!(message, Message::Ask | Message::Again | Message::Next) {
            self.asked.clone_from(&said);
        }
        said
    }

    /// How a model answers. `care` below 1 means that fewer answers are wrong.
    pub(crate) fn answers(
        &mut self,
        message: Message,
        model: &Model,
        day: f64,
        care: f64,
    ) -> Reply {
        let slow = if (OUTAGE.0..OUTAGE.1).contains(&day) { 2.2 } else { 1.0 };
        let secs = self.dice.around(model.secs) * slow;
        if message == Message::Thanks {
            let text = self.dice.pick(phrasing::farewells(self.topic.language));
            let text = Some(text.to_owned());
            return Reply { text, error: None, good: true, secs, score: None, pages: Vec::new() };
        }
        let pages = self.found();
        if self.dice.chance(model.fails(self.app, day)) {
            let errors = if self.app == App::Sql { &SQL_ERRORS } else { &ERRORS };
            let error = Some(self.dice.pick(errors));
            let secs = secs * 3.0;
            return Reply { text: None, error, good: false, secs, score: None, pages };
        }
        // Whoever is told what is wrong mostly gets it right.
        let trap = self.topic.trap.filter(|_| message != Message::Next);
        let wrong = model.wrong(trap) * care;
        let wrong = match message {
            Message::Complain => wrong * 0.4,
            Message::Again | Message::Same | Message::Doubt => wrong * 0.7,
            Message::Ask | Message::Next | Message::Thanks => wrong,
        };
        let good = !self.dice.chance(wrong);
        let sentences = if good { self.topic.good } else { self.topic.bad };
        let mut text = self.gaps.fill(self.dice.pick(sentences));
        if message == Message::Complain && self.app != App::Sql {
            text = format!("{} {text}", self.dice.pick(phrasing::apologies(self.topic.language)));
        }
        let score = match good {
            true => self.dice.between(0.74, 1.0),
            false => self.dice.between(0.25, 0.75),
        };
        Reply { text: Some(text), error: None, good, secs, score: Some(score), pages }
    }

    /// What the search over the documents finds.
    fn found(&mut self) -> Vec<&'static str> {
        if self.app != App::Docs {
            return Vec::new();
        }
        let mut found: Vec<&'static str> = self.topic.pages.to_vec();
        // Nobody ever uses the glossary, but it is found for everything.
        found.push("doc-glossary");
        while found.len() < 5 {
            let (page, ..) = self.dice.pick(topics::pages());
            if !found.contains(&page) {
                found.push(page);
            }
        }
        if self.dice.chance(0.3) {
            found.swap(0, 2);
        }
        found
    }

    /// What somebody does with an answer, each after so many seconds.
    pub(crate) fn gestures(&mut self, reply: &Reply, person: &Person) -> Vec<(f64, Gesture)> {
        let mut made = Vec::new();
        let vocal = person.vocal;
        let mut may = |made: &mut Vec<_>, likely: f64, after: f64, gesture: Gesture| {
            if self.dice.chance(likely) {
                made.push((after + self.dice.between(0.0, 6.0), gesture));
            }
        };
        if reply.good {
            let note =
                phrasing::HAPPY_NOTES[reply.secs.to_bits() as usize % phrasing::HAPPY_NOTES.len()];
            may(&mut made, 0.06 * vocal, 6.0, Gesture::Thumb(true, None));
            may(&mut made, 0.012 * vocal, 8.0, Gesture::Thumb(true, Some(note)));
            may(&mut made, 0.012 * vocal, 9.0, Gesture::Stars(5));
            may(&mut made, 0.008 * vocal, 12.0, Gesture::Comment(note));
            may(&mut made, 0.26, 5.0, Gesture::Copy);
            may(&mut made, 0.12, 2.0, Gesture::Dwell(9_000 + (reply.secs * 9_000.0) as u32));
            match self.app {
                App::Docs => {
                    let page = reply.pages.first().copied().unwrap_or("doc-quickstart");
                    may(&mut made, 0.2, 7.0, Gesture::Click(page));
                }
                App::Sql => {
                    may(&mut made, 0.12, 9.0, Gesture::Export);
                    may(&mut made, 0.08, 11.0, Gesture::Dashboard);
                }
                App::Support => {}
            }
        } else if reply.error.is_none() {
            let note = phrasing::UNHAPPY_NOTES
                [reply.secs.to_bits() as usize % phrasing::UNHAPPY_NOTES.len()];
            may(&mut made, 0.12 * vocal, 5.0, Gesture::Thumb(false, None));
            may(&mut made, 0.03 * vocal, 7.0, Gesture::Thumb(false, Some(note)));
            may(&mut made, 0.015 * vocal, 8.0, Gesture::Stars(2));
            may(&mut made, 0.012 * vocal, 11.0, Gesture::Comment(note));
            may(&mut made, 0.1, 2.0, Gesture::Dwell(2_500));
            if let Some(correct) = self.correction(person) {
                made.push((14.0, correct));
            }
        }
        made
    }

    /// How a wrong answer should have been, from somebody who can tell.
    fn correction(&mut self, person: &Person) -> Option<Gesture> {
        let likely = if self.app == App::Sql { 0.45 } else { 0.06 };
        if !self.dice.chance(likely * person.vocal.clamp(0.6, 1.6)) {
            return None;
        }
        let why = match self.topic.trap {
            None => "This is how it should be.".to_owned(),
            Some(Trap::TimeZone | Trap::OldApi | Trap::WrongTable) => {
                self.gaps.fill(self.dice.pick(self.topic.complaints))
            }
        };
        Some(Gesture::Correct { better: self.gaps.fill(self.topic.good[0]), why })
    }

    /// What is said next, after so many seconds; nothing when it is over.
    pub(crate) fn next(&mut self, message: Message, reply: &Reply) -> Option<(f64, Message)> {
        if message == Message::Thanks {
            self.left = self.left.saturating_sub(1);
            // Whoever thanked rarely has another question.
            return (self.left > 0 && self.dice.chance(0.4))
                .then(|| (self.pause(90.0), Message::Ask));
        }
        if reply.error.is_some() {
            self.tries += 1;
            return (self.tries < 3 && self.dice.chance(0.6))
                .then(|| (self.pause(12.0), Message::Same));
        }
        if !reply.good {
            return self.next_after_a_bad_one();
        }
        let choices = [Message::Thanks, Message::Next, Message::Ask, Message::Doubt];
        let follows = if self.left > 0 { 0.24 } else { 0.0 };
        let weights = [0.5, follows, f64::from(self.left) * 0.16, 0.025];
        let ends = 0.3;
        let place = self.dice.weighted(&[weights[0], weights[1], weights[2], weights[3], ends]);
        let message = *choices.get(place)?;
        if message != Message::Thanks {
            self.left = self.left.saturating_sub(1);
        }
        Some((self.pause(45.0), message))
    }

    fn next_after_a_bad_one(&mut self) -> Option<(f64, Message)> {
        self.tries += 1;
        if self.tries > 3 {
            return None;
        }
        // The last weight is that of whoever leaves.
        let place = self.dice.weighted(&[0.48, 0.2, 0.1, 0.05, 0.17]);
        let message =
            *[Message::Complain, Message::Again, Message::Same, Message::Doubt].get(place)?;
        Some((self.pause(22.0), message))
    }

    fn pause(&mut self, middle: f64) -> f64 {
        self.dice.around(middle).max(3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::people;
    use crate::models::model;

    #[test]
    fn conversations_end_and_most_answers_are_good() {
        let dice = Dice::new(11);
        let people = people(&mut dice.apart(0));
        let (mut turns, mut good, mut most) = (0, 0, 0);
        for number in 0..500 {
            let person = &people[number % people.len()];
            let mut talk = Talk::begin(format!("c{number}"), 0, person, dice.apart(number as u64));
            let (mut message, mut said) = (Message::Ask, 0);
            loop {
                let words = talk.says(message, person);
                assert!(!words.is_empty() && !words.contains("{report}"), "{words}");
                let reply = talk.answers(message, model("atlas-2"), 5.0, 1.0);
                talk.gestures(&reply, person);
                (turns, said) = (turns + 1, said + 1);
                good += u32::from(reply.good);
                match talk.next(message, &reply) {
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
