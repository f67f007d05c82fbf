//! Executes one demo event: sends messages, answers and user gestures through the client.

use engine::{EngineError, RawCompletion, RawRetrieved};
use model::Timestamp;
use serde_json::{Map, json};

use crate::client::{DemoClient, TurnRef};
use crate::conversation::{Gesture, MessageKind, Reply};
use crate::experiments::{PromptVersion, choose_prompt};
use crate::models::{DemoModel, ROUTER_NAME, find_model};
use crate::schedule::day_number;
use crate::timeline::{DemoEvent, DemoRun};
use crate::topics::{Assistant, DOC_PAGES};

/// Sends a user message and the model's answer, then schedules what follows.
pub(crate) async fn send_message(
    run: &mut DemoRun<'_>,
    at: Timestamp,
    number: usize,
    message: MessageKind,
) -> Result<(), EngineError> {
    let day = day_number(run.now, at);
    let person = run.people[run.conversations[number].person].clone();
    run.turns += 1;
    let conversation = &mut run.conversations[number];
    let turn = TurnRef {
        turn: format!("demo-turn-{:05}", run.turns),
        conversation: conversation.id.clone(),
        user: person.id.clone(),
    };
    let text = conversation.message_text(message, &person);
    let (app, intent) = (conversation.app, message_intent(message, &conversation.topic.intent));
    let text_bytes = text.len();
    let route = run.client.open_turn(&turn, (text, intent), ROUTER_NAME).await?;
    let arm = route.as_ref().map_or("swift-1", |route| route.arm.as_str());
    let prompt = match run.conversations[number].prompt.clone() {
        Some(chosen) => chosen,
        None => choose_prompt(&run.client, app, &turn.conversation, day).await?,
    };
    let conversation = &mut run.conversations[number];
    conversation.prompt = Some(prompt.clone());
    let reply = conversation.generate_reply(message, find_model(arm), day, prompt.care);
    let decision = route.as_ref().map(|route| route.decision_id.clone());
    let completion = build_completion(&reply, find_model(arm), &prompt, (at, text_bytes), decision);
    run.client.complete_turn(&turn, completion).await?;
    if app == Assistant::Sql && message != MessageKind::Thanks {
        report_decision(run, &turn, number, &reply).await?;
    }
    schedule_followups(run, at, (number, message), &turn, &reply);
    Ok(())
}

fn message_intent(message: MessageKind, intent: &'static str) -> &'static str {
    match message {
        MessageKind::Ask | MessageKind::Regenerate | MessageKind::Rephrase => intent,
        MessageKind::FollowUp => "refine",
        MessageKind::Complain | MessageKind::Doubt | MessageKind::Thanks => "feedback",
    }
}

/// Schedules the gestures and the next message that follow an answer.
fn schedule_followups(
    run: &mut DemoRun<'_>,
    at: Timestamp,
    (number, message): (usize, MessageKind),
    turn: &TurnRef,
    reply: &Reply,
) {
    let conversation = &mut run.conversations[number];
    let person = &run.people[conversation.person];
    let answered = reply.secs;
    let later = |secs: f64| at.plus_secs((answered + secs).ceil() as i64);
    let is_over = message == MessageKind::Thanks;
    let mut gestures = if is_over { Vec::new() } else { conversation.pick_gestures(reply, person) };
    let next = conversation.next_message(message, reply);
    if let Some((after, MessageKind::Complain)) = next {
        run.complained_turns.push(turn.turn.clone());
        gestures.retain(|(when, _)| when < &after);
    }
    if let Some((after, MessageKind::Regenerate)) = next.filter(|_| reply.error.is_none()) {
        gestures.push(((after - 1.0).max(0.0), Gesture::Regenerate));
    }
    for (secs, gesture) in gestures {
        let answer = reply.text.clone().unwrap_or_default();
        run.queue.schedule(later(secs), DemoEvent::Gesture { turn: turn.clone(), gesture, answer });
    }
    if let Some((secs, message)) = next {
        run.queue.schedule(later(secs), DemoEvent::Message { conversation: number, message });
    }
}

fn build_completion(
    reply: &Reply,
    model: &DemoModel,
    prompt: &PromptVersion,
    (at, text_bytes): (Timestamp, usize),
    decision_id: Option<String>,
) -> RawCompletion {
    let latency_ms = (reply.secs * 1000.0).round();
    let done = Timestamp::from_micros(at.as_micros() + (latency_ms * 1000.0) as i64);
    let tokens_in = 380 + text_bytes as u64 / 4 + 220 * reply.pages.len() as u64;
    let tokens_out = reply.text.as_ref().map_or(0, |text| text.len() as u64 / 4 + 8);
    RawCompletion {
        response: reply.text.clone(),
        status: Some(if reply.error.is_some() { "error" } else { "success" }.to_owned()),
        error: reply.error.map(str::to_owned),
        model: Some(model.id.clone()),
        decision_id,
        strategy: Some((prompt_strategy(prompt).to_owned(), Map::new())),
        prompt: Some((prompt.id.to_owned(), Some(prompt.version.to_owned()))),
        retrieved: retrieved_items(reply),
        quality_score: reply.score.map(|score| (score - 0.25 * prompt.care).clamp(0.0, 1.0)),
        started_at: Some(at.to_string()),
        completed_at: Some(done.to_string()),
        latency_ms: Some(latency_ms),
        time_to_first_token_ms: Some((latency_ms * 0.35).round()),
        tokens_in: Some(tokens_in),
        tokens_out: Some(tokens_out),
        cost: Some(model.call_cost(tokens_in, tokens_out)),
        ..RawCompletion::default()
    }
}

fn prompt_strategy(prompt: &PromptVersion) -> &'static str {
    match (prompt.id, prompt.version) {
        ("docs", _) => "search_then_answer",
        ("sql", "6") => "hints_then_sql",
        ("sql", _) => "direct_sql",
        _ => "answer",
    }
}

fn retrieved_items(reply: &Reply) -> Vec<RawRetrieved> {
    let item = |(index, found): (usize, &&'static str)| {
        let page = DOC_PAGES.iter().find(|page| page.id == **found);
        RawRetrieved {
            entity_id: (*found).to_owned(),
            name: page.map(|page| page.title.clone()),
            content: page.map(|page| page.content.clone()),
            rank: Some(index as u32 + 1),
            score: Some(0.92 - 0.11 * index as f64),
        }
    };
    reply.pages.iter().enumerate().map(item).collect()
}

/// Reports a generated SQL statement and its outcome.
async fn report_decision(
    run: &mut DemoRun<'_>,
    turn: &TurnRef,
    number: usize,
    reply: &Reply,
) -> Result<(), EngineError> {
    let sure = run.conversations[number].rng.next_between(0.0, 0.25);
    let sure = if reply.good { 0.72 + sure } else { 0.5 + sure };
    let sql = reply.text.clone().unwrap_or_default();
    let data = json!({"decision_id": decision_id(turn), "decision_type": "sql_generation",
        "decision_data": {"sql": sql, "error": reply.error, "dialect": "postgres", "demo": true},
        "confidence": sure,
        "outcome": if reply.error.is_none() { "success" } else { "failure" }});
    run.client.queue_event(turn, ("query", "model_response", "accuracy"), data).await
}

fn decision_id(turn: &TurnRef) -> String {
    turn.turn.replace("turn", "decision")
}

/// Sends one user gesture on an answer.
pub(crate) async fn send_gesture(
    run: &DemoRun<'_>,
    turn: &TurnRef,
    gesture: Gesture,
    answer: &str,
) -> Result<(), EngineError> {
    let client = &run.client;
    let explicit = |source| ("explicit", source, "user_satisfaction");
    let interaction = ("interaction", "user_interaction", "user_satisfaction");
    let (event, data) = match gesture {
        Gesture::Thumb(up, Some(note)) => return client.send_reaction(turn, up, note).await,
        Gesture::Thumb(up, None) => {
            let rating = if up { "positive" } else { "negative" };
            (explicit("user_rating"), json!({"rating": rating}))
        }
        Gesture::Stars(stars) => (explicit("user_rating"), json!({"rating": stars})),
        Gesture::Comment(text) => (explicit("user_comment"), json!({"comment": text})),
        Gesture::Copy => (interaction, json!({"kind": "copy"})),
        Gesture::Dwell(millis) => (interaction, json!({"kind": "dwell_time", "dwell_ms": millis})),
        Gesture::Click(target) => {
            (interaction, json!({"kind": "result_interaction", "target": target}))
        }
        Gesture::Export => (interaction, json!({"kind": "export"})),
        Gesture::Dashboard => (interaction, json!({"kind": "dashboard_add"})),
        Gesture::Regenerate => (interaction, json!({"kind": "regenerate"})),
        Gesture::Correct { better, why } => {
            return send_correction(client, turn, answer, (better, why)).await;
        }
    };
    client.queue_event(turn, event, data).await
}

/// Sends a correction; one of SQL also corrects the decision that ran the statement.
async fn send_correction(
    client: &DemoClient<'_>,
    turn: &TurnRef,
    answer: &str,
    (better, why): (String, String),
) -> Result<(), EngineError> {
    let event = ("explicit", "user_correction", "accuracy");
    if !answer.starts_with("SELECT") {
        let data = json!({"original": answer, "corrected": better, "explanation": why});
        return client.queue_event(turn, event, data).await;
    }
    let data = json!({"original_sql": answer, "corrected_sql": better, "explanation": why});
    client.queue_event(turn, event, data).await?;
    client.report_correction(&decision_id(turn)).await
}
