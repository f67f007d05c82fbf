//! Sentence templates and the values for their placeholders.

use crate::people::{DemoUser, Language};
use crate::rng::DemoRng;

const REPORT_NAMES: [&str; 10] = [
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
const REPORT_PERIODS: [&str; 3] = ["daily", "weekly", "monthly"];
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

/// Placeholder values, shared by all sentences about one question.
#[derive(Clone, Debug)]
pub(crate) struct Placeholders(Vec<(&'static str, String)>);

impl Placeholders {
    pub(crate) fn new(person: &DemoUser, rng: &mut DemoRng) -> Self {
        let months = &MONTHS[language_index(person.language)];
        let hour = 7 + rng.next_index(11);
        Self(vec![
            ("{report}", rng.pick_one(&REPORT_NAMES).to_owned()),
            ("{period}", rng.pick_one(&REPORT_PERIODS).to_owned()),
            ("{format}", rng.pick_one(&FORMATS).to_owned()),
            ("{region}", rng.pick_one(&REGIONS).to_owned()),
            ("{month}", rng.pick_one(months).to_owned()),
            ("{hour}", hour.to_string()),
            ("{n}", (2 + rng.next_index(8)).to_string()),
            ("{city}", person.city.to_owned()),
        ])
    }

    pub(crate) fn fill_sentence(&self, sentence: &str) -> String {
        let mut filled = sentence.to_owned();
        for (gap, word) in &self.0 {
            if filled.contains(gap) {
                filled = filled.replace(gap, word);
            }
        }
        filled
    }
}

fn language_index(language: Language) -> usize {
    match language {
        Language::En => 0,
        Language::De => 1,
        Language::Es => 2,
    }
}

/// Messages of a satisfied user.
pub(crate) fn thanks_phrases(language: Language) -> &'static [&'static str] {
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

/// Complaints about an answer without a specific error.
pub(crate) fn complaint_phrases(language: Language) -> &'static [&'static str] {
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

/// Ambiguous messages that neither accept nor reject an answer.
pub(crate) fn doubt_phrases(language: Language) -> &'static [&'static str] {
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

/// Replies to thanks.
pub(crate) fn farewell_phrases(language: Language) -> &'static [&'static str] {
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

/// Openings of a reply to a complaint.
pub(crate) fn apology_phrases(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => {
            &["You are right, sorry about that.", "Thanks for pointing it out.", "My mistake."]
        }
        Language::De => &["Sie haben recht, Entschuldigung.", "Danke für den Hinweis."],
        Language::Es => &["Tienes razón, perdona.", "Gracias por avisar."],
    }
}

/// Notes for a thumbs down.
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

/// Notes for a thumbs up.
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
    use crate::people::generate_people;
    use crate::topics;

    #[test]
    fn every_placeholder_is_filled() {
        let mut rng = DemoRng::new(9);
        let person = generate_people(&mut rng).remove(0);
        let placeholders = Placeholders::new(&person, &mut rng);
        for topic in topics::all_topics() {
            let lists =
                [topic.questions, topic.rephrasings, topic.follow_ups, topic.good, topic.bad];
            for sentence in lists.into_iter().flatten().chain(topic.complaints) {
                let filled = placeholders.fill_sentence(sentence);
                for gap in placeholders.0.iter().map(|(gap, _)| gap) {
                    assert!(!filled.contains(gap), "{filled}");
                }
                let left = filled.matches(['{', '}']).count();
                assert!(left == 0 || filled.contains("{\"view\""), "{filled}");
            }
        }
    }
}
