//! Counts and durations of requests, and how they are written for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use engine::{Engine, Histogram, SECONDS, Snapshot, Stopwatch};
use model::Scope;

/// What a request is counted under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Label {
    method: &'static str,
    // The route, never the address: ids are not labels.
    route: String,
    status: u16,
}

/// Requests of one server, by route.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(Arc<RwLock<BTreeMap<Label, Arc<Histogram>>>>);

impl Requests {
    fn record(&self, label: &Label, seconds: f64) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(label).cloned();
        let histogram = known.unwrap_or_else(|| {
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(
                all.entry(label.clone()).or_insert_with(|| Arc::new(Histogram::new(SECONDS))),
            )
        });
        histogram.record(seconds);
    }
}

/// Measures every request.
pub(crate) async fn measure(
    State(requests): State<Requests>,
    request: Request,
    next: Next,
) -> Response {
    let watch = Stopwatch::start();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let method = known_method(request.method());
    let response = next.run(request).await;
    let label = Label {
        method,
        route: route.unwrap_or_else(|| "unknown".to_owned()),
        status: response.status().as_u16(),
    };
    requests.record(&label, watch.elapsed().as_secs_f64());
    response
}

/// Clients can invent methods; labels must not grow with them.
fn known_method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// Everything, in Prometheus' text format.
pub(crate) fn render(requests: &Requests, engine: &Engine, alerts: &[(Scope, String)]) -> String {
    let mut page = String::new();
    let stats = engine.stats();
    gauge(&mut page, "uptake_log_position", "Position of the newest event", engine.head().0);
    let help = "Bytes of writes that wait for the disk";
    gauge(&mut page, "uptake_commit_queue_bytes", help, stats.queued_bytes);
    let help = "Writes that wait for the disk";
    gauge(&mut page, "uptake_commit_queue_writes", help, stats.queued_writes);
    let history = engine.turns.history_health();
    let help = "1 while the history of questions cannot be reached: retries are not seen";
    gauge(&mut page, "uptake_history_unavailable", help, u64::from(history.away));
    let name = "uptake_commit_failures_total";
    header(&mut page, name, "Groups that could not be committed", "counter");
    line(&mut page, format_args!("{name} {}", stats.failed_commits));
    let name = "uptake_clock_skew_total";
    header(&mut page, name, "Answers that seemed to end before they began", "counter");
    line(&mut page, format_args!("{name} {}", engine.turns.skewed_clocks()));
    let name = "uptake_turn_log_copy_failures_total";
    header(&mut page, name, "Times that copies of turn logs could not be made", "counter");
    line(&mut page, format_args!("{name} {}", engine.turns.failed_copies()));
    let (faults, relaxed) = engine.routing.route_fault_counts();
    let counters = [
        ("uptake_route_faults_total", "Numbers of routers that went wrong", faults),
        ("uptake_route_relaxed_total", "Choices for which a wish had to be given up", relaxed),
        (
            "uptake_choices_dropped_total",
            "Choices of routers that are not in the log",
            engine.routing.dropped_choices(),
        ),
        (
            "uptake_history_missed_total",
            "What the history of questions was asked for and could not do",
            history.missed,
        ),
    ];
    for (name, help, value) in counters {
        header(&mut page, name, help, "counter");
        line(&mut page, format_args!("{name} {value}"));
    }
    publishing(&mut page, engine);
    let name = "uptake_alert";
    header(&mut page, name, "1 for a figure that is on the wrong side of its target", "gauge");
    for (scope, metric) in alerts {
        let Scope { tenant, project } = scope;
        let labels = format!("tenant=\"{tenant}\",project=\"{project}\",metric=\"{metric}\"");
        line(&mut page, format_args!("{name}{{{labels}}} 1"));
    }
    let name = "uptake_commit_seconds";
    header(&mut page, name, "Time per group commit", "histogram");
    histogram(&mut page, name, "", &stats.commit_seconds);
    let name = "uptake_commit_writes";
    header(&mut page, name, "Writes per group commit", "histogram");
    histogram(&mut page, name, "", &stats.commit_writes);
    let name = "uptake_request_seconds";
    header(&mut page, name, "Time per request", "histogram");
    let all = requests.0.read().unwrap_or_else(PoisonError::into_inner);
    for (Label { method, route, status }, one) in all.iter() {
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\",");
        histogram(&mut page, name, &labels, &one.snapshot());
    }
    page
}

/// How far Kafka is behind, where there is one.
fn publishing(page: &mut String, engine: &Engine) {
    let Some(lag) = engine.cluster.publish_lag() else { return };
    let help = "Events in the log that Kafka has not confirmed";
    gauge(page, "uptake_kafka_lag_events", help, lag.events);
    let name = "uptake_kafka_lag_seconds";
    header(page, name, "How long the oldest of them has waited", "gauge");
    line(page, format_args!("{name} {}", lag.seconds));
    let help = "1 on the node that publishes to Kafka";
    gauge(page, "uptake_kafka_publisher", help, u64::from(lag.is_holder));
    let name = "uptake_kafka_refused_total";
    header(page, name, "Messages that Kafka will not take, whenever they are sent", "counter");
    line(page, format_args!("{name} {}", lag.refused));
}

fn gauge(page: &mut String, name: &str, help: &str, value: u64) {
    header(page, name, help, "gauge");
    line(page, format_args!("{name} {value}"));
}

fn header(page: &mut String, name: &str, help: &str, kind: &str) {
    line(page, format_args!("# HELP {name} {help}."));
    line(page, format_args!("# TYPE {name} {kind}"));
}

fn histogram(page: &mut String, name: &str, labels: &str, snapshot: &Snapshot) {
    for (bound, count) in &snapshot.cumulative {
        let bound = if bound.is_finite() { bound.to_string() } else { "+Inf".to_owned() };
        line(page, format_args!("{name}_bucket{{{labels}le=\"{bound}\"}} {count}"));
    }
    let labels = match labels.trim_end_matches(',') {
        "" => String::new(),
        some => format!("{{{some}}}"),
    };
    line(page, format_args!("{name}_sum{labels} {}", snapshot.sum));
    line(page, format_args!("{name}_count{labels} {}", snapshot.count));
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{text}");
}
