//! One moment of the story, through the engine's doors.

use engine::{EngineError, RawCompletion, RawRetrieved};
use model::Timestamp;
use serde_json::json;

use crate::doors::Place;
use crate::models::{Model, ROUTER, model};
use crate::rhythm::day_of;
use crate::story::{Gesture, Message, Reply};
use crate::telling::{Beat, Telling};
use crate::topics::{self, App};
use crate::trials::{Prompt, prompt};

/// Somebody says something and is answered.
pub(crate) async fn says(
    telling: &mut Telling<'_>,
    at: Timestamp,
    number: usize,
    message: Message,
) -> Result<(), EngineError> {
    let day = day_of(telling.now, at);
    let person = telling.people[telling.talks[number].person].clone();
    telling.turns += 1;
    let talk = &mut telling.talks[number];
    let place = Place {
        turn: format!("demo-turn-{:05}", telling.turns),
        conversation: talk.id.clone(),
        user: person.id.clone(),
    };
    let text = talk.says(message, &person);
    let (app, intent) = (talk.app, intent_of(message, talk.topic.intent));
    let asked = text.len();
    let route = telling.doors.ask(&place, (text, intent), ROUTER).await?;
    let arm = route.as_ref().map_or("swift-1", |route| route.arm.as_str());
    let made_with = match telling.talks[number].prompt.clone() {
        Some(chosen) => chosen,
        None => prompt(&telling.doors, app, &place.conversation, day).await?,
    };
    let talk = &mut telling.talks[number];
    talk.prompt = Some(made_with.clone());
    let reply = talk.answers(message, model(arm), day, made_with.care);
    let decision = route.as_ref().map(|route| route.decision_id.clone());
    let completion = completion(&reply, model(arm), &made_with, (at, asked), decision);
    telling.doors.answer(&place, completion).await?;
    if app == App::Sql && message != Message::Thanks {
        decide(telling, &place, number, &reply).await?;
    }
    go_on(telling, at, (number, message), &place, &reply);
    Ok(())
}

fn intent_of(message: Message, intent: &'static str) -> &'static str {
    match message {
        Message::Ask | Message::Same | Message::Again => intent,
        Message::Next => "refine",
        Message::Complain | Message::Doubt | Message::Thanks => "feedback",
    }
}

/// What happens after an answer is put on the agenda.
fn go_on(
    telling: &mut Telling<'_>,
    at: Timestamp,
    (number, message): (usize, Message),
    place: &Place,
    reply: &Reply,
) {
    let talk = &mut telling.talks[number];
    let person = &telling.people[talk.person];
    let answered = reply.secs;
    let later = |secs: f64| at.plus_secs((answered + secs).ceil() as i64);
    let is_over = message == Message::Thanks;
    let mut gestures = if is_over { Vec::new() } else { talk.gestures(reply, person) };
    let next = talk.next(message, reply);
    if let Some((after, Message::Complain)) = next {
        telling.disliked.push(place.turn.clone());
        gestures.retain(|(when, _)| when < &after);
    }
    if let Some((after, Message::Same)) = next.filter(|_| reply.error.is_none()) {
        gestures.push(((after - 1.0).max(0.0), Gesture::Regenerate));
    }
    for (secs, gesture) in gestures {
        let answer = reply.text.clone().unwrap_or_default();
        telling.agenda.put(later(secs), Beat::Does { place: place.clone(), gesture, answer });
    }
    if let Some((secs, message)) = next {
        telling.agenda.put(later(secs), Beat::Says { talk: number, message });
    }
}

fn completion(
    reply: &Reply,
    model: &Model,
    prompt: &Prompt,
    (at, asked): (Timestamp, usize),
    decision_id: Option<String>,
) -> RawCompletion {
    let latency_ms = (reply.secs * 1000.0).round();
    let done = Timestamp::from_micros(at.as_micros() + (latency_ms * 1000.0) as i64);
    let tokens_in = 380 + asked as u64 / 4 + 220 * reply.pages.len() as u64;
    let tokens_out = reply.text.as_ref().map_or(0, |text| text.len() as u64 / 4 + 8);
    RawCompletion {
        response: reply.text.clone(),
        status: Some(if reply.error.is_some() { "error" } else { "success" }.to_owned()),
        error: reply.error.map(str::to_owned),
        model: Some(model.id.to_owned()),
        decision_id,
        strategy: strategy(prompt),
        prompt: Some((prompt.id.to_owned(), Some(prompt.version.to_owned()))),
        retrieved: retrieved(reply),
        quality_score: reply.score.map(|score| (score - 0.25 * prompt.care).clamp(0.0, 1.0)),
        started_at: Some(at.to_string()),
        completed_at: Some(done.to_string()),
        latency_ms: Some(latency_ms),
        time_to_first_token_ms: Some((latency_ms * 0.35).round()),
        tokens_in: Some(tokens_in),
        tokens_out: Some(tokens_out),
        cost: Some(model.cost(tokens_in, tokens_out)),
        ..RawCompletion::default()
    }
}

fn strategy(prompt: &Prompt) -> Option<(String, serde_json::Map<String, serde_json::Value>)> {
    let name = match (prompt.id, prompt.version) {
        ("docs", _) => "search_then_answer",
        ("sql", "6") => "hints_then_sql",
        ("sql", _) => "direct_sql",
        _ => "answer",
    };
    Some((name.to_owned(), serde_json::Map::new()))
}

fn retrieved(reply: &Reply) -> Vec<RawRetrieved> {
    let item = |(place, found): (usize, &&'static str)| {
        let page = topics::pages().iter().find(|(id, ..)| id == found);
        RawRetrieved {
            entity_id: (*found).to_owned(),
            name: page.map(|(_, title, _)| (*title).to_owned()),
            content: page.map(|(.., content)| (*content).to_owned()),
            rank: Some(place as u32 + 1),
            score: Some(0.92 - 0.11 * place as f64),
        }
    };
    reply.pages.iter().enumerate().map(item).collect()
}

async fn decide(
    telling: &mut Telling<'_>,
    place: &Place,
    number: usize,
    reply: &Reply,
) -> Result<(), EngineError> {
    let sure = telling.talks[number].dice.between(0.0, 0.25);
    let sure = if reply.good { 0.72 + sure } else { 0.5 + sure };
    let sql = reply.text.clone().unwrap_or_default();
    let data = json!({"sql": sql, "error": reply.error, "dialect": "postgres", "demo": true});
    let decision = decision_of(place);
    telling.doors.decide(place, &decision, (data, reply.error.is_none(), sure)).await
}

fn decision_of(place: &Place) -> String {
    place.turn.replace("turn", "decision")
}

/// Somebody does something with an answer.
pub(crate) async fn does(
    telling: &Telling<'_>,
    place: &Place,
    gesture: Gesture,
    answer: &str,
) -> Result<(), EngineError> {
    let doors = &telling.doors;
    let clicks = ("interaction", "user_interaction", "user_satisfaction");
    let says = |source| ("explicit", source, "user_satisfaction");
    match gesture {
        Gesture::Thumb(up, Some(note)) => doors.react(place, up, note).await,
        Gesture::Thumb(up, None) => {
            let rating = if up { "positive" } else { "negative" };
            doors.event(place, says("user_rating"), json!({"rating": rating})).await
        }
        Gesture::Stars(stars) => {
            doors.event(place, says("user_rating"), json!({"rating": stars})).await
        }
        Gesture::Comment(text) => {
            doors.event(place, says("user_comment"), json!({"comment": text})).await
        }
        Gesture::Copy => doors.event(place, clicks, json!({"kind": "copy"})).await,
        Gesture::Dwell(millis) => {
            doors.event(place, clicks, json!({"kind": "dwell_time", "dwell_ms": millis})).await
        }
        Gesture::Click(target) => {
            let data = json!({"kind": "result_interaction", "target": target});
            doors.event(place, clicks, data).await
        }
        Gesture::Export => doors.event(place, clicks, json!({"kind": "export"})).await,
        Gesture::Dashboard => doors.event(place, clicks, json!({"kind": "dashboard_add"})).await,
        Gesture::Regenerate => doors.event(place, clicks, json!({"kind": "regenerate"})).await,
        Gesture::Correct { better, why } => {
            let is_sql = answer.starts_with("SELECT");
            let data = match is_sql {
                true => {
                    json!({"original_sql": answer, "corrected_sql": better, "explanation": why})
                }
                false => json!({"original": answer, "corrected": better, "explanation": why}),
            };
            doors.event(place, ("explicit", "user_correction", "accuracy"), data).await?;
            if is_sql { doors.overrule(&decision_of(place)).await } else { Ok(()) }
        }
    }
}
