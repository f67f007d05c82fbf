//! Messages from elsewhere in: read, redacted, stored like anything else.
//!
//! A message may come twice; its event's id tells. One that is no event does not hold up the others: it
//! goes to the list of dead letters. One without a value says that the event it names was erased where it
//! came from, so whoever that event is of is erased here too.

use connectors::ReceivedMessage;
use ingest::CaptureError;
use model::{
    Category, Event, EventId, Kind, Project, Scope, Severity, Source, Tenant, Type, UserId, Write,
};
use serde_json::{Value, json};

use crate::cluster::publish::{EVENT_ID_HEADER, PROJECT_HEADER, TENANT_HEADER};
use crate::error::FlowError;
use crate::feedback::Feedback;
use crate::turns::log_copier::CopySettings;

/// Under which name a message that is no event is kept in its letter.
const MESSAGE: &str = "message";
const OFFSET: &str = "offset";
/// What a letter of a message says, and nothing besides.
const LETTER_FIELDS: [&str; 4] = ["topic", "partition", OFFSET, MESSAGE];
const LETTER: Kind = Kind { event_type: Type::Log, source: Source::Trace };

/// What became of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consumed {
    /// Events that are new.
    pub stored: u64,
    /// Events that were there already.
    pub replayed: u64,
    /// Messages that are on the list of dead letters now.
    pub set_aside: u64,
    /// Users that were erased.
    pub erased: u64,
}

impl Feedback {
    /// Stores messages, in order. When it fails nothing is lost: the same messages can be given again.
    pub async fn consume(
        &self,
        messages: &[ReceivedMessage],
        copies: &CopySettings,
    ) -> Result<Consumed, FlowError> {
        let mut consumed = Consumed::default();
        let mut waiting = Vec::new();
        for message in messages {
            match &message.value {
                Some(value) => match self.prepare_message(value, message.offset) {
                    Ok(writes) => waiting.extend(writes.into_iter().map(|write| (message, write))),
                    Err(error) => self.put_aside(message, &error, &mut consumed).await?,
                },
                None => {
                    self.store_waiting(std::mem::take(&mut waiting), &mut consumed).await?;
                    self.forget(message, copies, &mut consumed).await?;
                }
            }
        }
        self.store_waiting(waiting, &mut consumed).await?;
        Ok(consumed)
    }

    fn prepare_message(&self, value: &[u8], offset: i64) -> Result<Vec<Write>, FlowError> {
        let line: Value = serde_json::from_slice(value).map_err(|_| FlowError::NotALine)?;
        let writes = self.prepare_line(line, offset.unsigned_abs())?;
        if writes.is_empty() {
            // Nothing would be stored, and nobody would hear of it.
            let got = "a conversation in which nobody asks anything";
            return Err(CaptureError::new(MESSAGE, got, "one with messages of a user").into());
        }
        Ok(writes)
    }

    async fn store_waiting(
        &self,
        waiting: Vec<(&ReceivedMessage, Write)>,
        consumed: &mut Consumed,
    ) -> Result<(), FlowError> {
        if waiting.is_empty() {
            return Ok(());
        }
        let (messages, writes): (Vec<&ReceivedMessage>, Vec<Write>) = waiting.into_iter().unzip();
        for (message, receipt) in messages.into_iter().zip(self.core.commit(writes).await?) {
            match receipt {
                Ok(receipt) if receipt.replayed => consumed.replayed += 1,
                Ok(_) => consumed.stored += 1,
                // The store has done so itself.
                Err(FlowError::SetAside) => consumed.set_aside += 1,
                Err(error) => self.put_aside(message, &error, consumed).await?,
            }
        }
        Ok(())
    }

    async fn put_aside(
        &self,
        message: &ReceivedMessage,
        error: &FlowError,
        consumed: &mut Consumed,
    ) -> Result<(), FlowError> {
        let ReceivedMessage { topic, partition, offset, .. } = message;
        tracing::warn!(topic, partition, offset, %error, "a message is no event; it is set aside");
        let write = self.letter_of(message);
        self.core.store.set_aside(write, format!("{topic}/{partition}@{offset}: {error}")).await?;
        consumed.set_aside += 1;
        Ok(())
    }

    /// The letter that keeps a message as it came, but for what its tenant wants removed.
    fn letter_of(&self, message: &ReceivedMessage) -> Write {
        let ReceivedMessage { topic, partition, offset, .. } = message;
        let value = message.value.as_deref().unwrap_or_default();
        let text = String::from_utf8_lossy(value).into_owned();
        let now = self.core.clock.now();
        // Found again when they are erased.
        let line: Value = serde_json::from_slice(value).unwrap_or_default();
        let user = line["user_id"].as_str().and_then(|id| UserId::new(id).ok());
        let id = format!("kafka.{topic}.{partition}.{offset}");
        let data = json!({"topic": topic, "partition": partition, OFFSET: offset, MESSAGE: text});
        let event = Event {
            id: EventId::new(id).unwrap_or_else(|_| self.core.ids.event_id(now)),
            scope: scope_of(message, &line),
            kind: LETTER,
            severity: Severity::Warning,
            category: Category::Error,
            user,
            conversation: None,
            turn: None,
            ts: now,
            received_at: now,
            tags: Vec::new(),
            data: data.as_object().cloned().unwrap_or_default(),
        };
        self.core.build_write(event, None, None)
    }

    async fn forget(
        &self,
        message: &ReceivedMessage,
        copies: &CopySettings,
        consumed: &mut Consumed,
    ) -> Result<(), FlowError> {
        let scope = scope_of(message, &Value::Null);
        let id = message.header(EVENT_ID_HEADER).and_then(|id| EventId::new(id).ok());
        let Some(id) = id else {
            return self.put_aside(message, &FlowError::NotALine, consumed).await;
        };
        let known = self.core.store.event(&scope, &id).await?;
        // An event of somebody who was erased names nobody: the second time there is nobody left to erase,
        // also when somebody came back under the same name.
        let Some(user) = known.and_then(|stored| stored.event.user) else { return Ok(()) };
        match self.privacy.erase_user(&scope, &user, copies).await {
            Ok(_) => {
                consumed.erased += 1;
                Ok(())
            }
            // It never will be, however often it is asked for; what comes behind it must not wait.
            Err(error @ FlowError::NotPossible(_)) => {
                self.put_aside(message, &error, consumed).await
            }
            Err(error) => Err(error),
        }
    }

    /// The writes of a message that was set aside; `None` if the letter keeps something else.
    pub(crate) fn read_letter(&self, letter: &Event) -> Option<Result<Vec<Write>, FlowError>> {
        // An event of a client may have fields of these names too; what it says must not be read as a message.
        let is_letter = letter.kind == LETTER && letter.data.len() == LETTER_FIELDS.len();
        if !is_letter || !LETTER_FIELDS.iter().all(|name| letter.data.contains_key(*name)) {
            return None;
        }
        let offset = letter.data.get(OFFSET).and_then(Value::as_i64)?;
        let text = letter.data.get(MESSAGE).and_then(Value::as_str)?;
        Some(self.prepare_message(text.as_bytes(), offset).and_then(|writes| {
            let is_own = |write: &Write| write.entry.event.scope == letter.scope;
            // Whoever has it stored may write to their own scope only.
            if writes.iter().all(is_own) { Ok(writes) } else { Err(FlowError::NotStored) }
        }))
    }
}

/// By the headers; without them by what the message itself says.
fn scope_of(message: &ReceivedMessage, line: &Value) -> Scope {
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
    use tempfile::TempDir;

    use super::*;
    use crate::test_engine::open_test_engine;

    async fn engine() -> (Engine, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (open_test_engine(folder.path()).await.engine, folder)
    }

    #[tokio::test]
    async fn a_conversation_without_questions_is_set_aside() {
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
    async fn only_a_letter_of_a_message_is_read_as_one() {
        let (engine, _folder) = engine().await;
        let said = json!({"messages": [{"role": "user", "content": "a"}]}).to_string();
        let message = ReceivedMessage { value: Some(said.into_bytes()), ..tombstone(7, "x") };
        let letter = engine.feedback.letter_of(&message).entry.event;
        assert_eq!(engine.feedback.read_letter(&letter).unwrap().unwrap().len(), 1);
        // What a client sent has other words as well, or is of another kind.
        let mut said_more = letter.clone();
        said_more.data.insert("level".to_owned(), json!("info"));
        let other = Kind { source: Source::ApplicationLog, ..LETTER };
        assert!(engine.feedback.read_letter(&said_more).is_none());
        assert!(engine.feedback.read_letter(&Event { kind: other, ..letter }).is_none());
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
    async fn what_can_never_be_erased_does_not_hold_up_the_others() {
        let (engine, _folder) = engine().await;
        let scope = Scope::default();
        let by = |user: &str, id: &str| {
            let user = Some(UserId::new(user).unwrap());
            let event = Event { user, ..testkit::event(&scope, id) };
            Write { claims: vec![testkit::claim(id, 1)], ..Write::of(event, Vec::new()) }
        };
        let writes = vec![by(ANONYMOUS, "of-nobody"), by("ann", "of-ann")];
        engine.core.store.commit(writes).await.unwrap();
        let copies = CopySettings { place: None, previous_places: Vec::new() };
        let messages = [tombstone(0, "of-nobody"), tombstone(1, "of-ann")];
        let consumed = engine.feedback.consume(&messages, &copies).await.unwrap();
        let expected = Consumed { set_aside: 1, erased: 1, ..Consumed::default() };
        assert_eq!(consumed, expected);
        let letters = engine.core.store.dead_letters(&scope, 0, 10).await.unwrap();
        assert_eq!(letters.len(), 1);
        assert!(letters[0].reason.contains(ANONYMOUS), "{}", letters[0].reason);
    }
}
