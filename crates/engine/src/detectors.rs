//! All detectors with their rules: what the live flow, `scan` and `score` share.

use detect::{
    Answer, Exchange, FailureRule, Finished, PaceRule, PastQuestion, RetryRule, TargetRule,
    UsageRule, Utterance, VerdictRule, complexity_of, detect_failure, detect_pace, detect_retry,
    detect_sentiment, detect_verdict,
};
use model::{Failure, Pace, Retry, Sentiment, TurnStatus, UnitInterval, Verdict};

/// The rules of every detector.
#[derive(Clone, Copy, Debug, Default)]
pub struct Detectors {
    /// Of the next message.
    pub verdict: VerdictRule,
    /// Of asking again.
    pub retry: RetryRule,
    /// Of the answer by itself.
    pub failure: FailureRule,
    /// Of the time it took.
    pub pace: PaceRule,
    /// Of which turn a remark is about.
    pub target: TargetRule,
    /// Of what an answer used.
    pub usage: UsageRule,
    /// Whether that may be a turn of another conversation of the same user.
    pub search_other_conversations: bool,
}

impl Detectors {
    /// What the next message says about an answer.
    pub(crate) fn detect_verdict(&self, exchange: &Exchange<'_>) -> Verdict {
        detect_verdict(&self.verdict, exchange)
    }

    /// Whether the message asks again what was asked before.
    pub(crate) fn detect_retry(
        &self,
        message: &Utterance,
        history: &[PastQuestion<'_>],
    ) -> Option<Retry> {
        detect_retry(&self.retry, message, history)
    }

    /// Whether the answer failed by itself.
    pub(crate) fn detect_failure(
        &self,
        question: Option<&Utterance>,
        response: &str,
        answer: &Answer,
        status: TurnStatus,
        error: Option<&str>,
    ) -> Failure {
        detect_failure(&self.failure, &Finished { status, error, question, response, answer })
    }

    /// How the time it took is borne.
    pub(crate) fn detect_pace(
        &self,
        question: &Utterance,
        seconds: f64,
        accepted: bool,
    ) -> Option<Pace> {
        detect_pace(&self.pace, complexity_of(question), seconds, accepted)
    }

    /// What a comment sounds like.
    pub(crate) fn detect_sentiment(&self, comment: &Utterance) -> (Sentiment, UnitInterval) {
        detect_sentiment(&self.verdict, comment)
    }

    /// What hears comments, as findings name it.
    pub(crate) fn sentiment_version(&self) -> String {
        format!("sentiment.{}/{}", self.verdict.mode.as_word(), detect::version())
    }

    /// What judges messages, as findings name it.
    pub(crate) fn verdict_version(&self) -> String {
        format!("verdict.{}/{}", self.verdict.mode.as_word(), detect::version())
    }

    /// What finds retries, as findings name it.
    pub(crate) fn retry_version(&self) -> String {
        format!("retry/{}", detect::version())
    }

    /// What looks at answers, as findings name it.
    pub(crate) fn answer_version(&self) -> String {
        format!("answer/{}", detect::version())
    }
}
