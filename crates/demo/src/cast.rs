//! Who talks: made-up people with a plan, a language and a place, but no name.

use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// How many there are.
pub(crate) const PEOPLE: usize = 180;

/// In which language somebody writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// English.
    En,
    /// German.
    De,
    /// Spanish.
    Es,
}

impl Language {
    /// As a locale says it.
    pub(crate) fn locale(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Es => "es",
        }
    }
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) id: String,
    pub(crate) plan: &'static str,
    pub(crate) language: Language,
    pub(crate) city: &'static str,
    /// How often they come, compared with others.
    pub(crate) busy: f64,
    /// How likely they are to press a button.
    pub(crate) vocal: f64,
}

impl Person {
    /// What the application knows of them.
    pub(crate) fn attributes(&self) -> Map<String, Value> {
        let known = json!({"plan": self.plan, "locale": self.language.locale(),
            "city": self.city, "demo": true});
        known.as_object().cloned().unwrap_or_default()
    }
}

const PLANS: [(&str, f64); 4] = [("free", 0.35), ("pro", 0.35), ("team", 0.2), ("enterprise", 0.1)];
const CITIES: [(&str, Language); 12] = [
    ("Lisbon", Language::En),
    ("Denver", Language::En),
    ("Osaka", Language::En),
    ("Nairobi", Language::En),
    ("Adelaide", Language::En),
    ("Halifax", Language::En),
    ("Tallinn", Language::En),
    ("Chennai", Language::En),
    ("Bremen", Language::De),
    ("Graz", Language::De),
    ("Valencia", Language::Es),
    ("Rosario", Language::Es),
];

/// All of them.
pub(crate) fn people(dice: &mut Dice) -> Vec<Person> {
    let one = |number: usize| {
        let mut dice = dice.apart(number as u64);
        let plan = PLANS[dice.weighted(&PLANS.map(|(_, share)| share))].0;
        // Most write English to a machine.
        let city = if dice.chance(0.78) { dice.below(8) } else { 8 + dice.below(4) };
        let (city, language) = CITIES[city];
        let busy = dice.around(1.0);
        let vocal = dice.around(1.0).min(3.0);
        Person { id: format!("demo-user-{:03}", number + 1), plan, language, city, busy, vocal }
    };
    (0..PEOPLE).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_write_english_and_some_do_not() {
        let people = people(&mut Dice::new(1));
        let of = |language| people.iter().filter(|one| one.language == language).count();
        assert_eq!(people.len(), PEOPLE);
        assert!(of(Language::En) > 100 && of(Language::De) > 8 && of(Language::Es) > 8);
    }
}
