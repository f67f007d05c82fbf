//! What an event says about how its turn went.

use model::{Body, Event, Finding, GivenReward, Origin, Rating, Reaction, RetryIntent};

use crate::reward::{Answered, Judged, Signal};

/// Whoever is not named is one and the same.
pub(super) const NOBODY: u64 = 0;

/// The signals of an event about its turn. What a machine reacts is the verdict again, so it adds
/// nothing; what people say in words is heard through verdicts.
pub fn signal_of(event: &Event, body: &Body, pseudonym: &dyn Fn(&str) -> u64) -> Vec<Signal> {
    let user = event.user.as_ref().map_or(NOBODY, |user| pseudonym(user.as_str()));
    let one = match body {
        Body::Rating(rating) => Signal::Rating { user, given: Some(rating.value()) },
        Body::Reaction(given) if given.origin == Origin::User => {
            Signal::Rating { user, given: given.reaction.map(Reaction::value) }
        }
        Body::Correction(_) => Signal::Correction,
        Body::Interaction(interaction) => {
            Signal::Interaction { kind: interaction.kind, dwell_ms: interaction.dwell_ms }
        }
        Body::Finding(finding) => return by_finding(finding, user, pseudonym),
        Body::Reaction(_)
        | Body::Comment(_)
        | Body::Metric
        | Body::Decision(_)
        | Body::Settlement(_)
        | Body::Turn(_)
        | Body::Rule(_)
        | Body::Other => return Vec::new(),
    };
    vec![one]
}

fn by_finding(finding: &Finding, user: u64, pseudonym: &dyn Fn(&str) -> u64) -> Vec<Signal> {
    let one = match finding {
        Finding::Verdict(found) => Signal::Verdict {
            message: pseudonym(found.detected_in.as_str()),
            judged: Some(Judged {
                status: found.verdict.status,
                confidence: found.verdict.confidence,
                moved_on: found.moved_on,
            }),
        },
        Finding::Retry(found) if found.intent == RetryIntent::Dissatisfied => {
            Signal::Retry(found.similarity)
        }
        Finding::Answer(found) => Signal::Answered(Answered {
            failed: found.error.error_type.is_some(),
            seconds: found.latency.map(|pace| pace.seconds),
        }),
        Finding::Review { status } => Signal::Review(Some(*status)),
        Finding::Reward(given) => return by_reward(*given, user),
        Finding::Retry(_)
        | Finding::Session(_)
        | Finding::Vector { .. }
        | Finding::Choice(_)
        | Finding::Alert(_)
        | Finding::Suggestion(_)
        | Finding::Sentiment(_)
        | Finding::Exposure(_)
        | Finding::Returned(_)
        | Finding::Relevance(_)
        | Finding::Served { .. } => return Vec::new(),
    };
    vec![one]
}

fn by_reward(given: GivenReward, user: u64) -> Vec<Signal> {
    let quality = given.quality_score.map(|score| Signal::Quality(Some(score)));
    let stars = given.user_rating.map(|stars| Rating::Stars(stars).value());
    let rating = stars.map(|given| Signal::Rating { user, given: Some(given) });
    let met = given.met_expectations.map(|met| Signal::MetExpectations(Some(met)));
    quality.into_iter().chain(rating).chain(met).collect()
}
