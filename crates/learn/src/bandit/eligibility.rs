//! Eligible arms of a request: enabled, not excluded, and within the cost limit.

use super::MAX_ARMS;
use super::choice::ChoiceRequest;
use super::definition::RouterRule;
use super::state::RouterState;

/// Token counts of a typical call, for price estimates before any call was paid.
const TYPICAL_INPUT_TOKENS: f64 = 500.0;
const TYPICAL_OUTPUT_TOKENS: f64 = 300.0;
/// Share of the daily budget from which expensive arms are dropped one by one.
const BUDGET_PRESSURE_START: f64 = 0.7;

/// Eligible arms by their index in the rule.
pub(super) struct EligibleArms {
    indices: [usize; MAX_ARMS],
    count: usize,
    /// True when a limit was ignored because no arm was left.
    pub(super) relaxed: bool,
}

impl EligibleArms {
    pub(super) fn indices(&self) -> &[usize] {
        &self.indices[..self.count]
    }

    fn collect_matching(keep: impl Fn(usize) -> bool, arms: usize) -> Self {
        let mut eligible = Self { indices: [0; MAX_ARMS], count: 0, relaxed: false };
        for index in (0..arms.min(MAX_ARMS)).filter(|index| keep(*index)) {
            eligible.indices[eligible.count] = index;
            eligible.count += 1;
        }
        eligible
    }
}

/// Never empty for a validated rule: limits are relaxed rather than failing the request.
pub(super) fn find_eligible_arms(
    state: &RouterState,
    rule: &RouterRule,
    request: &ChoiceRequest<'_>,
) -> EligibleArms {
    let arms = rule.arms();
    let enabled = |index: usize| arms[index].enabled;
    let wanted = |index: usize| enabled(index) && !request.exclude.contains(&arms[index].id);
    let mut open = EligibleArms::collect_matching(wanted, arms.len());
    if open.count == 0 {
        open = EligibleArms::collect_matching(enabled, arms.len());
        open.relaxed = true;
    }
    if request.max_cost.is_none() && rule.definition().daily_budget.is_none() {
        return open;
    }
    let mut costs = [None; MAX_ARMS];
    for index in open.indices() {
        costs[*index] = expected_cost(state, rule, *index);
    }
    let known = || open.indices().iter().filter_map(|index| costs[*index]);
    let Some(cheapest) = known().reduce(f64::min) else { return open };
    let priciest = known().fold(cheapest, f64::max);
    let limit = cost_limit(state, rule, request, cheapest, priciest);
    let affordable = |index: usize| costs[index].is_none_or(|cost| cost <= limit);
    let is_open = |index: usize| open.indices().contains(&index);
    let fits = |index: usize| is_open(index) && affordable(index);
    let mut kept = EligibleArms::collect_matching(fits, arms.len());
    kept.relaxed = open.relaxed;
    if kept.count == 0 {
        // Every arm exceeds the limit: fall back to the cheapest.
        let least = |index: usize| costs[index].is_some_and(|cost| cost <= cheapest);
        kept = EligibleArms::collect_matching(|index| is_open(index) && least(index), arms.len());
        kept.relaxed = true;
    }
    kept
}

/// Mean cost of past calls, else the list price; `None` when unknown.
pub(super) fn expected_cost(state: &RouterState, rule: &RouterRule, index: usize) -> Option<f64> {
    let paid = state.find_arm(rule, index).and_then(|arm| arm.mean_cost());
    paid.or_else(|| rule.arms()[index].price_call(TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS))
}

/// Falls from the most expensive arm's cost to the cheapest's as the daily budget runs out.
fn cost_limit(
    state: &RouterState,
    rule: &RouterRule,
    request: &ChoiceRequest<'_>,
    cheapest: f64,
    priciest: f64,
) -> f64 {
    let most = request.max_cost.filter(|most| !most.is_nan()).unwrap_or(f64::INFINITY);
    let Some(budget) = rule.definition().daily_budget else { return most };
    let used = state.spent_on(request.day) / budget;
    let pressure = ((used - BUDGET_PRESSURE_START) / (1.0 - BUDGET_PRESSURE_START)).clamp(0.0, 1.0);
    let budget_limit =
        if pressure >= 1.0 { cheapest } else { priciest - pressure * (priciest - cheapest) };
    most.min(budget_limit)
}
