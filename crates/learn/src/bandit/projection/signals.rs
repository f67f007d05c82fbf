//! Reward signals extracted from an event.

use model::{Body, Event, Finding, GivenReward, Origin, Rating, Reaction, RetryIntent};

use crate::reward::{ANONYMOUS_USER, AnswerOutcome, MessageVerdict, TurnSignal};

/// The signals an event carries about its turn. Machine reactions repeat a verdict and comments are
/// covered by verdicts, so neither adds a signal.
pub fn extract_signals(event: &Event, pseudonym: &dyn Fn(&str) -> u64) -> Vec<TurnSignal> {
    let user = event.user.as_ref().map_or(ANONYMOUS_USER, |user| pseudonym(user.as_str()));
    let one = match &event.body {
        Body::Rating(sent) => TurnSignal::Rating { user, given: Some(sent.rating.value()) },
        Body::Reaction(given) if given.origin == Origin::User => {
            TurnSignal::Rating { user, given: given.reaction.map(Reaction::value) }
        }
        Body::Correction(_) => TurnSignal::Correction,
        Body::Interaction(interaction) => {
            TurnSignal::Interaction { kind: interaction.kind, dwell_ms: interaction.dwell_ms }
        }
        Body::Finding(finding) => return finding_signals(finding, user, pseudonym),
        Body::Reaction(_)
        | Body::Comment(_)
        | Body::Metric(_)
        | Body::Decision(_)
        | Body::Settlement(_)
        | Body::Spans(_)
        | Body::Turn(_)
        | Body::Rule(_)
        | Body::Other(_)
        | Body::Unreadable(_) => return Vec::new(),
    };
    vec![one]
}

fn finding_signals(
    finding: &Finding,
    user: u64,
    pseudonym: &dyn Fn(&str) -> u64,
) -> Vec<TurnSignal> {
    let signal = match finding {
        Finding::Verdict(found) => TurnSignal::Verdict {
            message: pseudonym(found.detected_in.as_str()),
            judged: Some(MessageVerdict {
                status: found.verdict.status,
                confidence: found.verdict.confidence,
                moved_on: found.moved_on,
            }),
        },
        Finding::Retry(found) if found.intent == RetryIntent::Dissatisfied => {
            TurnSignal::Retry(found.similarity)
        }
        Finding::Answer(found) => {
            let asked = (user != ANONYMOUS_USER).then_some(TurnSignal::AskedBy { user });
            let answered = TurnSignal::Answered(AnswerOutcome {
                failed: found.error.error_type.is_some(),
                seconds: found.latency.map(|pace| pace.seconds),
            });
            return asked.into_iter().chain([answered]).collect();
        }
        Finding::Review { status } => TurnSignal::Review(Some(*status)),
        Finding::Reward(given) => return reward_signals(*given, user),
        Finding::Retry(_)
        | Finding::Session(_)
        | Finding::Vector { .. }
        | Finding::Choice(_)
        | Finding::Alert(_)
        | Finding::Suggestion(_)
        | Finding::Sentiment(_)
        | Finding::Exposure(_)
        | Finding::Returned(_)
        | Finding::PendingUsage(_)
        | Finding::Trace(_)
        | Finding::Relevance(_)
        | Finding::Served { .. } => return Vec::new(),
    };
    vec![signal]
}

fn reward_signals(given: GivenReward, user: u64) -> Vec<TurnSignal> {
    let quality = given.quality_score.map(|score| TurnSignal::Quality(Some(score)));
    let stars = given.user_rating.map(|stars| Rating::Stars(stars).value());
    let rating = stars.map(|given| TurnSignal::Rating { user, given: Some(given) });
    let met = given.met_expectations.map(|met| TurnSignal::MetExpectations(Some(met)));
    quality.into_iter().chain(rating).chain(met).collect()
}
