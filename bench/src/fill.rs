//! Fills a store through the API.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::bail;

use crate::server::{Server, now};

/// 2026-01-01T00:00:00Z in seconds.
const START: u64 = 1_767_225_600;
const SENDERS: usize = 2;

/// An agent with a keep-alive connection.
pub(crate) fn agent() -> ureq::Agent {
    let timeout = Some(Duration::from_secs(60));
    ureq::Agent::config_builder().timeout_global(timeout).build().into()
}

/// Sends events number `from` to `to` in batches of `size`; returns the duration.
pub(crate) fn send(
    server: &Server,
    from: usize,
    to: usize,
    size: usize,
    event: impl Fn(usize) -> String + Sync,
) -> anyhow::Result<Duration> {
    let next = AtomicUsize::new(from);
    let begun = now();
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|_| {
                scope.spawn(|| {
                    let agent = agent();
                    loop {
                        let first = next.fetch_add(size, Ordering::Relaxed);
                        if first >= to {
                            return anyhow::Ok(());
                        }
                        let lines: Vec<String> =
                            (first..to.min(first + size)).map(&event).collect();
                        let url = format!("{}/api/v1/feedback/batch", server.url);
                        let request = agent
                            .post(url)
                            .header("Content-Type", "application/x-ndjson")
                            .header("X-API-Key", &server.key);
                        let answer = request.send(lines.join("\n"))?;
                        if answer.status() != 200 {
                            bail!("a batch got status {}", answer.status());
                        }
                    }
                })
            })
            .collect();
        for sender in senders {
            match sender.join() {
                Ok(result) => result?,
                Err(_) => bail!("a sender panicked"),
            }
        }
        Ok(begun.elapsed())
    })
}

pub(crate) fn metric(n: usize) -> String {
    format!(
        r#"{{"type":"performance","source":"system_metric","category":"latency","session_id":"c{}","user_id":"u{}","timestamp":"{}","data":{{"endpoint":"/query","latency_ms":{}.5,"tokens_used":1200,"llm_provider":"openai","model":"gpt-4o-mini"}}}}"#,
        n / 20,
        n % 1000,
        time(n),
        n % 5000
    )
}

/// A rating: ten per conversation, each on its own turn, spread over 180 days.
pub(crate) fn rating(n: usize) -> String {
    let word = if n.is_multiple_of(4) { "negative" } else { "positive" };
    format!(
        r#"{{"type":"explicit","source":"user_rating","category":"user_satisfaction","session_id":"c{}","message_id":"t{n}","user_id":"u{}","timestamp":"{}","data":{{"rating":"{word}","comment":"remark number {n}"}}}}"#,
        n / 10,
        (n / 10) % 5000,
        time(n)
    )
}

/// Times that grow with the number; a conversation within minutes, all within 180 days.
pub(crate) fn time(n: usize) -> String {
    let secs = START + (n as u64 / 10 * 97) % (180 * 86_400) + (n as u64 % 10) * 60;
    let (day, rest) = ((secs - START) / 86_400, secs % 86_400);
    // Six months of thirty days are a good approximation.
    let (month, day) = (1 + day / 28, 1 + day % 28);
    format!("2026-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}
