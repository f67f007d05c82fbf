//! The system page: health, dead letters and keys.

use axum::extract::State;
use engine::{QualityQuery, StoredKey};
use model::Window;
use web::{
    DeadLetterRow, DisplayTime, KeyRow, SystemGauge, SystemPage, View, format_count,
    format_seconds, throughput_chart,
};

use super::Site;
use super::page_response::{PageResult, html_page};
use super::visitor::Visitor;

const MAX_DEAD_LETTERS: usize = 50;

pub(super) async fn show_system(State(site): State<Site>, visitor: Visitor) -> PageResult {
    let engine = &site.engine;
    let now = engine.now();
    let window = Window { start: now.plus_secs(-86_400), end: now };
    let day = QualityQuery { window, model: None, prompt: None, ..visitor.query(now, 1) };
    let buckets = engine.insights.quality(day).await?;
    let turns: i64 = buckets.iter().map(|bucket| bucket.counts.turns).sum();
    let letters = engine.feedback.dead_letters(&visitor.scope(), 0, MAX_DEAD_LETTERS).await?;
    let keys = visitor.may_manage().then(|| engine.access.list_keys());
    let mut gauges = load_gauges(&site).await;
    gauges.insert(
        1,
        new_gauge("Turns, last 24 h", format_count(turns.unsigned_abs()), "in this tenant", true),
    );
    Ok(html_page(&SystemPage {
        gauges,
        throughput: throughput_chart(&buckets, 1, window),
        letters: letters
            .into_iter()
            .map(|one| DeadLetterRow {
                id: one.id,
                at: DisplayTime::with_minutes(one.at),
                reason: one.reason,
            })
            .collect(),
        keys: keys.map(|keys| {
            let own = keys.iter().filter(|key| key.tenant == visitor.tenant);
            let seen = own.filter(|key| visitor.can_see_project(key.project.as_ref()));
            seen.map(|key| key_row(key)).collect()
        }),
        version: env!("CARGO_PKG_VERSION"),
        tenant: visitor.tenant.to_string(),
        layout: visitor.shell(&site, Some(View::System)),
    }))
}

fn new_gauge(name: &'static str, value: String, about: &str, healthy: bool) -> SystemGauge {
    SystemGauge {
        name,
        value,
        about: about.to_owned(),
        class: if healthy { "none" } else { "bad" },
    }
}

async fn load_gauges(site: &Site) -> Vec<SystemGauge> {
    let engine = &site.engine;
    let (stats, history) = (engine.stats(), engine.turns.history_health());
    let ready = engine.is_ready().await;
    let commits = &stats.commit_seconds;
    let mean = if commits.count > 0 { commits.sum / commits.count as f64 } else { 0.0 };
    let together = &stats.commit_writes;
    let each = if together.count > 0 { together.sum / together.count as f64 } else { 0.0 };
    let about = format!("{} commits with {each:.1} writes on average", format_count(commits.count));
    let state = if ready { "ready" } else { "not ready" };
    let mut gauges = vec![
        new_gauge("Store", state.to_owned(), "readiness for writes", ready),
        new_gauge("Events", format_count(engine.head().0), "in the whole log", true),
        new_gauge("Commit", format_seconds(mean), &about, true),
        new_gauge(
            "Queued writes",
            format_count(stats.queued_writes),
            "waiting for a commit",
            stats.queued_writes < 1000,
        ),
        new_gauge(
            "Failed commits",
            format_count(stats.failed_commits),
            "since this node started",
            stats.failed_commits == 0,
        ),
        new_gauge(
            "Retry detection",
            if history.away { "off" } else { "on" }.to_owned(),
            "compares questions with recent ones",
            !history.away,
        ),
        new_gauge(
            "Clock skew",
            format_count(engine.turns.skewed_clocks()),
            "turns that end before they start",
            true,
        ),
    ];
    if let Some(lag) = engine.cluster.publish_lag() {
        let about = format!("{} behind", format_seconds(lag.seconds));
        gauges.push(new_gauge("Kafka lag", format_count(lag.events), &about, lag.seconds < 60.0));
    }
    gauges
}

fn key_row(key: &StoredKey) -> KeyRow {
    KeyRow {
        id: key.id.clone(),
        role: key.role.as_word(),
        project: key.project.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string),
        rate: key.rate.map_or_else(|| "–".to_owned(), |rate| format!("{rate}/s")),
        created: DisplayTime::with_minutes(key.created_at),
        revoked: key.revoked_at.map(DisplayTime::with_minutes),
    }
}
