//! Retrieved documents in the attributes of a span.

use model::{EntityId, Retrieved, SpanKind};
use serde_json::{Map, Value};

use super::attributes::{Attributes, DOCUMENTS, scalar_number, scalar_text};
use super::limits::fit_text;
use crate::source::decode_json;

const MAX_DOCUMENTS: usize = 1000;

/// The documents of a span, in order: numbered attributes, a list, or the output of a retriever.
pub(super) fn read_documents(
    attributes: Attributes<'_>,
    kind: SpanKind,
    output: Option<&Value>,
) -> Vec<Retrieved> {
    let numbered: Vec<Map<String, Value>> =
        (0..MAX_DOCUMENTS).map_while(|n| numbered_document(attributes, n)).collect();
    if !numbered.is_empty() {
        return rank_documents(numbered.iter());
    }
    let given = attributes.find(DOCUMENTS).or(output.filter(|_| kind == SpanKind::Retrieval));
    let decoded = decode_json(given);
    let listed = decoded.as_array().or_else(|| decoded.get("documents")?.as_array());
    rank_documents(listed.into_iter().flatten().filter_map(Value::as_object))
}

fn numbered_document(attributes: Attributes<'_>, n: usize) -> Option<Map<String, Value>> {
    let field = |name: &str| {
        let value = attributes.0.get(&format!("retrieval.documents.{n}.document.{name}"))?;
        Some((name.to_owned(), value.clone()))
    };
    let fields: Map<String, Value> =
        ["id", "content", "score"].iter().filter_map(|name| field(name)).collect();
    (!fields.is_empty()).then_some(fields)
}

fn rank_documents<'a>(documents: impl Iterator<Item = &'a Map<String, Value>>) -> Vec<Retrieved> {
    let read = |(at, document): (usize, &Map<String, Value>)| {
        let first = |names: &[&str]| {
            names.iter().find_map(|name| document.get(*name)).and_then(scalar_text)
        };
        let content = first(&["content", "page_content", "text"]);
        // Without an id, equal documents are the same entity.
        let named = first(&["id", "document_id"]).filter(|id| EntityId::new(id.as_str()).is_ok());
        let hashed = || {
            let hash = blake3::hash(content.as_deref()?.as_bytes()).to_hex();
            Some(format!("doc_{}", &hash[..16]))
        };
        Some(Retrieved {
            entity_id: named.or_else(hashed)?,
            name: None,
            content: content.map(fit_text),
            rank: u32::try_from(at + 1).ok(),
            score: document.get("score").and_then(scalar_number).filter(|score| score.is_finite()),
        })
    };
    documents.take(MAX_DOCUMENTS).enumerate().filter_map(read).collect()
}
