//! Comments with their sentiment and topic.

use engine::{CommentTopic, CommentView, FailureReport, QualityBucket};
use model::FoundSentiment;
use serde::Serialize;
use utoipa::ToSchema;

/// The detected sentiment of a comment. It does not count as a reaction.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SentimentBody {
    /// `positive`, `negative` or `neutral`.
    sentiment: &'static str,
    confidence: f64,
    /// Detector and version; `rating` when the comment came with a rating.
    detector: String,
}

/// The failure pattern that is most similar to a comment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TopicBody {
    /// Id of the pattern, as in `GET /api/v1/failures`.
    id: String,
    label: String,
    similarity: f32,
}

/// A comment on a turn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CommentBody {
    event_id: String,
    ts: String,
    user_id: Option<String>,
    text: String,
    sentiment: Option<SentimentBody>,
    topic: Option<TopicBody>,
}

/// Number of comments by sentiment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CommentCountsBody {
    positive: i64,
    negative: i64,
    neutral: i64,
}

impl From<&FoundSentiment> for SentimentBody {
    fn from(found: &FoundSentiment) -> Self {
        Self {
            sentiment: found.sentiment.as_word(),
            confidence: found.confidence.get(),
            detector: found.detector.clone(),
        }
    }
}

impl From<CommentTopic> for TopicBody {
    fn from(found: CommentTopic) -> Self {
        let CommentTopic { id, label, similarity } = found;
        Self { id, label, similarity }
    }
}

impl From<&QualityBucket> for CommentCountsBody {
    fn from(bucket: &QualityBucket) -> Self {
        let counts = &bucket.counts;
        Self {
            positive: counts.comments_positive,
            negative: counts.comments_negative,
            neutral: counts.comments_neutral,
        }
    }
}

impl CommentBody {
    /// The topic is looked up in `patterns`.
    pub(crate) fn new(comment: &CommentView, patterns: Option<&FailureReport>) -> Self {
        let topic = patterns.and_then(|patterns| patterns.topic_of(&comment.text));
        Self {
            event_id: comment.event.to_string(),
            ts: comment.ts.to_string(),
            user_id: comment.user.as_ref().map(|id| id.to_string()),
            text: comment.text.clone(),
            sentiment: comment.sentiment.as_ref().map(SentimentBody::from),
            topic: topic.map(TopicBody::from),
        }
    }
}
