//! Conditions of a reward definition's overrides: `export`, `dwell_ms>=30000`.

use model::{BadData, InteractionKind};

/// What must have happened for an override to count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Condition {
    /// The user did this with the answer.
    Did(InteractionKind),
    /// The user looked at it so long.
    Dwell(Bound),
}

/// One side of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// That long or longer.
    AtLeast(f64),
    /// Longer.
    Above(f64),
    /// That long or shorter.
    AtMost(f64),
    /// Shorter.
    Below(f64),
}

impl Bound {
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::Above(limit) => value > limit,
            Self::AtMost(limit) => value <= limit,
            Self::Below(limit) => value < limit,
        }
    }
}

impl Condition {
    /// Reads a condition, or says what would have been one.
    pub(crate) fn parse(text: &str) -> Result<Self, BadData> {
        let bare = text.trim();
        if let Some(kind) = InteractionKind::from_word(bare) {
            return Ok(Self::Did(kind));
        }
        let bound = bare.strip_prefix("dwell_ms").map(str::trim_start).and_then(bound_of);
        bound.map(Self::Dwell).ok_or_else(|| BadData {
            field: "reward.overrides".to_owned(),
            got: format!("{:?}", text.chars().take(40).collect::<String>()),
            expected: format!(
                "a comparison such as \"dwell_ms>=30000\", or one of {}",
                InteractionKind::WORDS.join(", ")
            ),
        })
    }
}

fn bound_of(text: &str) -> Option<Bound> {
    let limit = |sign: &str| {
        let limit: f64 = text.strip_prefix(sign)?.trim().parse().ok()?;
        (limit.is_finite() && limit >= 0.0).then_some(limit)
    };
    // The longer signs first, or ">=" would be read as ">" and a number that begins with "=".
    limit(">=")
        .map(Bound::AtLeast)
        .or_else(|| limit("<=").map(Bound::AtMost))
        .or_else(|| limit(">").map(Bound::Above))
        .or_else(|| limit("<").map(Bound::Below))
}
