//! The timeline of a conversation, with forms for reviews, reactions and corrections.

use axum::extract::{Path, State};
use axum::response::Response;
use engine::{IncomingEvent, IncomingReaction, RawEvent, RawReaction, Trust};
use model::{ConversationId, TurnId, VerdictStatus, encode_path_segment};
use serde_json::{Map, Value, json};
use web::{ConversationPage, View};

use super::Site;
use super::form::SubmittedForm;
use super::login::redirect_to;
use super::page_response::{PageResult, html_page};
use super::visitor::Visitor;
use crate::error::Problem;
use crate::params;

const PAGE_TURNS: usize = 50;
const REVIEW_MAC_DOMAIN: &str = "review";
const REACTION_MAC_DOMAIN: &str = "page reaction";
const CORRECTION_MAC_DOMAIN: &str = "correction";

pub(super) async fn show_timeline(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> PageResult {
    let id = params::parse_segment("id", id, ConversationId::new)?;
    let bad =
        || Problem::invalid("before", "before is invalid, expected the cursor of an earlier page");
    let parse = |text| params::parse_cursor(text).ok_or_else(bad);
    let before = visitor.parameter("before").map(parse).transpose()?;
    let scope = visitor.scope();
    let found = site.engine.turns.load_timeline(&scope, id.clone(), before, PAGE_TURNS).await?;
    let unknown = || Problem::not_found(format!("conversation {id} not found in this project"));
    let found = found.ok_or_else(unknown)?;
    let shell = visitor.shell(&site, Some(View::Conversations));
    Ok(html_page(&ConversationPage::new(shell, &scope, id.as_str(), &found, before.is_some())))
}

/// `POST /turns/{id}/review`: confirms the detected verdict.
pub(super) async fn confirm_verdict(
    State(site): State<Site>,
    Path(turn): Path<String>,
    posted: SubmittedForm,
) -> PageResult {
    review_turn(&site, turn, posted, "confirmed").await
}

/// `POST /turns/{id}/flip`: changes the detected verdict.
pub(super) async fn flip_verdict(
    State(site): State<Site>,
    Path(turn): Path<String>,
    posted: SubmittedForm,
) -> PageResult {
    review_turn(&site, turn, posted, "flipped").await
}

async fn review_turn(
    site: &Site,
    turn: String,
    posted: SubmittedForm,
    done: &'static str,
) -> PageResult {
    let SubmittedForm { visitor, fields } = posted.require_writer()?;
    let turn = params::parse_segment("turn", turn, TurnId::new)?;
    let word = fields.require("status")?;
    let (words, from_word) = (VerdictStatus::WORDS, VerdictStatus::from_word);
    let status = params::parse_word("status", word, from_word, words)?;
    let mac = site.engine.fingerprint(REVIEW_MAC_DOMAIN, &json!({ "status": word }));
    site.engine.feedback.review(&visitor.scope(), turn.clone(), status, mac, None).await?;
    if fields.get("from") == Some("queue") {
        let link = visitor.link("/data", &[("done", done)]);
        return Ok(redirect_to(&format!("{link}#queue")));
    }
    Ok(redirect_back(&visitor, fields.require("conversation")?, &turn, done))
}

pub(super) async fn react_to_turn(
    State(site): State<Site>,
    Path(turn): Path<String>,
    posted: SubmittedForm,
) -> PageResult {
    let SubmittedForm { visitor, fields } = posted.require_writer()?;
    let turn = params::parse_segment("turn", turn, TurnId::new)?;
    let word = fields.require("conversation")?;
    let conversation = params::parse_id("conversation", word.to_owned(), ConversationId::new)?;
    let reaction = Value::from(fields.require("reaction")?);
    let mac = site.engine.fingerprint(REACTION_MAC_DOMAIN, &json!([turn.as_str(), reaction]));
    let raw = RawReaction {
        reaction: Some(reaction),
        // An id of its own, so that no user's reaction is replaced.
        user_id: Some(visitor.author_id()),
        ..RawReaction::default()
    };
    let incoming = IncomingReaction { conversation, turn: turn.clone(), raw, mac, key: None };
    site.engine.feedback.react(&visitor.scope(), incoming).await?;
    Ok(redirect_back(&visitor, word, &turn, "reacted"))
}

pub(super) async fn correct_turn(
    State(site): State<Site>,
    Path(turn): Path<String>,
    posted: SubmittedForm,
) -> PageResult {
    let SubmittedForm { visitor, fields } = posted.require_writer()?;
    let turn = params::parse_segment("turn", turn, TurnId::new)?;
    let (conversation, corrected) = (fields.require("conversation")?, fields.require("corrected")?);
    let mut data = Map::new();
    data.insert("corrected".to_owned(), corrected.into());
    if let Some(explanation) = fields.get("explanation") {
        data.insert("explanation".to_owned(), explanation.into());
    }
    let whole = json!([turn.as_str(), visitor.author_id(), data]);
    let raw = RawEvent {
        // Derived from the content, so that resubmitting the form stores one correction.
        id: Some(format!("page-{}", site.engine.access.create_form_token(&whole.to_string()))),
        event_type: "explicit".to_owned(),
        source: "user_correction".to_owned(),
        category: "accuracy".to_owned(),
        user_id: Some(visitor.author_id()),
        session_id: Some(conversation.to_owned()),
        message_id: Some(turn.to_string()),
        data,
        ..RawEvent::default()
    };
    let mac = site.engine.fingerprint(CORRECTION_MAC_DOMAIN, &whole);
    let incoming = IncomingEvent { raw, mac, key: None, trust: Trust::Backend };
    site.engine.feedback.record(&visitor.scope(), incoming).await?;
    Ok(redirect_back(&visitor, conversation, &turn, "corrected"))
}

/// Redirects to the turn that the form belongs to.
fn redirect_back(visitor: &Visitor, conversation: &str, turn: &TurnId, done: &str) -> Response {
    redirect_to(&turn_link(visitor, conversation, turn, &[("done", done)]))
}

/// A link to a turn in its conversation.
pub(super) fn turn_link(
    visitor: &Visitor,
    conversation: &str,
    turn: &TurnId,
    others: &[(&str, &str)],
) -> String {
    let link =
        visitor.link(&format!("/conversations/{}", encode_path_segment(conversation)), others);
    format!("{link}#turn-{}", encode_path_segment(turn.as_str()))
}
