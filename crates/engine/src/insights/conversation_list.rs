//! Lists and searches conversations.

use std::collections::HashSet;

use model::{ConversationId, Scope, Timestamp, TurnId};
use store::{
    ExchangeQuery, ListPage, ListQuery, RankedBy, SimilarQuery, StoredExchange, SummaryPage,
};

use crate::changes::truncate_for_embedding;
use crate::error::EngineError;
use crate::insights::Insights;

/// Minimum cosine similarity of a search result.
const MIN_SIMILARITY: f32 = 0.3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    Newest,
    /// Most negative turns first.
    Worst,
}

/// Search results, by the strategy that found them.
#[derive(Clone, Debug)]
pub enum FoundConversations {
    /// A conversation or turn with this id.
    ById(Vec<StoredExchange>),
    /// Conversations that contain the words, newest first.
    ByWords(ListPage),
    /// Turns with a similar question, most similar first, one per conversation.
    ByMeaning(Vec<StoredExchange>),
}

impl Insights {
    pub async fn list_conversations(
        &self,
        query: ListQuery,
        order: ListOrder,
    ) -> Result<ListPage, EngineError> {
        Ok(match order {
            ListOrder::Newest => self.core.store.newest_conversations(query).await?,
            ListOrder::Worst => self.core.store.worst_conversations(query).await?,
        })
    }

    /// Lists conversations with counts: by rank, or newest first without one.
    pub async fn summarise_conversations(
        &self,
        query: ListQuery,
        rank: Option<RankedBy>,
    ) -> Result<SummaryPage, EngineError> {
        Ok(self.core.store.conversation_summaries(query, rank).await?)
    }

    /// Searches by conversation or turn id, then by words, then by meaning.
    pub async fn find_conversations(
        &self,
        scope: &Scope,
        text: &str,
        query: ListQuery,
    ) -> Result<FoundConversations, EngineError> {
        let most = query.limit;
        if let Some(found) = self.conversation_by_id(scope, text).await? {
            return Ok(FoundConversations::ById(vec![found]));
        }
        let is_further = query.behind.is_some();
        let words = ListQuery { words: Some(text.to_owned()), ..query };
        let page = self.core.store.newest_conversations(words).await?;
        if is_further || page.next.is_some() || !page.items.is_empty() {
            return Ok(FoundConversations::ByWords(page));
        }
        Ok(FoundConversations::ByMeaning(self.similar_conversations(scope, text, most).await?))
    }

    /// Turns with a similar question, most similar first, one per conversation.
    pub async fn similar_conversations(
        &self,
        scope: &Scope,
        text: &str,
        most: usize,
    ) -> Result<Vec<StoredExchange>, EngineError> {
        let vector = self.core.embed_text(truncate_for_embedding(text)).await;
        let (user, intent) = (None, None);
        let query = SimilarQuery {
            scope: scope.clone(),
            vector,
            most,
            floor: MIN_SIMILARITY,
            user,
            intent,
        };
        let mut similar = self.core.store.similar(query).await?.turns;
        similar.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        similar.truncate(most * 2);
        let numbers = similar.into_iter().map(|turn| turn.number).collect();
        let found = self.core.store.found(scope, numbers).await?.into_iter().flatten();
        let mut seen = HashSet::new();
        let first = |one: &StoredExchange| {
            one.conversation.as_ref().is_some_and(|id| seen.insert(id.clone()))
        };
        Ok(found.filter(first).take(most).collect())
    }

    async fn conversation_by_id(
        &self,
        scope: &Scope,
        text: &str,
    ) -> Result<Option<StoredExchange>, EngineError> {
        if let Ok(id) = ConversationId::new(text) {
            let query = ExchangeQuery {
                scope: scope.clone(),
                conversation: Some(id),
                user: None,
                until: Timestamp::from_micros(i64::MAX),
                older_than: None,
                before: None,
                only_answered: false,
                limit: 1,
            };
            if let Some(found) = self.core.store.exchanges(query).await?.pop() {
                return Ok(Some(found));
            }
        }
        let Ok(turn) = TurnId::new(text) else { return Ok(None) };
        let found = self.core.store.exchanges_by_id(scope, vec![turn]).await?;
        Ok(found.into_iter().find(|exchange| exchange.conversation.is_some()))
    }
}
