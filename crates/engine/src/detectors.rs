//! All detectors with their rules, shared by the live path, `scan` and `score`.

use std::time::Duration;

use detect::{
    Answer, CompletedAnswer, Exchange, FailureRule, Mode, PaceRule, PastQuestion, ReaderScores,
    RetryRule, TargetRule, UsageRule, Utterance, VerdictRule, classify_complexity, detect_failure,
    detect_pace, detect_retry, detect_sentiment, detect_verdict, detect_verdict_with, is_settled,
};
use model::{Failure, Pace, Retry, Sentiment, TurnStatus, UnitInterval, Verdict};
use reader::{Reader, Texts};

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
    pub reader: ReaderMode,
}

/// Switches the reader, which reads messages that the instant models are unsure about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReaderMode {
    #[default]
    Off,
    /// If the build has it. A request that needs the verdict waits for the reader up to `budget`.
    Auto { budget: Duration },
}

impl Detectors {
    /// The verdict of the instant models, which takes microseconds.
    pub(crate) fn detect_verdict(&self, exchange: &Exchange<'_>) -> Verdict {
        detect_verdict(&self.verdict, exchange)
    }

    fn reader(&self) -> Option<&'static Reader> {
        match self.reader {
            ReaderMode::Auto { .. } if self.verdict.mode == Mode::Model => reader::built_in(),
            ReaderMode::Auto { .. } | ReaderMode::Off => None,
        }
    }

    pub(crate) fn reader_budget(&self) -> Duration {
        match self.reader {
            ReaderMode::Auto { budget } => budget,
            ReaderMode::Off => Duration::ZERO,
        }
    }

    pub(crate) fn has_reader(&self) -> bool {
        self.reader().is_some()
    }

    /// True when the reader may change a verdict of the instant models.
    pub(crate) fn needs_reading(&self, verdict: &Verdict) -> bool {
        self.has_reader() && !is_settled(verdict)
    }

    /// The verdict with the reader's scores, which take milliseconds. `answer` is the text of the
    /// exchange's answer.
    pub(crate) fn read_verdict(&self, exchange: &Exchange<'_>, answer: &str) -> Verdict {
        let scores = self.reader().map(|reader| {
            let found = reader.read(&Texts {
                message: exchange.message.original(),
                question: exchange.question.map_or("", Utterance::original),
                answer,
            });
            ReaderScores {
                rejected: f64::from(found.rejected),
                accepted: f64::from(found.accepted),
                evidence: found.evidence,
            }
        });
        detect_verdict_with(&self.verdict, exchange, scores.as_ref())
    }

    /// The verdict of the instant models, or of the reader too where they are unsure.
    pub(crate) fn detect_verdict_fully(&self, exchange: &Exchange<'_>, answer: &str) -> Verdict {
        let instant = self.detect_verdict(exchange);
        if self.needs_reading(&instant) { self.read_verdict(exchange, answer) } else { instant }
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

    /// The version of verdicts to which the reader contributed.
    pub(crate) fn reader_version(&self) -> String {
        format!("verdict.reader/{}-{}", detect::version(), reader::version())
    }

    pub(crate) fn retry_version(&self) -> String {
        format!("retry/{}", detect::version())
    }

    pub(crate) fn answer_version(&self) -> String {
        format!("answer/{}", detect::version())
    }
}
