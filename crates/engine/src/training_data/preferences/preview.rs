//! A preview of preference pairs from a few conversations.

use learn::PreferenceConversation;
use model::{ConversationId, Scope};
use serde_json::Value;
use store::{ConversationCursor, LabelledConversation, LabelledTurnReads, StoreError};

use crate::error::EngineError;
use crate::training_data::TrainingData;
use crate::training_data::preferences::conversion::{TurnRewards, to_conversation};
use crate::training_data::preferences::pair_builder::{AnsweredQuestion, PairBuilder};
use crate::training_data::preferences::query::{PreferenceQuery, PreferenceRequest};

#[derive(Clone, Debug, PartialEq)]
pub struct PreferencePair {
    /// `correction`, `rating`, `rephrase`, `regeneration` or `experiment`.
    pub source: String,
    /// Confidence from 0 to 1.
    pub confidence: f64,
    pub question: String,
    pub better: String,
    pub worse: String,
    pub turn: Option<String>,
}

impl TrainingData {
    /// The pairs within the given conversations.
    pub async fn preference_pairs(
        &self,
        scope: &Scope,
        conversations: Vec<ConversationId>,
    ) -> Result<Vec<PreferencePair>, EngineError> {
        let query = PreferenceQuery::parse(PreferenceRequest::default())?;
        let mut stored = Vec::with_capacity(conversations.len());
        for id in conversations {
            stored.extend(self.read_conversation(scope, id).await?);
        }
        let made = tokio::task::spawn_blocking(move || build_pairs(&query, stored)).await;
        made.map_err(|_| StoreError::Corrupt("preview thread panicked".into()))?
    }

    async fn read_conversation(
        &self,
        scope: &Scope,
        id: ConversationId,
    ) -> Result<Vec<LabelledConversation>, EngineError> {
        let mark = ConversationCursor::conversation_start(id);
        let reads: &dyn LabelledTurnReads = &*self.core.store;
        Ok(reads.labelled_conversations(scope, mark, 0).await?.0)
    }
}

fn build_pairs(
    query: &PreferenceQuery,
    stored: Vec<LabelledConversation>,
) -> Result<Vec<PreferencePair>, EngineError> {
    // A turn is identified by the indexes of its conversation and turn.
    let mut builder: PairBuilder<(usize, usize)> = PairBuilder::new(query);
    let vectors: Vec<Vec<_>> = stored
        .iter()
        .map(|conversation| conversation.turns.iter().map(|turn| turn.vector.clone()).collect())
        .collect();
    let stored: Vec<PreferenceConversation> = stored
        .into_iter()
        .map(|conversation| to_conversation(conversation, query.window(), &TurnRewards::new()))
        .collect();
    stored.iter().for_each(|conversation| builder.count_votes(conversation));
    let mut bytes = Vec::new();
    for (place, conversation) in stored.iter().enumerate() {
        let numbers: Vec<(usize, usize)> =
            (0..conversation.turns.len()).map(|at| (place, at)).collect();
        builder.add_turns(conversation, &numbers, &vectors[place]);
        builder.export_conversation(conversation)?;
    }
    bytes.extend(builder.take_bytes()?);
    let context = query.rule().context_turns;
    for group in builder.take_groups() {
        let answered = |(place, at): &(usize, usize)| {
            let conversation = &stored[*place];
            let turns = conversation.turns[at.saturating_sub(context)..=*at].to_vec();
            AnsweredQuestion::new(conversation.id.clone(), turns, vectors[*place][*at].clone())
        };
        let answered: Vec<AnsweredQuestion> = group.iter().map(answered).collect();
        builder.export_group(&answered.iter().collect::<Vec<_>>())?;
    }
    bytes.extend(builder.take_bytes()?);
    bytes.extend(builder.finish()?);
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(parse_pair).collect())
}

/// Parses an exported row.
fn parse_pair(line: &[u8]) -> Option<PreferencePair> {
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
