//! A few pairs as an export would have them, out of some conversations only.

use learn::PreferenceConversation;
use model::{ConversationId, Scope};
use serde_json::Value;
use store::{ConversationCursor, LabelledConversation, LabelledTurnReads, StoreError};

use crate::error::FlowError;
use crate::training_data::TrainingData;
use crate::training_data::preferences::ask::{PreferenceQuery, PreferenceWish};
use crate::training_data::preferences::convert::conversation;
use crate::training_data::preferences::make::{Answered, Maker};

/// A better and a worse answer to the same question.
#[derive(Clone, Debug, PartialEq)]
pub struct PreferencePair {
    /// How we know: `correction`, `rating`, `rephrase`, `regeneration` or `experiment`.
    pub source: String,
    /// How sure we are, from 0 to 1.
    pub confidence: f64,
    /// What was asked.
    pub question: String,
    /// The better answer.
    pub better: String,
    /// The worse.
    pub worse: String,
    /// The turn that it is about.
    pub turn: Option<String>,
}

impl TrainingData {
    /// The pairs that these conversations make among themselves.
    pub async fn preference_pairs(
        &self,
        scope: &Scope,
        conversations: Vec<ConversationId>,
    ) -> Result<Vec<PreferencePair>, FlowError> {
        let query = PreferenceQuery::read(PreferenceWish::default())?;
        let mut talks = Vec::with_capacity(conversations.len());
        for id in conversations {
            talks.extend(self.whole(scope, id).await?);
        }
        let made = tokio::task::spawn_blocking(move || made_of(&query, talks)).await;
        made.map_err(|_| StoreError::Corrupt("a preview of pairs panicked".into()))?
    }

    /// One conversation.
    async fn whole(
        &self,
        scope: &Scope,
        id: ConversationId,
    ) -> Result<Vec<LabelledConversation>, FlowError> {
        let mark = ConversationCursor::conversation_start(id);
        let reads: &dyn LabelledTurnReads = &*self.core.store;
        Ok(reads.labelled_conversations(scope, mark, 0).await?.0)
    }
}

fn made_of(
    query: &PreferenceQuery,
    talks: Vec<LabelledConversation>,
) -> Result<Vec<PreferencePair>, FlowError> {
    // A place is a conversation and a turn of it.
    let mut maker: Maker<(usize, usize)> = Maker::new(query);
    let vectors: Vec<Vec<_>> = talks
        .iter()
        .map(|talk| talk.turns.iter().map(|turn| turn.vector.clone()).collect())
        .collect();
    let talks: Vec<PreferenceConversation> =
        talks.into_iter().map(|talk| conversation(talk, query.window())).collect();
    talks.iter().for_each(|talk| maker.weigh(talk));
    let mut bytes = Vec::new();
    for (place, talk) in talks.iter().enumerate() {
        let numbers: Vec<(usize, usize)> = (0..talk.turns.len()).map(|at| (place, at)).collect();
        maker.note(talk, &numbers, &vectors[place]);
        maker.conversation(talk)?;
    }
    bytes.extend(maker.take()?);
    let context = query.rule().context_turns;
    for group in maker.groups() {
        let answered = |(place, at): &(usize, usize)| {
            let talk = &talks[*place];
            let turns = talk.turns[at.saturating_sub(context)..=*at].to_vec();
            Answered::new(talk.id.clone(), turns, vectors[*place][*at].clone())
        };
        let answered: Vec<Answered> = group.iter().map(answered).collect();
        maker.group(&answered.iter().collect::<Vec<_>>())?;
    }
    bytes.extend(maker.take()?);
    bytes.extend(maker.finish()?);
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(pair).collect())
}

/// A row as it was written.
fn pair(line: &[u8]) -> Option<PreferencePair> {
    let row: Value = serde_json::from_slice(line).ok()?;
    let last = |name: &str| {
        let message = row[name].as_array()?.last()?;
        Some(message["content"].as_str()?.to_owned())
    };
    Some(PreferencePair {
        source: row["source"].as_str()?.to_owned(),
        confidence: row["confidence"].as_f64()?,
        question: last("prompt")?,
        better: last("chosen")?,
        worse: last("rejected")?,
        turn: row["turn_ids"][0].as_str().map(str::to_owned),
    })
}
