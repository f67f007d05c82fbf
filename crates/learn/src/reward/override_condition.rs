//! Conditions of reward overrides: `export`, `dwell_ms>=30000`.

use model::{BadData, InteractionKind};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OverrideCondition {
    Interaction(InteractionKind),
    Dwell(DwellBound),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DwellBound {
    AtLeast(f64),
    Above(f64),
    AtMost(f64),
    Below(f64),
}

impl DwellBound {
    pub(crate) fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::Above(limit) => value > limit,
            Self::AtMost(limit) => value <= limit,
            Self::Below(limit) => value < limit,
        }
    }
}

impl OverrideCondition {
    pub(crate) fn parse(text: &str) -> Result<Self, BadData> {
        let bare = text.trim();
        if let Some(kind) = InteractionKind::from_word(bare) {
            return Ok(Self::Interaction(kind));
        }
        let bound = bare.strip_prefix("dwell_ms").map(str::trim_start).and_then(parse_bound);
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

fn parse_bound(text: &str) -> Option<DwellBound> {
    let limit = |sign: &str| {
        let limit: f64 = text.strip_prefix(sign)?.trim().parse().ok()?;
        (limit.is_finite() && limit >= 0.0).then_some(limit)
    };
    // The longer operators come first, or ">=" would parse as ">".
    limit(">=")
        .map(DwellBound::AtLeast)
        .or_else(|| limit("<=").map(DwellBound::AtMost))
        .or_else(|| limit(">").map(DwellBound::Above))
        .or_else(|| limit("<").map(DwellBound::Below))
}
