//! Client of an OpenAI-compatible embeddings API: `POST …/embeddings`.

use std::sync::Arc;
use std::time::Duration;

use model::Vector;
use serde_json::{Value, json};

use crate::error::RemoteError;
use crate::model_api::ModelApi;

const BATCH_TEXTS: usize = 64;

#[derive(Clone, Debug)]
pub struct RemoteEmbedder {
    api: ModelApi,
    model: Arc<str>,
}

impl RemoteEmbedder {
    /// `url` is the base URL, such as `http://127.0.0.1:11434/v1`.
    pub fn new(url: &str, model: &str, key: Option<String>, timeout: Duration) -> Self {
        Self { api: ModelApi::new(url, "embeddings", key, timeout), model: model.into() }
    }

    /// The model name stored with each vector.
    pub fn model(&self) -> &Arc<str> {
        &self.model
    }

    /// Returns one vector per text, in order.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, RemoteError> {
        let mut all = Vec::with_capacity(texts.len());
        for part in texts.chunks(BATCH_TEXTS) {
            all.extend(self.embed_batch(part)?);
        }
        Ok(all)
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vector>, RemoteError> {
        let body = json!({"model": self.model.as_ref(), "input": texts});
        let response = self.api.post(&body)?;
        parse_vectors(&response, texts.len(), &self.model)
    }
}

/// Reads the vectors in order of `index`. All must have the same length and finite values.
fn parse_vectors(
    response: &Value,
    count: usize,
    model: &Arc<str>,
) -> Result<Vec<Vector>, RemoteError> {
    let invalid = |what: &'static str| RemoteError::InvalidResponse(what);
    let data = response["data"].as_array().ok_or(invalid("expected a list in data"))?;
    let mut found: Vec<Option<Vec<f32>>> = vec![None; count];
    for (place, item) in data.iter().enumerate() {
        let index = item["index"].as_u64().map_or(place, |index| index as usize);
        let numbers =
            item["embedding"].as_array().ok_or(invalid("expected embedding in every item"))?;
        let values: Vec<f32> =
            numbers.iter().filter_map(Value::as_f64).map(|number| number as f32).collect();
        if values.len() != numbers.len() || !values.iter().all(|v| v.is_finite()) {
            return Err(invalid("expected only finite numbers in embedding"));
        }
        *found.get_mut(index).ok_or(invalid("index exceeds the number of texts"))? = Some(values);
    }
    let vectors: Option<Vec<Vec<f32>>> = found.into_iter().collect();
    let vectors = vectors.ok_or(invalid("fewer embeddings than texts"))?;
    let dims = vectors.first().map_or(0, Vec::len);
    if dims == 0 && count > 0 || vectors.iter().any(|vector| vector.len() != dims) {
        return Err(invalid("expected non-empty embeddings of equal length"));
    }
    Ok(vectors.into_iter().map(|values| Vector::new(Arc::clone(model), values)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_response(answer: &Value, fits: bool) {
        let read = parse_vectors(answer, 2, &"m".into());
        assert_eq!(read.is_ok(), fits, "{answer} {read:?}");
    }

    #[test]
    fn incomplete_embedding_response_is_rejected() {
        check_response(
            &json!({"data": [{"embedding": [1.0, 2.0]}, {"embedding": [2.0, 1.0]}]}),
            true,
        );
        check_response(&json!({"data": [{"embedding": [1.0, 2.0]}]}), false);
        check_response(&json!({"data": [{"embedding": [1.0, 2.0]}, {"embedding": [2.0]}]}), false);
        check_response(
            &json!({"data": [{"embedding": [1.0, null]}, {"embedding": [2.0, 1.0]}]}),
            false,
        );
        check_response(&json!({"data": [{"embedding": []}, {"embedding": []}]}), false);
        check_response(
            &json!({"data": [{"index": 7, "embedding": [1.0]}, {"embedding": [1.0]}]}),
            false,
        );
        check_response(&json!({"error": "no"}), false);
    }

    #[test]
    fn vectors_are_ordered_by_index() {
        let answer = json!({"data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]});
        let vectors = parse_vectors(&answer, 2, &"m".into()).unwrap();
        assert_eq!(vectors[0].values(), [1.0, 0.0]);
        assert_eq!(vectors[1].model().as_ref(), "m");
    }
}
