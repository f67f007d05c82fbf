//! The list of conversations.

use axum::extract::State;
use axum::response::Response;
use engine::{FoundConversations, ListCursor, ListOrder, ListQuery, StoredExchange, TurnMark};
use model::UserId;
use web::{Asked, Conversations, Found, Row, View};

use super::Site;
use super::answer::html;
use super::overview::choices;
use super::trouble::Trouble;
use super::visitor::Visitor;
use crate::error::Problem;

/// Conversations on a page.
const PAGE: usize = 50;
/// Characters of a search that count.
const LONGEST: usize = 500;

/// `GET /conversations`
pub(super) async fn list(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let asked = asked(&visitor)?;
    let period = visitor.query(site.engine.now(), 1);
    let choices = choices(&site, &period).await?;
    let query = ListQuery {
        tenant: period.tenant,
        project: period.project,
        window: period.window,
        model: period.model,
        prompt: period.prompt,
        user: None,
        words: None,
        mark: asked.mark,
        behind: visitor.parameter("after").map(cursor).transpose()?,
        limit: PAGE,
    };
    let found = match asked.words.is_empty() {
        true => listed(&site, &visitor, &asked, query).await?,
        false => searched(&site, &visitor, &asked, query).await?,
    };
    let shell = visitor.shell(&site, Some(View::Conversations));
    Ok(html(&Conversations::of(shell, asked, choices, found)))
}

fn asked(visitor: &Visitor) -> Result<Asked, Problem> {
    let word = visitor.parameter("show").unwrap_or("all");
    let unknown = || {
        let words: Vec<&str> = TurnMark::ALL.iter().map(|mark| mark.as_word()).collect();
        Problem::invalid("show", format!("show: expected one of {}", words.join(", ")))
    };
    Ok(Asked {
        mark: TurnMark::from_word(word).ok_or_else(unknown)?,
        worst: visitor.parameter("order") == Some("worst"),
        words: visitor.parameter("q").unwrap_or("").trim().chars().take(LONGEST).collect(),
        by_meaning: visitor.parameter("by") == Some("meaning"),
        is_further: visitor.parameter("after").is_some(),
    })
}

fn cursor(text: &str) -> Result<ListCursor, Problem> {
    let bad = || Problem::invalid("after", "after: expected the end of an earlier page");
    let (one, other) = text.split_once('.').ok_or_else(bad)?;
    Ok(ListCursor(one.parse().map_err(|_| bad())?, other.parse().map_err(|_| bad())?))
}

async fn listed(
    site: &Site,
    visitor: &Visitor,
    asked: &Asked,
    query: ListQuery,
) -> Result<Found, Trouble> {
    let order = if asked.worst { ListOrder::Worst } else { ListOrder::Newest };
    let page = site.engine.list_conversations(query, order).await?;
    let rows = page.items.iter().map(|item| Row::of(item, visitor.filter())).collect();
    Ok(Found { rows, next: page.next, stopped_at: page.stopped_at, how: None })
}

/// By an id of a conversation, turn or user, else by words, else by meaning.
async fn searched(
    site: &Site,
    visitor: &Visitor,
    asked: &Asked,
    query: ListQuery,
) -> Result<Found, Trouble> {
    let scope = visitor.scope();
    let rows = |found: Vec<StoredExchange>| {
        found.iter().map(|turn| Row::of_turn(&scope, turn, visitor.filter())).collect()
    };
    let by =
        |how: String, rows: Vec<Row>| Found { rows, next: None, stopped_at: None, how: Some(how) };
    let meaning = || {
        format!(
            "Questions in {} that mean something like it, the most similar first, whatever else is chosen",
            scope.project
        )
    };
    if asked.by_meaning {
        let found = site.engine.similar_conversations(&scope, &asked.words, PAGE).await?;
        return Ok(by(meaning(), rows(found)));
    }
    if let Ok(user) = UserId::new(asked.words.as_str()) {
        let query = ListQuery { user: Some(user), ..query.clone() };
        let theirs = listed(site, visitor, asked, query).await?;
        if !theirs.rows.is_empty() {
            let how = format!("Conversations of the user {}", asked.words);
            return Ok(Found { how: Some(how), ..theirs });
        }
    }
    Ok(match site.engine.find_conversations(&scope, &asked.words, query).await? {
        FoundConversations::ById(found) => by("Found by its id".to_owned(), rows(found)),
        FoundConversations::ByMeaning(found) => by(meaning(), rows(found)),
        FoundConversations::ByWords(page) => Found {
            rows: page.items.iter().map(|item| Row::of(item, visitor.filter())).collect(),
            next: page.next,
            stopped_at: page.stopped_at,
            how: Some("Where these words were said, the newest first".to_owned()),
        },
    })
}
