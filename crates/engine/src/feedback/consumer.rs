//! Stores messages from Kafka topics like any other event.
//!
//! A message may arrive twice; its event id identifies the repeat. A message that is not an event
//! becomes a dead letter, so that it does not block the others. A tombstone (no value) means that
//! its event was erased at the source, so the user of that event is erased here too.

use connectors::ReceivedMessage;
use ingest::CaptureError;
use model::{
    Body, Category, Event, EventId, Kind, Project, Scope, Severity, Source, Tenant, Type, UserId,
    Write, record_fields,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cluster::publish::{EVENT_ID_HEADER, PROJECT_HEADER, TENANT_HEADER};
use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::feedback::import::PreparedLine;
use crate::turns::log_copier::CopySettings;

/// The exact fields of a message's dead letter. A client's event with other fields must not be
/// parsed as a message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RejectedMessage {
    topic: String,
    partition: i32,
    offset: i64,
    /// The message as received.
    message: String,
}

const DEAD_LETTER_KIND: Kind = Kind { event_type: Type::Log, source: Source::Trace };

/// Counts of consumed messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsumeSummary {
    pub stored: u64,
    /// Events stored before.
    pub replayed: u64,
    /// Messages that became dead letters.
    pub set_aside: u64,
    pub erased: u64,
}

impl Feedback {
    /// Stores messages in order. After an error the same messages can be consumed again without
    /// loss.
    pub async fn consume(
        &self,
        messages: &[ReceivedMessage],
        copies: &CopySettings,
    ) -> Result<ConsumeSummary, EngineError> {
        let mut consumed = ConsumeSummary::default();
        let mut waiting = Vec::new();
        for message in messages {
            match &message.value {
                Some(value) => match self.prepare_message(value, message.offset) {
                    Ok(writes) => waiting.extend(writes.into_iter().map(|write| (message, write))),
                    Err(error) => self.store_dead_letter(message, &error, &mut consumed).await?,
                },
                None => {
                    self.store_batch(std::mem::take(&mut waiting), &mut consumed).await?;
                    self.apply_tombstone(message, copies, &mut consumed).await?;
                }
            }
        }
        self.store_batch(waiting, &mut consumed).await?;
        Ok(consumed)
    }

    fn prepare_message(&self, value: &[u8], offset: i64) -> Result<Vec<Write>, EngineError> {
        let line: Value = serde_json::from_slice(value).map_err(|_| EngineError::InvalidLine)?;
        let prepared = self.prepare_line(line, offset.unsigned_abs(), &Scope::default())?;
        let PreparedLine { writes, skipped } = prepared;
        if writes.is_empty() {
            // An empty write list would drop the message silently.
            let got = skipped.unwrap_or("a conversation without a question");
            return Err(CaptureError::new("message", got, "one with user messages").into());
        }
        Ok(writes)
    }

    async fn store_batch(
        &self,
        waiting: Vec<(&ReceivedMessage, Write)>,
        consumed: &mut ConsumeSummary,
    ) -> Result<(), EngineError> {
        if waiting.is_empty() {
            return Ok(());
        }
        let (messages, writes): (Vec<&ReceivedMessage>, Vec<Write>) = waiting.into_iter().unzip();
        for (message, receipt) in messages.into_iter().zip(self.join_and_commit(writes).await?) {
            match receipt {
                Ok(receipt) if receipt.replayed => consumed.replayed += 1,
                Ok(_) => consumed.stored += 1,
                // The store has written the dead letter itself.
                Err(EngineError::DeadLettered) => consumed.set_aside += 1,
                Err(error) => self.store_dead_letter(message, &error, consumed).await?,
            }
        }
        Ok(())
    }

    async fn store_dead_letter(
        &self,
        message: &ReceivedMessage,
        error: &EngineError,
        consumed: &mut ConsumeSummary,
    ) -> Result<(), EngineError> {
        let ReceivedMessage { topic, partition, offset, .. } = message;
        tracing::warn!(topic, partition, offset, %error, "message rejected; stored as a dead letter");
        let write = self.build_dead_letter(message);
        self.core.store.set_aside(write, format!("{topic}/{partition}@{offset}: {error}")).await?;
        consumed.set_aside += 1;
        Ok(())
    }

    /// The dead letter with the raw message, redacted by its tenant's rules.
    fn build_dead_letter(&self, message: &ReceivedMessage) -> Write {
        let ReceivedMessage { topic, partition, offset, .. } = message;
        let value = message.value.as_deref().unwrap_or_default();
        let text = String::from_utf8_lossy(value).into_owned();
        let now = self.core.clock.now();
        // The user id lets an erasure find the letter.
        let line: Value = serde_json::from_slice(value).unwrap_or_default();
        let user = line["user_id"].as_str().and_then(|id| UserId::new(id).ok());
        let id = format!("kafka.{topic}.{partition}.{offset}");
        let rejected = RejectedMessage {
            topic: topic.clone(),
            partition: *partition,
            offset: *offset,
            message: text,
        };
        let id = EventId::new(id).unwrap_or_else(|_| self.core.ids.event_id(now));
        let (kind, body) =
            ((DEAD_LETTER_KIND, Category::Error), Body::Other(record_fields(&rejected)));
        let event = Event {
            severity: Severity::Warning,
            user,
            ..Event::new(message_scope(message, &line), id, kind, now, body)
        };
        self.core.build_write(event, None, None)
    }

    async fn apply_tombstone(
        &self,
        message: &ReceivedMessage,
        copies: &CopySettings,
        consumed: &mut ConsumeSummary,
    ) -> Result<(), EngineError> {
        let scope = message_scope(message, &Value::Null);
        let id = message.header(EVENT_ID_HEADER).and_then(|id| EventId::new(id).ok());
        let Some(id) = id else {
            return self.store_dead_letter(message, &EngineError::InvalidLine, consumed).await;
        };
        let known = self.core.store.event(&scope, &id).await?;
        // Erased events have no user. A repeated tombstone therefore erases nothing, even if the
        // user has returned.
        let Some(user) = known.and_then(|stored| stored.event.into_inner().user) else {
            return Ok(());
        };
        match self.privacy.erase_user(&scope, &user, copies).await {
            Ok(_) => {
                consumed.erased += 1;
                Ok(())
            }
            // Retrying cannot succeed, and later messages must not wait.
            Err(error @ EngineError::PreconditionFailed(_)) => {
                self.store_dead_letter(message, &error, consumed).await
            }
            Err(error) => Err(error),
        }
    }

    /// The writes of a message's dead letter; `None` for other dead letters.
    pub(crate) fn parse_dead_letter(
        &self,
        letter: &Event,
    ) -> Option<Result<Vec<Write>, EngineError>> {
        let Body::Other(fields) = &letter.body else { return None };
        if letter.kind != DEAD_LETTER_KIND {
            return None;
        }
        let RejectedMessage { offset, message, .. } = RejectedMessage::deserialize(fields).ok()?;
        Some(self.prepare_message(message.as_bytes(), offset).and_then(|writes| {
            let is_own = |write: &Write| write.entry.event.scope == letter.scope;
            // A replay may write only to the letter's own scope.
            if writes.iter().all(is_own) { Ok(writes) } else { Err(EngineError::NotStored) }
        }))
    }
}

/// The scope from the headers, otherwise from the message.
fn message_scope(message: &ReceivedMessage, line: &Value) -> Scope {
    let usual = Scope::default();
    let tenant = message.header(TENANT_HEADER).or(line["tenant_id"].as_str());
    let project = message.header(PROJECT_HEADER).or(line["project"].as_str());
    let tenant = tenant.and_then(|name| Tenant::new(name).ok());
    let project = project.and_then(|name| Project::new(name).ok());
    Scope { tenant: tenant.unwrap_or(usual.tenant), project: project.unwrap_or(usual.project) }
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use model::ANONYMOUS;
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::test_engine::open_test_engine;

    async fn engine() -> (Engine, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (open_test_engine(folder.path()).await.engine, folder)
    }

    #[tokio::test]
    async fn conversation_without_questions_becomes_a_dead_letter() {
        let (engine, _folder) = engine().await;
        let answered =
            json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]);
        let conversations =
            [json!([]), json!([{"role": "system", "content": "be kind"}]), answered];
        let messages: Vec<ReceivedMessage> = conversations
            .into_iter()
            .zip(0..)
            .map(|(said, offset)| ReceivedMessage {
                topic: "chats".into(),
                partition: 0,
                offset,
                key: None,
                value: Some(json!({"messages": said}).to_string().into_bytes()),
                headers: Vec::new(),
            })
            .collect();
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        let consumed = engine.feedback.consume(&messages, &copies).await.unwrap();
        assert!(consumed.set_aside == 2 && consumed.stored > 0, "{consumed:?}");
        let letters = engine.feedback.dead_letters(&Scope::default(), 0, 9).await.unwrap();
        assert_eq!(letters.len(), 2);
        assert!(letters[0].reason.starts_with("chats/0@0: message is a conv"), "{letters:?}");
    }

    #[tokio::test]
    async fn only_message_dead_letters_are_parsed_as_messages() {
        let (engine, _folder) = engine().await;
        let said = json!({"messages": [{"role": "user", "content": "a"}]}).to_string();
        let message = ReceivedMessage { value: Some(said.into_bytes()), ..tombstone(7, "x") };
        let letter = engine.feedback.build_dead_letter(&message).entry.event.into_inner();
        assert_eq!(engine.feedback.parse_dead_letter(&letter).unwrap().unwrap().len(), 1);
        // A client's event has more fields or another kind.
        let mut said_more = letter.clone();
        let mut fields = letter.body.to_fields();
        fields.insert("level".to_owned(), json!("info"));
        said_more.body = Body::Other(fields);
        let other = Kind { source: Source::ApplicationLog, ..DEAD_LETTER_KIND };
        assert!(engine.feedback.parse_dead_letter(&said_more).is_none());
        assert!(engine.feedback.parse_dead_letter(&Event { kind: other, ..letter }).is_none());
    }

    fn tombstone(offset: i64, id: &str) -> ReceivedMessage {
        ReceivedMessage {
            topic: "events".to_owned(),
            partition: 0,
            offset,
            key: None,
            value: None,
            headers: vec![(EVENT_ID_HEADER.to_owned(), id.to_owned())],
        }
    }

    #[tokio::test]
    async fn impossible_erasure_does_not_block_later_messages() {
        let (engine, _folder) = engine().await;
        let scope = Scope::default();
        let by = |user: &str, id: &str| {
            let user = Some(UserId::new(user).unwrap());
            let event = Event { user, ..testkit::event(&scope, id) };
            Write {
                claims: vec![testkit::claim(id, 1)],
                ..Write::new(testkit::redacted(event), Vec::new())
            }
        };
        let writes = vec![by(ANONYMOUS, "of-anonymous"), by("ann", "of-ann")];
        engine.core.store.commit(writes).await.unwrap();
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        let messages = [tombstone(0, "of-anonymous"), tombstone(1, "of-ann")];
        let consumed = engine.feedback.consume(&messages, &copies).await.unwrap();
        let expected = ConsumeSummary { set_aside: 1, erased: 1, ..ConsumeSummary::default() };
        assert_eq!(consumed, expected);
        let letters = engine.core.store.dead_letters(&scope, 0, 10).await.unwrap();
        assert_eq!(letters.len(), 1);
        assert!(letters[0].reason.contains(ANONYMOUS), "{}", letters[0].reason);
    }
}
