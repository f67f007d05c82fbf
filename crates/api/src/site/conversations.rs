//! The list of conversations, with search.

use axum::extract::State;
use engine::{
    FoundConversations, ListCursor, ListOrder, ListPage, ListQuery, StoredExchange, TurnMark,
};
use model::UserId;
use web::{ConversationQuery, ConversationRow, ConversationRows, ConversationsPage, View};

use super::Site;
use super::overview::load_choices;
use super::page_response::{PageError, PageResult, html_page};
use super::visitor::{Visitor, list_query};
use crate::error::Problem;
use crate::params;

const PAGE_CONVERSATIONS: usize = 50;
/// The rest of a longer search is ignored.
const MAX_SEARCH_CHARS: usize = 500;

pub(super) async fn list_conversations(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let asked = parse_filter(&visitor)?;
    let period = visitor.query(site.engine.now(), 1);
    let choices = load_choices(&site, &period).await?;
    let behind = visitor.parameter("after").map(parse_cursor).transpose()?;
    let query = ListQuery { behind, ..list_query(period, asked.mark, PAGE_CONVERSATIONS) };
    let found = match asked.words.is_empty() {
        true => load_page(&site, &visitor, &asked, query).await?,
        false => search_conversations(&site, &visitor, &asked, query).await?,
    };
    let shell = visitor.shell(&site, Some(View::Conversations));
    Ok(html_page(&ConversationsPage::new(shell, asked, choices, found)))
}

fn parse_filter(visitor: &Visitor) -> Result<ConversationQuery, Problem> {
    let word = visitor.parameter("show").unwrap_or("all");
    let words: Vec<&str> = TurnMark::ALL_MARKS.iter().map(|mark| mark.as_word()).collect();
    Ok(ConversationQuery {
        mark: params::parse_word("show", word, TurnMark::from_word, &words)?,
        worst: visitor.parameter("order") == Some("worst"),
        words: visitor.parameter("q").unwrap_or("").trim().chars().take(MAX_SEARCH_CHARS).collect(),
        by_meaning: visitor.parameter("by") == Some("meaning"),
        is_further: visitor.parameter("after").is_some(),
    })
}

fn parse_cursor(text: &str) -> Result<ListCursor, Problem> {
    let bad =
        || Problem::invalid("after", "after is invalid, expected the cursor of an earlier page");
    let (rank, key) = text.split_once('.').ok_or_else(bad)?;
    let parse = |number: &str| number.parse::<i64>().map_err(|_| bad());
    Ok(ListCursor { rank: parse(rank)?, key: parse(key)? })
}

async fn load_page(
    site: &Site,
    visitor: &Visitor,
    asked: &ConversationQuery,
    query: ListQuery,
) -> Result<ConversationRows, PageError> {
    let order = if asked.worst { ListOrder::Worst } else { ListOrder::Newest };
    let page = site.engine.insights.list_conversations(query, order).await?;
    Ok(listed_rows(&page, visitor, None))
}

fn listed_rows(page: &ListPage, visitor: &Visitor, how: Option<&str>) -> ConversationRows {
    let row = |item| ConversationRow::from_listed(item, visitor.filter());
    let rows = page.items.iter().map(row).collect();
    let how = how.map(str::to_owned);
    ConversationRows { rows, next: page.next, stopped_at: page.stopped_at, how }
}

/// Searches by id of a conversation, turn or user, then by words, then by similarity.
async fn search_conversations(
    site: &Site,
    visitor: &Visitor,
    asked: &ConversationQuery,
    query: ListQuery,
) -> Result<ConversationRows, PageError> {
    let scope = visitor.scope();
    let row = |turn: &StoredExchange| ConversationRow::from_turn(&scope, turn, visitor.filter());
    let rows = |found: Vec<StoredExchange>| found.iter().map(row).collect();
    let by = |how: String, rows: Vec<ConversationRow>| ConversationRows {
        rows,
        next: None,
        stopped_at: None,
        how: Some(how),
    };
    let meaning = || {
        format!(
            "Questions in {} with a similar meaning, most similar first; other filters do not apply",
            scope.project
        )
    };
    if asked.by_meaning {
        let insights = &site.engine.insights;
        let found =
            insights.similar_conversations(&scope, &asked.words, PAGE_CONVERSATIONS).await?;
        return Ok(by(meaning(), rows(found)));
    }
    if let Ok(user) = UserId::new(asked.words.as_str()) {
        let query = ListQuery { user: Some(user), ..query.clone() };
        let of_user = load_page(site, visitor, asked, query).await?;
        if !of_user.rows.is_empty() {
            let how = format!("Conversations of the user {}", asked.words);
            return Ok(ConversationRows { how: Some(how), ..of_user });
        }
    }
    Ok(match site.engine.insights.find_conversations(&scope, &asked.words, query).await? {
        FoundConversations::ById(found) => by("Found by id".to_owned(), rows(found)),
        FoundConversations::ByMeaning(found) => by(meaning(), rows(found)),
        FoundConversations::ByWords(page) => {
            let how = "Conversations that contain these words, newest first";
            listed_rows(&page, visitor, Some(how))
        }
    })
}
