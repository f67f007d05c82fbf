//! Made-up users with a plan, a language and a city, but no name.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::rng::DemoRng;

pub(crate) const PEOPLE_COUNT: usize = 180;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Language {
    En,
    De,
    Es,
}

#[derive(Clone, Debug)]
pub(crate) struct DemoUser {
    pub(crate) id: String,
    pub(crate) plan: &'static str,
    pub(crate) language: Language,
    pub(crate) city: &'static str,
    /// Relative number of conversations.
    pub(crate) busy: f64,
    /// Factor on the probability of explicit feedback.
    pub(crate) vocal: f64,
}

impl DemoUser {
    pub(crate) fn profile_attributes(&self) -> Map<String, Value> {
        let known = json!({"plan": self.plan, "locale": self.language, "city": self.city,
            "demo": true});
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

pub(crate) fn generate_people(rng: &mut DemoRng) -> Vec<DemoUser> {
    let one = |number: usize| {
        let mut rng = rng.fork(number as u64);
        let plan = PLANS[rng.pick_weighted(&PLANS.map(|(_, share)| share))].0;
        // Most users write English.
        let city = if rng.flip_biased(0.78) { rng.next_index(8) } else { 8 + rng.next_index(4) };
        let (city, language) = CITIES[city];
        let busy = rng.next_skewed(1.0);
        let vocal = rng.next_skewed(1.0).min(3.0);
        DemoUser { id: format!("demo-user-{:03}", number + 1), plan, language, city, busy, vocal }
    };
    (0..PEOPLE_COUNT).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_users_write_english() {
        let people = generate_people(&mut DemoRng::new(1));
        let of = |language| people.iter().filter(|one| one.language == language).count();
        assert_eq!(people.len(), PEOPLE_COUNT);
        assert!(of(Language::En) > 100 && of(Language::De) > 8 && of(Language::Es) > 8);
    }
}
