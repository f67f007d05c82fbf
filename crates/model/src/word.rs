//! Closed word lists of the wire: each enum has its words and stored numbers.

use crate::number::UnitInterval;

// One macro for all lists. The numbers are stored in databases, so they are explicit and never
// change.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $code:literal $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is its word")]
        pub enum $name { $($variant),+ }

        impl $name {
            /// Every word of the list, in order.
            pub const WORDS: &[&str] = &[$($word),+];

            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }

            /// The word on the wire.
            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The stored number.
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code),+ }
            }

            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = <String as serde::Deserialize>::deserialize(from)?;
                let unknown = || serde::de::Error::unknown_variant(&word, Self::WORDS);
                Self::from_word(&word).ok_or_else(unknown)
            }
        }
    };
}

words!(
    /// Feedback on a retrieved item.
    RelevanceSignal {
        Used = 1 "used",
        Ignored = 2 "ignored",
        ExplicitPositive = 3 "explicit_positive",
        ExplicitNegative = 4 "explicit_negative",
    }
);

words!(
    /// The type of an event.
    Type {
        Log = 1 "log",
        Metric = 2 "metric",
        Interaction = 3 "interaction",
        Query = 4 "query",
        Error = 5 "error",
        Performance = 6 "performance",
        Quality = 7 "quality",
        UserExplicit = 8 "user_explicit",
        Explicit = 9 "explicit",
        Implicit = 10 "implicit",
    }
);

words!(
    /// The origin of an event.
    Source {
        ApplicationLog = 1 "application_log",
        SystemMetric = 2 "system_metric",
        Trace = 3 "trace",
        UserRating = 4 "user_rating",
        UserComment = 5 "user_comment",
        UserCorrection = 6 "user_correction",
        QueryResult = 7 "query_result",
        ModelResponse = 8 "model_response",
        PipelineOutput = 9 "pipeline_output",
        ApiResponse = 10 "api_response",
        DatabaseQuery = 11 "database_query",
        ExternalService = 12 "external_service",
        UserInteraction = 13 "user_interaction",
        SessionAnalysis = 14 "session_analysis",
        Turn = 15 "turn",
        Reaction = 16 "reaction",
        Engine = 17 "engine",
    }
);

words!(
    Severity {
        Debug = 1 "debug",
        Info = 2 "info",
        Warning = 3 "warning",
        Error = 4 "error",
        Critical = 5 "critical",
    }
);

words!(
    Category {
        Accuracy = 1 "accuracy",
        Latency = 2 "latency",
        Cost = 3 "cost",
        Error = 4 "error",
        UserSatisfaction = 5 "user_satisfaction",
        Quality = 6 "quality",
        Security = 7 "security",
        Compliance = 8 "compliance",
    }
);

words!(
    /// A user's interaction with an answer.
    InteractionKind {
        QueryRefinement = 1 "query_refinement",
        ResultInteraction = 2 "result_interaction",
        DwellTime = 3 "dwell_time",
        FollowUp = 4 "follow_up",
        Export = 5 "export",
        DashboardAdd = 6 "dashboard_add",
        Abandonment = 7 "abandonment",
        Regenerate = 8 "regenerate",
        Copy = 9 "copy",
    }
);

words!(
    DecisionOutcome {
        Success = 1 "success",
        Failure = 2 "failure",
        Correction = 3 "correction",
        Accepted = 4 "accepted",
        Overridden = 5 "overridden",
        Unknown = 6 "unknown",
    }
);

words!(
    Reaction {
        Ok = 1 "ok",
        NotOk = 2 "not_ok",
        Neutral = 3 "neutral",
    }
);

words!(
    /// The author of a reaction.
    Origin {
        User = 1 "user",
        Machine = 2 "machine",
    }
);

words!(
    /// The application's status of an answer.
    TurnStatus {
        Success = 1 "success",
        Error = 2 "error",
    }
);

words!(
    /// The application's validation outcome.
    ValidationOutcome {
        Approve = 1 "APPROVE",
        Revise = 2 "REVISE",
        Retry = 3 "RETRY",
        Fail = 4 "FAIL",
    }
);

words!(
    /// The kind of a span.
    SpanKind {
        Llm = 1 "llm",
        Retrieval = 2 "retrieval",
        Tool = 3 "tool",
        Embedding = 4 "embedding",
        Other = 5 "other",
    }
);

words!(
    /// The permissions of a key.
    Role {
        Widget = 1 "widget",
        Ingest = 2 "ingest",
        Read = 3 "read",
        Admin = 4 "admin",
    }
);

words!(
    /// The verdict of the next message.
    VerdictStatus {
        Rejected = 1 "rejected",
        Accepted = 2 "accepted",
        Neutral = 3 "neutral",
    }
);

words!(
    /// The language of a question (ISO 639-1).
    Language {
        English = 1 "en",
        German = 2 "de",
        Spanish = 3 "es",
        French = 4 "fr",
        Portuguese = 5 "pt",
        Italian = 6 "it",
        Dutch = 7 "nl",
        Japanese = 8 "ja",
        Chinese = 9 "zh",
    }
);

words!(
    /// The sentiment of a comment.
    Sentiment {
        Positive = 1 "positive",
        Negative = 2 "negative",
        Neutral = 3 "neutral",
    }
);

words!(
    /// The way a message rejects the preceding answer.
    CorrectionType {
        Explicit = 1 "explicit",
        Rephrased = 2 "rephrased",
        Abandonment = 3 "abandonment",
    }
);

words!(
    /// The type of a failed answer.
    ErrorType {
        ExecutionError = 1 "execution_error",
        EmptyResponse = 2 "empty_response",
        ModelRefusal = 3 "model_refusal",
        ErrorText = 4 "error_text",
        Truncated = 5 "truncated",
        WrongLanguage = 6 "wrong_language",
        Repetition = 7 "repetition",
    }
);

words!(
    /// Tolerance for the latency of an answer.
    Tolerance {
        High = 1 "high",
        Medium = 2 "medium",
        Low = 3 "low",
    }
);

words!(
    /// The reason for a repeated question.
    RetryIntent {
        Dissatisfied = 1 "dissatisfied",
        Exploratory = 2 "exploratory",
    }
);

impl Reaction {
    /// The reaction on a scale from 0 to 1.
    pub fn value(self) -> UnitInterval {
        match self {
            Self::Ok => UnitInterval::ONE,
            Self::Neutral => UnitInterval::new(0.5).unwrap_or(UnitInterval::ZERO),
            Self::NotOk => UnitInterval::ZERO,
        }
    }
}

impl VerdictStatus {
    /// The status of a turn by the mean rating of its users, from 0 to 1. A tie is neutral.
    pub fn from_rating(mean: f64) -> Self {
        if mean > 0.5 {
            Self::Accepted
        } else if mean < 0.5 {
            Self::Rejected
        } else {
            Self::Neutral
        }
    }
}

impl From<Reaction> for VerdictStatus {
    fn from(reaction: Reaction) -> Self {
        match reaction {
            Reaction::Ok => Self::Accepted,
            Reaction::NotOk => Self::Rejected,
            Reaction::Neutral => Self::Neutral,
        }
    }
}

impl From<VerdictStatus> for Reaction {
    fn from(status: VerdictStatus) -> Self {
        match status {
            VerdictStatus::Accepted => Self::Ok,
            VerdictStatus::Rejected => Self::NotOk,
            VerdictStatus::Neutral => Self::Neutral,
        }
    }
}

/// Type and source, which determine the shape of an event's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    pub event_type: Type,
    pub source: Source,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_by_code() {
        for word in Type::WORDS {
            let parsed = Type::from_word(word).unwrap();
            assert_eq!(Type::from_code(parsed.code()), Some(parsed));
            assert_eq!(parsed.as_word(), *word);
        }
        for word in Source::WORDS {
            let parsed = Source::from_word(word).unwrap();
            assert_eq!(Source::from_code(parsed.code()), Some(parsed));
        }
        assert_eq!(Type::from_word("Log"), None);
        assert_eq!(Source::from_code(0), None);
    }
}
