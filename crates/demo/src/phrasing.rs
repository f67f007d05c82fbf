//! How things are said: sentences with gaps, and what fills them.

use crate::cast::{Language, Person};
use crate::dice::Dice;

const REPORTS: [&str; 10] = [
    "sales",
    "signups",
    "usage",
    "churn",
    "pipeline",
    "inventory",
    "traffic",
    "marketing",
    "retention",
    "finance",
];
const PERIODS: [&str; 3] = ["daily", "weekly", "monthly"];
const FORMATS: [&str; 4] = ["CSV", "Excel", "JSON", "PDF"];
const REGIONS: [&str; 9] = [
    "Bavaria",
    "Ontario",
    "Kansai",
    "Andalusia",
    "Queensland",
    "Oregon",
    "Wallonia",
    "Punjab",
    "Patagonia",
];
const MONTHS: [[&str; 6]; 3] = [
    ["January", "March", "April", "June", "August", "October"],
    ["Januar", "März", "April", "Juni", "August", "Oktober"],
    ["enero", "marzo", "abril", "junio", "agosto", "octubre"],
];

/// What fills the gaps of one question and of all that is said about it.
#[derive(Clone, Debug)]
pub(crate) struct Gaps(Vec<(&'static str, String)>);

impl Gaps {
    /// For a question of this person.
    pub(crate) fn of(person: &Person, dice: &mut Dice) -> Self {
        let months = &MONTHS[language_place(person.language)];
        let hour = 7 + dice.below(11);
        Self(vec![
            ("{report}", dice.pick(&REPORTS).to_owned()),
            ("{period}", dice.pick(&PERIODS).to_owned()),
            ("{format}", dice.pick(&FORMATS).to_owned()),
            ("{region}", dice.pick(&REGIONS).to_owned()),
            ("{month}", dice.pick(months).to_owned()),
            ("{hour}", hour.to_string()),
            ("{n}", (2 + dice.below(8)).to_string()),
            ("{city}", person.city.to_owned()),
        ])
    }

    /// A sentence without gaps.
    pub(crate) fn fill(&self, sentence: &str) -> String {
        let mut filled = sentence.to_owned();
        for (gap, word) in &self.0 {
            if filled.contains(gap) {
                filled = filled.replace(gap, word);
            }
        }
        filled
    }
}

fn language_place(language: Language) -> usize {
    match language {
        Language::En => 0,
        Language::De => 1,
        Language::Es => 2,
    }
}

/// What somebody says who is content.
pub(crate) fn thanks(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => &[
            "Thanks, that worked!",
            "Perfect, thank you.",
            "Great, exactly what I needed.",
            "That did it, thanks a lot.",
            "Thanks!",
            "Wonderful, that helps.",
            "Got it, thank you very much.",
            "Yes, that is right. Thanks.",
            "Ah, now it works. Thank you!",
            "Very helpful, thanks.",
        ],
        Language::De => &[
            "Danke, das hat funktioniert!",
            "Super, vielen Dank.",
            "Perfekt, genau das brauchte ich.",
            "Danke, jetzt klappt es.",
        ],
        Language::Es => &[
            "Gracias, ha funcionado.",
            "Perfecto, muchas gracias.",
            "Genial, justo lo que necesitaba.",
        ],
    }
}

/// What somebody says of an answer that is wrong in no particular way.
pub(crate) fn complaints(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => &[
            "That's not what I asked.",
            "No, that is wrong.",
            "This doesn't help at all.",
            "That can't be right, there is no such button.",
            "I tried that already and it did not work.",
            "No. Please read my question again.",
            "That is not true for our plan.",
            "You misunderstood me.",
            "This answer is wrong, I can see it on my screen.",
            "Sorry, but that makes no sense.",
        ],
        Language::De => &[
            "Das stimmt nicht.",
            "Nein, das ist falsch.",
            "Das hilft mir nicht weiter, diesen Knopf gibt es nicht.",
            "Danach habe ich nicht gefragt.",
        ],
        Language::Es => &[
            "Eso no es lo que pregunté.",
            "No, eso está mal.",
            "No me sirve, ese botón no existe.",
        ],
    }
}

/// What somebody says of whom nobody can be sure whether they are content.
pub(crate) fn doubts(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => &[
            "Hm, are you sure about that?",
            "I expected something else, but okay.",
            "Not quite what I had in mind.",
            "Okay, but I don't see it here.",
            "Maybe. I will have to check with a colleague.",
            "Really? That looks different on my side.",
            "Well, that is only half of it.",
            "Is that all there is to {report}?",
            "I thought {month} would be part of it.",
            "Somehow I doubt that this is all.",
            "Fine, though a colleague in {city} told me otherwise.",
            "Could be, I will look at {report} again tomorrow.",
            "If you say so.",
        ],
        Language::De => &[
            "Hm, sind Sie sicher?",
            "Das sieht bei mir anders aus.",
            "Na gut, ich hatte etwas anderes erwartet.",
        ],
        Language::Es => {
            &["Hm, ¿seguro?", "En mi pantalla se ve diferente.", "Bueno, esperaba otra cosa."]
        }
    }
}

/// What is answered to thanks.
pub(crate) fn farewells(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => &[
            "You're welcome! Ask again whenever something comes up.",
            "Glad it works.",
            "Happy to help.",
        ],
        Language::De => &["Gern geschehen!", "Freut mich, dass es klappt."],
        Language::Es => &["¡De nada!", "Me alegro de que funcione."],
    }
}

/// How an answer to a complaint begins.
pub(crate) fn apologies(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => {
            &["You are right, sorry about that.", "Thanks for pointing it out.", "My mistake."]
        }
        Language::De => &["Sie haben recht, Entschuldigung.", "Danke für den Hinweis."],
        Language::Es => &["Tienes razón, perdona.", "Gracias por avisar."],
    }
}

/// What is written beside a thumb down.
pub(crate) const UNHAPPY_NOTES: [&str; 8] = [
    "Did not answer my question.",
    "Confident, but wrong.",
    "Took three tries to get a usable answer.",
    "The steps do not match what I see.",
    "Too long, and the important part is missing.",
    "It keeps telling me the same thing.",
    "Outdated information.",
    "I had to ask a person in the end.",
];

/// What is written beside a thumb up.
pub(crate) const HAPPY_NOTES: [&str; 7] = [
    "Quick and to the point.",
    "Saved me a call.",
    "Found it straight away with this.",
    "Better than searching the help pages.",
    "Clear steps, thank you.",
    "The query was right on the first try.",
    "Nice, also explained why.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::people;
    use crate::topics;

    #[test]
    fn no_sentence_keeps_a_gap() {
        let mut dice = Dice::new(9);
        let person = people(&mut dice).remove(0);
        let gaps = Gaps::of(&person, &mut dice);
        for topic in topics::all() {
            let lists = [topic.asks, topic.again, topic.next, topic.good, topic.bad];
            for sentence in lists.into_iter().flatten().chain(topic.complaints) {
                let filled = gaps.fill(sentence);
                for gap in gaps.0.iter().map(|(gap, _)| gap) {
                    assert!(!filled.contains(gap), "{filled}");
                }
                let left = filled.matches(['{', '}']).count();
                assert!(left == 0 || filled.contains("{\"view\""), "{filled}");
            }
        }
    }
}
