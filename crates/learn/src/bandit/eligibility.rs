//! Which arms a request may have at all: what is enabled, not excluded, and can be paid for.

use super::MOST_ARMS;
use super::choice::Choosing;
use super::definition::RouterRule;
use super::state::RouterState;

/// Tokens of a usual call, for prices before a call has been paid for.
const TOKENS_IN: f64 = 500.0;
const TOKENS_OUT: f64 = 300.0;
/// From this part of the daily budget on, dear arms are given up one by one.
const PRESSED_FROM: f64 = 0.7;

/// The arms in question, by their index in the rule.
pub(super) struct Eligible {
    indices: [usize; MOST_ARMS],
    count: usize,
    /// Something that was asked for had to be given up, because nothing would have been left.
    pub(super) relaxed: bool,
}

impl Eligible {
    pub(super) fn indices(&self) -> &[usize] {
        &self.indices[..self.count]
    }

    fn of(keep: impl Fn(usize) -> bool, arms: usize) -> Self {
        let mut eligible = Self { indices: [0; MOST_ARMS], count: 0, relaxed: false };
        for index in (0..arms.min(MOST_ARMS)).filter(|index| keep(*index)) {
            eligible.indices[eligible.count] = index;
            eligible.count += 1;
        }
        eligible
    }
}

/// Never empty for a rule that was checked: limits are given up before a request is.
pub(super) fn eligible(
    state: &RouterState,
    rule: &RouterRule,
    choosing: &Choosing<'_>,
) -> Eligible {
    let arms = rule.arms();
    let enabled = |index: usize| arms[index].enabled;
    let wanted = |index: usize| enabled(index) && !choosing.exclude.contains(&arms[index].id);
    let mut open = Eligible::of(wanted, arms.len());
    if open.count == 0 {
        open = Eligible::of(enabled, arms.len());
        open.relaxed = true;
    }
    if choosing.max_cost.is_none() && rule.definition().daily_budget.is_none() {
        return open;
    }
    let mut costs = [None; MOST_ARMS];
    for index in open.indices() {
        costs[*index] = expected_cost(state, rule, *index);
    }
    let known = || open.indices().iter().filter_map(|index| costs[*index]);
    let Some(cheapest) = known().reduce(f64::min) else { return open };
    let dearest = known().fold(cheapest, f64::max);
    let limit = limit(state, rule, choosing, cheapest, dearest);
    let affordable = |index: usize| costs[index].is_none_or(|cost| cost <= limit);
    let is_open = |index: usize| open.indices().contains(&index);
    let mut kept = Eligible::of(|index| is_open(index) && affordable(index), arms.len());
    kept.relaxed = open.relaxed;
    if kept.count == 0 {
        // Nothing is cheap enough: the cheapest, rather than no answer.
        let least = |index: usize| costs[index].is_some_and(|cost| cost <= cheapest);
        kept = Eligible::of(|index| is_open(index) && least(index), arms.len());
        kept.relaxed = true;
    }
    kept
}

/// What a call of an arm will cost: what it cost so far, else the price list; `None` if unknown.
pub(super) fn expected_cost(state: &RouterState, rule: &RouterRule, index: usize) -> Option<f64> {
    let paid = state.arm_at(rule, index).and_then(|arm| arm.mean_cost());
    paid.or_else(|| rule.arms()[index].price(TOKENS_IN, TOKENS_OUT))
}

/// The most that a call may cost. As the day's budget runs out it sinks from the dearest arm's cost
/// to the cheapest's; the cheapest is always left.
fn limit(
    state: &RouterState,
    rule: &RouterRule,
    choosing: &Choosing<'_>,
    cheapest: f64,
    dearest: f64,
) -> f64 {
    let most = choosing.max_cost.filter(|most| !most.is_nan()).unwrap_or(f64::INFINITY);
    let Some(budget) = rule.definition().daily_budget else { return most };
    let used = state.spent_on(choosing.day) / budget;
    let pressed = ((used - PRESSED_FROM) / (1.0 - PRESSED_FROM)).clamp(0.0, 1.0);
    let pressing = if pressed >= 1.0 { cheapest } else { dearest - pressed * (dearest - cheapest) };
    most.min(pressing)
}
