//! The closed word lists of the wire: each enum knows its words and the number it is stored under.

use crate::number::UnitInterval;

// One shape for every list: variants, their words, their stored numbers. The numbers are written
// into databases, so they are given by hand and never change.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $code:literal $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is its word")]
        pub enum $name { $($variant),+ }

        impl $name {
            /// Every word of the list, in order.
            pub const WORDS: &[&str] = &[$($word),+];

            /// The variant that a word names.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }

            /// The word on the wire.
            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The number in the store.
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code),+ }
            }

            /// The variant stored under a number.
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
    /// What became of an item that a query returned.
    RelevanceSignal {
        Used = 1 "used",
        Ignored = 2 "ignored",
        ExplicitPositive = 3 "explicit_positive",
        ExplicitNegative = 4 "explicit_negative",
    }
);

words!(
    /// What sort of thing happened.
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
    /// Where it was seen.
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
    /// How bad it is.
    Severity {
        Debug = 1 "debug",
        Info = 2 "info",
        Warning = 3 "warning",
        Error = 4 "error",
        Critical = 5 "critical",
    }
);

words!(
    /// What it is about.
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
    /// What a user did with an answer.
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
    /// How a decision turned out.
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
    /// What somebody thought of an answer.
    Reaction {
        Ok = 1 "ok",
        NotOk = 2 "not_ok",
        Neutral = 3 "neutral",
    }
);

words!(
    /// Who reacted.
    Origin {
        User = 1 "user",
        Machine = 2 "machine",
    }
);

words!(
    /// Whether the application could answer.
    TurnStatus {
        Success = 1 "success",
        Error = 2 "error",
    }
);

words!(
    /// What the application's own validator said of an answer.
    ValidationOutcome {
        Approve = 1 "APPROVE",
        Revise = 2 "REVISE",
        Retry = 3 "RETRY",
        Fail = 4 "FAIL",
    }
);

words!(
    /// What a key may do.
    Role {
        Widget = 1 "widget",
        Ingest = 2 "ingest",
        Read = 3 "read",
        Admin = 4 "admin",
    }
);

words!(
    /// What the next message says about an answer.
    VerdictStatus {
        Rejected = 1 "rejected",
        Accepted = 2 "accepted",
        Neutral = 3 "neutral",
    }
);

words!(
    /// What a comment sounds like.
    Sentiment {
        Positive = 1 "positive",
        Negative = 2 "negative",
        Neutral = 3 "neutral",
    }
);

words!(
    /// How a message rejects the answer before it.
    CorrectionType {
        Explicit = 1 "explicit",
        Rephrased = 2 "rephrased",
        Abandonment = 3 "abandonment",
    }
);

words!(
    /// How an answer failed by itself.
    ErrorType {
        ExecutionError = 1 "execution_error",
        EmptyResponse = 2 "empty_response",
        ModelRefusal = 3 "model_refusal",
        ErrorText = 4 "error_text",
    }
);

words!(
    /// How well people bear the time an answer took.
    Tolerance {
        High = 1 "high",
        Medium = 2 "medium",
        Low = 3 "low",
    }
);

words!(
    /// Why somebody asks again.
    RetryIntent {
        Dissatisfied = 1 "dissatisfied",
        Exploratory = 2 "exploratory",
    }
);

impl Reaction {
    /// How good, from 0 to 1.
    pub fn value(self) -> UnitInterval {
        match self {
            Self::Ok => UnitInterval::ONE,
            Self::Neutral => UnitInterval::new(0.5).unwrap_or(UnitInterval::ZERO),
            Self::NotOk => UnitInterval::ZERO,
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

/// Type and source together decide what an event's data looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// What sort of thing happened.
    pub event_type: Type,
    /// Where it was seen.
    pub source: Source,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_survives_the_way_to_the_store_and_back() {
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
