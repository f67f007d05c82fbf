//! Further conditions on the turns of a list.

use model::{ConversationId, ErrorType, Language, Reaction, Source, Type, VerdictStatus};
use sql::Value;

use super::{ListQuery, SearchScope};

/// Conditions on a turn, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnFilter {
    /// The verdict in effect.
    pub status: Option<VerdictStatus>,
    /// A user gave this reaction.
    pub reaction: Option<Reaction>,
    /// Name of the strategy.
    pub strategy: Option<String>,
    pub intent: Option<String>,
    /// The language of the question.
    pub language: Option<Language>,
    /// A tag of any event about the turn.
    pub tag: Option<String>,
    /// The answer failed in one of these ways.
    pub error_types: Vec<ErrorType>,
    /// Only turns of this conversation.
    pub conversation: Option<ConversationId>,
}

/// The SQL condition on `f`. Its parameters are appended to `values`.
pub(super) fn wanted(query: &ListQuery, values: &mut Vec<Value>) -> String {
    let mut terms = vec![query.mark.condition()];
    if let Some(model) = &query.model {
        terms.push("f.model = ?".to_owned());
        values.push(Value::from(model.clone()));
    }
    if let Some(prompt) = &query.prompt {
        terms.push("(f.prompt = ? OR substr(f.prompt, 1, length(?) + 1) = ? || '@')".to_owned());
        values.extend([prompt, prompt, prompt].map(|prompt| Value::from(prompt.clone())));
    }
    query.filter.add_terms(&mut terms, values);
    terms.join(" AND ")
}

/// As `wanted`, and within a scope's user and conversation.
pub(super) fn wanted_in(query: &ListQuery, scope: SearchScope, values: &mut Vec<Value>) -> String {
    let mut terms = wanted(query, values);
    if let Some(user) = scope.user {
        terms.push_str(" AND f.user = ?");
        values.push(Value::from(user));
    }
    if let Some(conversation) = scope.conversation {
        terms.push_str(" AND f.turn IN (SELECT key FROM turns WHERE conversation = ?)");
        values.push(Value::from(conversation));
    }
    terms
}

impl TurnFilter {
    /// The conversation is no condition on `f`: it selects the turns that are examined.
    fn add_terms(&self, terms: &mut Vec<String>, values: &mut Vec<Value>) {
        let (rejected, accepted) = (VerdictStatus::Rejected.code(), VerdictStatus::Accepted.code());
        terms.extend(self.status.map(|status| match status {
            VerdictStatus::Rejected => format!("f.status = {rejected}"),
            VerdictStatus::Accepted => format!("f.status = {accepted}"),
            VerdictStatus::Neutral => format!("f.status NOT IN ({rejected}, {accepted})"),
        }));
        terms.extend(self.reaction.map(|reaction| {
            let count = match reaction {
                Reaction::Ok => "f.ok > 0",
                Reaction::NotOk => "f.not_ok > 0",
                Reaction::Neutral => "f.neutral > 0",
            };
            count.to_owned()
        }));
        if let Some(strategy) = &self.strategy {
            terms.push("f.strategy = ?".to_owned());
            values.push(Value::from(strategy.clone()));
        }
        if let Some(intent) = &self.intent {
            let term = "EXISTS (SELECT 1 FROM turn_index i WHERE i.turn = f.turn AND i.intent = ?)";
            terms.push(term.to_owned());
            values.push(Value::from(intent.clone()));
        }
        if let Some(language) = self.language {
            let term =
                "EXISTS (SELECT 1 FROM turn_index i WHERE i.turn = f.turn AND i.language = ?)";
            terms.push(term.to_owned());
            values.push(Value::from(i64::from(language.code())));
        }
        if let Some(tag) = &self.tag {
            // Tags are a JSON list. Removing the quoted tag changes the list if it is in it.
            let quoted = serde_json::Value::from(tag.as_str()).to_string();
            let term = "EXISTS (SELECT 1 FROM events e WHERE e.turn = f.turn
                AND e.tags IS NOT NULL AND replace(e.tags, ?, '') <> e.tags)";
            terms.push(term.to_owned());
            values.push(Value::from(quoted));
        }
        if !self.error_types.is_empty() {
            terms.push(failed_answer(self.error_types.len()));
            let words = self.error_types.iter().map(|kind| kind.as_word().to_owned());
            values.extend(words.map(Value::from));
        }
    }
}

/// The condition that the newest finding about the answer has one of `types` error types.
fn failed_answer(types: usize) -> String {
    let places = vec!["?"; types].join(", ");
    let is_finding = |event: &str| {
        format!(
            "{event}.turn = f.turn AND {event}.source = {} AND {event}.type = {}
                AND json_extract({event}.data, '$.finding') = 'answer'",
            Source::Engine.code(),
            Type::Quality.code()
        )
    };
    format!(
        "f.failed > 0 AND EXISTS (SELECT 1 FROM events e WHERE {}
            AND json_extract(e.data, '$.error.error_type') IN ({places})
            AND NOT EXISTS (SELECT 1 FROM events n WHERE {} AND n.position > e.position))",
        is_finding("e"),
        is_finding("n")
    )
}
