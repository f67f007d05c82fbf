//! All detectors with their rules, shared by the live path, `scan` and `score`.

use detect::{
    Answer, CompletedAnswer, Exchange, FailureRule, PaceRule, PastQuestion, RetryRule, TargetRule,
    UsageRule, Utterance, VerdictRule, classify_complexity, detect_failure, detect_pace,
    detect_retry, detect_sentiment, detect_verdict,
};
use model::{Failure, Pace, Retry, Sentiment, TurnStatus, UnitInterval, Verdict};

#[derive(Clone, Copy, Debug, Default)]
pub struct Detectors {
    /// Verdict of the next message on an answer.
    pub verdict: VerdictRule,
    /// Detection of repeated questions.
    pub retry: RetryRule,
    /// Detection of failed answers.
    pub failure: FailureRule,
    /// Limits of latency tolerance.
    pub pace: PaceRule,
    /// The turn that a remark refers to.
    pub target: TargetRule,
    /// Use of retrieved items by an answer.
    pub usage: UsageRule,
    /// True when a remark may refer to another conversation of the same user.
    pub search_other_conversations: bool,
}

impl Detectors {
    pub(crate) fn detect_verdict(&self, exchange: &Exchange<'_>) -> Verdict {
        detect_verdict(&self.verdict, exchange)
    }

    pub(crate) fn detect_retry(
        &self,
        message: &Utterance,
        history: &[PastQuestion<'_>],
    ) -> Option<Retry> {
        detect_retry(&self.retry, message, history)
    }

    pub(crate) fn detect_failure(
        &self,
        question: Option<&Utterance>,
        response: &str,
        answer: &Answer,
        status: TurnStatus,
        error: Option<&str>,
    ) -> Failure {
        detect_failure(
            &self.failure,
            &CompletedAnswer { status, error, question, response, answer },
        )
    }

    pub(crate) fn detect_pace(
        &self,
        question: &Utterance,
        seconds: f64,
        accepted: bool,
    ) -> Option<Pace> {
        detect_pace(&self.pace, classify_complexity(question), seconds, accepted)
    }

    pub(crate) fn detect_sentiment(&self, comment: &Utterance) -> (Sentiment, UnitInterval) {
        detect_sentiment(&self.verdict, comment)
    }

    /// The detector's name and version as stored in findings.
    pub(crate) fn sentiment_version(&self) -> String {
        format!("sentiment.{}/{}", self.verdict.mode.as_word(), detect::version())
    }

    pub(crate) fn verdict_version(&self) -> String {
        format!("verdict.{}/{}", self.verdict.mode.as_word(), detect::version())
    }

    pub(crate) fn retry_version(&self) -> String {
        format!("retry/{}", detect::version())
    }

    pub(crate) fn answer_version(&self) -> String {
        format!("answer/{}", detect::version())
    }
}
