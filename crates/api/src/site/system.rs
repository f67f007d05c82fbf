//! How the program itself is doing.

use axum::extract::State;
use axum::response::Response;
use engine::{QualityQuery, StoredKey};
use model::Window;
use web::{Gauge, KeyRow, Letter, Moment, System, View, count, seconds, volume_of};

use super::Site;
use super::answer::html;
use super::trouble::Trouble;
use super::visitor::Visitor;

/// Dead letters on the page.
const LETTERS: usize = 50;

/// `GET /system`
pub(super) async fn show(State(site): State<Site>, visitor: Visitor) -> Result<Response, Trouble> {
    let engine = &site.engine;
    let now = engine.now();
    let window = Window { start: now.plus_secs(-86_400), end: now };
    let day = QualityQuery { window, model: None, prompt: None, ..visitor.query(now, 1) };
    let buckets = engine.insights.quality(day).await?;
    let turns: i64 = buckets.iter().map(|bucket| bucket.counts.turns).sum();
    let letters = engine.feedback.dead_letters(&visitor.scope(), 0, LETTERS).await?;
    let keys = visitor.may_manage().then(|| engine.access.list_keys());
    let mut gauges = gauges(&site).await;
    gauges
        .insert(1, gauge("Turns, last 24 h", count(turns.unsigned_abs()), "of this tenant", true));
    Ok(html(&System {
        gauges,
        throughput: volume_of(buckets, 1, window),
        letters: letters
            .into_iter()
            .map(|one| Letter { id: one.id, at: Moment::minute(one.at), reason: one.reason })
            .collect(),
        keys: keys.map(|keys| {
            let own = keys.iter().filter(|key| key.tenant == *visitor.tenant());
            let seen = own.filter(|key| visitor.project_is_own(key.project.as_ref()));
            seen.map(|key| row(key)).collect()
        }),
        version: env!("CARGO_PKG_VERSION"),
        tenant: visitor.tenant().to_string(),
        shell: visitor.shell(&site, Some(View::System)),
    }))
}

fn gauge(name: &'static str, value: String, about: &str, fine: bool) -> Gauge {
    Gauge { name, value, about: about.to_owned(), class: if fine { "none" } else { "bad" } }
}

async fn gauges(site: &Site) -> Vec<Gauge> {
    let engine = &site.engine;
    let (stats, history) = (engine.stats(), engine.turns.history_health());
    let ready = engine.is_ready().await;
    let commits = &stats.commit_seconds;
    let mean = if commits.count > 0 { commits.sum / commits.count as f64 } else { 0.0 };
    let together = &stats.commit_writes;
    let each = if together.count > 0 { together.sum / together.count as f64 } else { 0.0 };
    let about = format!("{} commits of {each:.1} writes", count(commits.count));
    let state = if ready { "ready" } else { "not ready" };
    let mut gauges = vec![
        gauge("Store", state.to_owned(), "whether something could be stored now", ready),
        gauge("Events", count(engine.head().0), "in the whole log, since the start", true),
        gauge("Commit", seconds(mean), &about, true),
        gauge(
            "Waiting writes",
            count(stats.queued_writes),
            "for the disk",
            stats.queued_writes < 1000,
        ),
        gauge(
            "Failed commits",
            count(stats.failed_commits),
            "since the start",
            stats.failed_commits == 0,
        ),
        gauge(
            "History of questions",
            if history.away { "away" } else { "there" }.to_owned(),
            "by which repeats are seen",
            !history.away,
        ),
        gauge(
            "Clock skew",
            count(engine.turns.skewed_clocks()),
            "answers that ended before they began",
            true,
        ),
    ];
    if let Some(lag) = engine.cluster.publish_lag() {
        let about = format!("{} behind", seconds(lag.seconds));
        gauges.push(gauge("Kafka lag", count(lag.events), &about, lag.seconds < 60.0));
    }
    gauges
}

fn row(key: &StoredKey) -> KeyRow {
    KeyRow {
        id: key.id.clone(),
        role: key.role.as_word(),
        project: key.project.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string),
        rate: key.rate.map_or_else(|| "–".to_owned(), |rate| format!("{rate}/s")),
        created: Moment::minute(key.created_at),
        revoked: key.revoked_at.map(Moment::minute),
    }
}
