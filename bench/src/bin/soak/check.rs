//! Final check: each acknowledged id once, equal counts, a log without gaps, projections that match
//! the log.

use std::collections::HashMap;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::load::{self, Load, batch_id, has_batch, rating_id, turn_id};
use crate::node::Node;

/// Number of occurrences in the log, by id.
#[derive(Default)]
struct Log {
    found: HashMap<String, u32>,
    events: u64,
    violations: Vec<String>,
}

impl Log {
    fn read(node: &Node) -> anyhow::Result<Self> {
        let agent = load::agent();
        let mut log = Self::default();
        let mut after = 0;
        loop {
            let url = format!("{}/api/v1/events?limit=1000&after={after}", node.url);
            let mut answer = agent.get(url).call()?;
            ensure!(answer.status() == 200, "the log cannot be read: {}", answer.status());
            let page: Value = answer.body_mut().with_config().limit(1 << 30).read_json()?;
            let items = page["items"].as_array().context("no items")?;
            let Some(last) = items.last() else { return Ok(log) };
            for event in items {
                log.take(event, &mut after);
            }
            after = last["position"].as_u64().context("no position")?;
        }
    }

    fn take(&mut self, event: &Value, after: &mut u64) {
        let position = event["position"].as_u64().unwrap_or(0);
        if position != *after + 1 {
            self.violations.push(format!("position {position} comes after {after}"));
        }
        *after = position;
        self.events += 1;
        let text = |name: &str| event[name].as_str().unwrap_or("");
        let turn = text("message_id");
        let name = match text("source") {
            "turn" => format!("{} {turn}", event["data"]["phase"].as_str().unwrap_or("")),
            "reaction" if event["data"]["origin"] == "user" => format!("reaction {turn}"),
            // Machine events, which also occur once per id.
            _ => text("id").to_owned(),
        };
        *self.found.entry(name).or_default() += 1;
    }

    /// Checks that the id occurs once.
    fn expect(&mut self, name: &str) {
        match self.found.get(name).copied().unwrap_or(0) {
            1 => {}
            0 => self.violations.push(format!("{name} was acknowledged and is lost")),
            times => self.violations.push(format!("{name} is there {times} times")),
        }
    }

    fn count(&self, beginning: &str) -> u64 {
        let named = self.found.iter().filter(|(name, _)| name.starts_with(beginning));
        named.map(|(_, times)| u64::from(*times)).sum()
    }
}

/// Compares acknowledged writes with the log.
pub(crate) fn read_back(node: &Node, load: &Load) -> anyhow::Result<Vec<String>> {
    let mut log = Log::read(node)?;
    let (mut turns, mut batched) = (0, 0);
    for (sender, round) in load.acknowledged() {
        let turn = turn_id(sender, round);
        for phase in ["opened", "completed", "reaction"] {
            log.expect(&format!("{phase} {turn}"));
        }
        log.expect(&rating_id(sender, round));
        turns += 1;
        if has_batch(round) {
            (0..load::BATCH).for_each(|n| log.expect(&batch_id(sender, round, n)));
            batched += load::BATCH as u64;
        }
    }
    let acknowledged = [
        ("opened ", turns),
        ("completed ", turns),
        ("reaction ", turns),
        ("r-", turns),
        ("b-", batched),
    ];
    for (beginning, expected) in acknowledged {
        let found = log.count(beginning);
        if found != expected {
            log.violations.push(format!("{found} of {beginning}, {expected} were acknowledged"));
        }
    }
    let doubled = log.found.values().filter(|times| **times > 1).count();
    if doubled > 0 {
        log.violations.push(format!("{doubled} ids are there more than once"));
    }
    let reported = reported(node)?;
    if reported != 2 * turns {
        log.violations.push(format!(
            "reports count {reported} reactions of users, {} were acknowledged",
            2 * turns
        ));
    }
    println!(
        "read back        {:8} events in the log, {turns} turns with answer, rating and reaction, {batched} events of \
         batches; {reported} reactions of users in the reports",
        log.events
    );
    Ok(log.violations)
}

/// User reactions in the report over all conversations.
fn reported(node: &Node) -> anyhow::Result<u64> {
    let agent = load::agent();
    let url =
        format!("{}/conversations/default/default/feedback/conversations-in-period", node.url);
    let mut body =
        json!({"start": "2000-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z", "limit": 200});
    let mut sum = 0;
    loop {
        let mut answer = agent.post(&url).send_json(&body)?;
        let page: Value = answer.body_mut().with_config().limit(1 << 30).read_json()?;
        let items = page["items"].as_array().with_context(|| format!("no items: {page}"))?;
        sum +=
            items.iter().filter_map(|item| item["feedback_counts"]["user"].as_u64()).sum::<u64>();
        match page["next_cursor"].as_str() {
            Some(next) => body["cursor"] = json!(next),
            None => return Ok(sum),
        }
    }
}

/// Stops the server and rebuilds every projection.
pub(crate) fn rebuild(node: Node) -> anyhow::Result<Vec<String>> {
    let rebuilt = node.rebuild()?;
    println!(
        "rebuild          {:8} events replayed, changed: {}",
        rebuilt["events"], rebuilt["changed"]
    );
    match rebuilt["changed"] == false {
        true => Ok(Vec::new()),
        false => Ok(vec!["the projections differed from the log".into()]),
    }
}
