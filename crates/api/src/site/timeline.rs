//! A conversation, and what people say about its answers right there.

use axum::extract::{Path, State};
use axum::response::Response;
use engine::{Incoming, IncomingReaction, RawEvent, RawReaction, Trust};
use model::{ConversationId, Position, Timestamp, TurnId, VerdictStatus};
use serde_json::{Map, Value, json};
use web::{Conversation, View, encoded};

use super::Site;
use super::answer::html;
use super::door::to;
use super::posted::Posted;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::address;
use crate::error::Problem;

/// Turns on a page.
const PAGE: usize = 50;
const REVIEW_DOOR: &str = "review";
const REACTION_DOOR: &str = "page reaction";
const CORRECTION_DOOR: &str = "correction";

/// `GET /conversations/{id}`
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    let id = address::id("id", id, ConversationId::new)?;
    let before = visitor.parameter("before").map(cursor).transpose()?;
    let scope = visitor.scope();
    let found = site.engine.turns.load_timeline(&scope, id.clone(), before, PAGE).await?;
    let unknown = || Problem::not_found("there is no conversation with this id here");
    let found = found.ok_or_else(unknown)?;
    let shell = visitor.shell(&site, Some(View::Conversations));
    Ok(html(&Conversation::of(shell, &scope, id.as_str(), &found, before.is_some())))
}

fn cursor(text: &str) -> Result<(Timestamp, Position), Problem> {
    let bad = || Problem::invalid("before", "before: expected the end of an earlier page");
    let (micros, position) = text.rsplit_once('-').ok_or_else(bad)?;
    let micros = micros.parse().map_err(|_| bad())?;
    Ok((Timestamp::from_micros(micros), Position(position.parse().map_err(|_| bad())?)))
}

/// `POST /turns/{id}/review`: a person says that the machine is right.
pub(super) async fn confirm(
    State(site): State<Site>,
    Path(turn): Path<String>,
    posted: Posted,
) -> Result<Response, Trouble> {
    review(&site, turn, posted, "confirmed").await
}

/// `POST /turns/{id}/flip`: a person says that it is wrong.
pub(super) async fn flip(
    State(site): State<Site>,
    Path(turn): Path<String>,
    posted: Posted,
) -> Result<Response, Trouble> {
    review(&site, turn, posted, "flipped").await
}

async fn review(
    site: &Site,
    turn: String,
    posted: Posted,
    done: &'static str,
) -> Result<Response, Trouble> {
    let Posted { visitor, fields } = posted.by_a_writer()?;
    let turn = address::id("turn", turn, TurnId::new)?;
    let word = fields.need("status")?;
    let status = VerdictStatus::from_word(word).ok_or_else(|| {
        let expected = VerdictStatus::WORDS.join(", ");
        Problem::invalid("status", format!("status: expected one of {expected}"))
    })?;
    let mac = site.engine.fingerprint(REVIEW_DOOR, &json!({ "status": word }));
    site.engine.feedback.review(&visitor.scope(), turn.clone(), status, mac, None).await?;
    if fields.get("from") == Some("queue") {
        let link = visitor.filter().place_link(
            "/data",
            visitor.scope().project.as_str(),
            &[("done", done)],
        );
        return Ok(to(&format!("{link}#queue")));
    }
    Ok(back(&visitor, fields.need("conversation")?, &turn, done))
}

/// `POST /turns/{id}/react`
pub(super) async fn react(
    State(site): State<Site>,
    Path(turn): Path<String>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let Posted { visitor, fields } = posted.by_a_writer()?;
    let turn = address::id("turn", turn, TurnId::new)?;
    let word = fields.need("conversation")?;
    let conversation = address::id("conversation", word.to_owned(), ConversationId::new)?;
    let reaction = Value::from(fields.need("reaction")?);
    let mac = site.engine.fingerprint(REACTION_DOOR, &json!([turn.as_str(), reaction]));
    let raw = RawReaction {
        reaction: Some(reaction),
        text: None,
        ts: None,
        // Somebody of their own, so that nobody's reaction is replaced.
        user_id: Some(visitor.signs_as()),
        origin: None,
        confidence: None,
    };
    let incoming = IncomingReaction { conversation, turn: turn.clone(), raw, mac, key: None };
    site.engine.feedback.react(&visitor.scope(), incoming).await?;
    Ok(back(&visitor, word, &turn, "reacted"))
}

/// `POST /turns/{id}/correct`
pub(super) async fn correct(
    State(site): State<Site>,
    Path(turn): Path<String>,
    posted: Posted,
) -> Result<Response, Trouble> {
    let Posted { visitor, fields } = posted.by_a_writer()?;
    let turn = address::id("turn", turn, TurnId::new)?;
    let (conversation, corrected) = (fields.need("conversation")?, fields.need("corrected")?);
    let mut data = Map::new();
    data.insert("corrected".to_owned(), corrected.into());
    if let Some(explanation) = fields.get("explanation") {
        data.insert("explanation".to_owned(), explanation.into());
    }
    let whole = json!([turn.as_str(), visitor.signs_as(), data]);
    let raw = RawEvent {
        // The same words about the same turn are one correction, however often the form is sent.
        id: Some(format!("page-{}", site.engine.access.form_token(&whole.to_string()))),
        event_type: "explicit".to_owned(),
        source: "user_correction".to_owned(),
        severity: None,
        category: "accuracy".to_owned(),
        user_id: Some(visitor.signs_as()),
        session_id: Some(conversation.to_owned()),
        message_id: Some(turn.to_string()),
        timestamp: None,
        data,
        tags: Vec::new(),
    };
    let mac = site.engine.fingerprint(CORRECTION_DOOR, &whole);
    let incoming = Incoming { raw, mac, key: None, trust: Trust::Backend };
    site.engine.feedback.record(&visitor.scope(), incoming).await?;
    Ok(back(&visitor, conversation, &turn, "corrected"))
}

/// Back to where the form was.
fn back(visitor: &Visitor, conversation: &str, turn: &TurnId, done: &str) -> Response {
    let path = format!("/conversations/{}", encoded(conversation));
    let scope = visitor.scope();
    let link = visitor.filter().place_link(&path, scope.project.as_str(), &[("done", done)]);
    to(&format!("{link}#turn-{}", encoded(turn.as_str())))
}
