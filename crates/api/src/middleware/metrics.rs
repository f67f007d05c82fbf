//! Request metrics, and the Prometheus text format.
//!
//! Most values already exist as counters of the store and the services, so a recorder such as the
//! crate `metrics` would only copy them.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use engine::{Engine, Histogram, SECONDS, Snapshot, Stopwatch};
use model::Scope;
use parking_lot::RwLock;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RequestLabel {
    method: &'static str,
    // The route template, never the path: ids would create unbounded labels.
    route: String,
    status: u16,
}

/// Durations by method, route and status.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestMetrics(Arc<RwLock<BTreeMap<RequestLabel, Arc<Histogram>>>>);

impl RequestMetrics {
    fn record_duration(&self, label: &RequestLabel, seconds: f64) {
        let known = self.0.read().get(label).cloned();
        let histogram = known.unwrap_or_else(|| {
            let mut all = self.0.write();
            Arc::clone(
                all.entry(label.clone()).or_insert_with(|| Arc::new(Histogram::new(SECONDS))),
            )
        });
        histogram.record(seconds);
    }
}

pub(crate) async fn measure_requests(
    State(requests): State<RequestMetrics>,
    request: Request,
    next: Next,
) -> Response {
    let watch = Stopwatch::start();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let method = method_label(request.method());
    let response = next.run(request).await;
    let label = RequestLabel {
        method,
        route: route.unwrap_or_else(|| "unknown".to_owned()),
        status: response.status().as_u16(),
    };
    requests.record_duration(&label, watch.elapsed().as_secs_f64());
    response
}

/// Clients can invent methods, and labels must stay bounded.
fn method_label(method: &Method) -> &'static str {
    let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    known.into_iter().find(|one| *one == method.as_str()).unwrap_or("other")
}

/// Renders all metrics in the Prometheus text format.
pub(crate) fn render_metrics(
    requests: &RequestMetrics,
    engine: &Engine,
    alerts: &[(Scope, String)],
) -> String {
    let mut page = String::new();
    push_values(&mut page, engine);
    push_reader_values(&mut page, engine);
    push_kafka_lag(&mut page, engine);
    let name = "uptake_warnings_total";
    push_header(&mut page, name, "Warnings in responses", "counter");
    for (code, count) in engine.warning_counts() {
        push_line(&mut page, format_args!("{name}{{code=\"{}\"}} {count}", code.as_word()));
    }
    let name = "uptake_alert";
    push_header(&mut page, name, "1 for each metric that misses its target", "gauge");
    for (scope, metric) in alerts {
        let Scope { tenant, project } = scope;
        let labels = format!("tenant=\"{tenant}\",project=\"{project}\",metric=\"{metric}\"");
        push_line(&mut page, format_args!("{name}{{{labels}}} 1"));
    }
    let stats = engine.stats();
    let name = "uptake_commit_seconds";
    push_header(&mut page, name, "Duration of group commits", "histogram");
    push_histogram(&mut page, name, "", &stats.commit_seconds);
    let name = "uptake_commit_writes";
    push_header(&mut page, name, "Writes per group commit", "histogram");
    push_histogram(&mut page, name, "", &stats.commit_writes);
    let name = "uptake_commit_bytes";
    push_header(&mut page, name, "Bytes of events per group commit", "histogram");
    push_histogram(&mut page, name, "", &stats.commit_bytes);
    let name = "uptake_commit_statements";
    push_header(&mut page, name, "Statements per group commit", "histogram");
    push_histogram(&mut page, name, "", &stats.commit_statements);
    let name = "uptake_commit_wait_seconds";
    push_header(
        &mut page,
        name,
        "Time from a request's write to the start of its commit",
        "histogram",
    );
    push_histogram(&mut page, name, "", &stats.wait_seconds);
    let name = "uptake_request_seconds";
    push_header(&mut page, name, "Duration of requests", "histogram");
    let all = requests.0.read();
    for (RequestLabel { method, route, status }, one) in all.iter() {
        let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\",");
        push_histogram(&mut page, name, &labels, &one.snapshot());
    }
    page
}

fn push_reader_values(page: &mut String, engine: &Engine) {
    let counts = engine.turns.reader_counts();
    let mut push = |name, help, value| push_value(page, name, help, value);
    push("uptake_reader_messages_total", "Messages that the reader judged", counts.read);
    let help = "Messages whose request did not wait for the reader to the end";
    push("uptake_reader_late_total", help, counts.late);
    let help = "Messages that were dropped from the full queue of the reader";
    push("uptake_reader_dropped_total", help, counts.dropped);
    push("uptake_reader_queue_messages", "Messages waiting for the reader", counts.queued);
    let help = "Milliseconds that the reader has worked";
    push("uptake_reader_milliseconds_total", help, counts.busy.as_millis() as u64);
    let Some(counts) = engine.turns.llm_reader_counts() else { return };
    let help = "Messages that the chat model judged";
    push("uptake_llm_reader_messages_total", help, counts.answered);
    let help = "Calls of the chat model that failed or gave no valid judgement";
    push("uptake_llm_reader_failures_total", help, counts.failed);
    let help = "Messages whose request did not wait for the chat model to the end";
    push("uptake_llm_reader_late_total", help, counts.late);
    let help = "Messages that the chat model never judged";
    push("uptake_llm_reader_dropped_total", help, counts.dropped);
    push("uptake_llm_reader_queue_messages", "Messages waiting for the chat model", counts.queued);
    let help = "1 while calls of the chat model are paused after failures";
    push("uptake_llm_reader_paused", help, u64::from(counts.is_paused));
}

fn push_values(page: &mut String, engine: &Engine) {
    let (stats, history) = (engine.stats(), engine.turns.history_health());
    let (faults, relaxed) = engine.routing.route_fault_counts();
    let mut push = |name, help, value| push_value(page, name, help, value);
    push("uptake_log_position", "Position of the newest event", engine.head().0);
    let help = "Bytes of writes waiting for a commit";
    push("uptake_commit_queue_bytes", help, stats.queued_bytes);
    push("uptake_commit_queue_writes", "Writes waiting for a commit", stats.queued_writes);
    let similar = engine.similarity_stats();
    push("uptake_similar_turns", "Turns in the similarity index", similar.turns);
    push("uptake_similarity_index_bytes", "Memory of the similarity index", similar.bytes);
    let help = "1 while the question history is unreachable and retry detection is off";
    push("uptake_history_unavailable", help, u64::from(history.away));
    push("uptake_commit_failures_total", "Failed group commits", stats.failed_commits);
    let help = "Turns whose completion time is before their start time";
    push("uptake_clock_skew_total", help, engine.turns.skewed_clocks());
    let spans = engine.traces.span_counts();
    push("uptake_spans_total", "Spans that were stored", spans.stored);
    let help = "Spans that are not about generative AI, which are not stored";
    push("uptake_spans_dropped_total", help, spans.dropped);
    push("uptake_spans_rejected_total", "Invalid spans", spans.rejected);
    push("uptake_traces_assembled_total", "Traces that became turns", spans.assembled);
    let help = "Failed attempts to copy turn logs";
    push("uptake_turn_log_copy_failures_total", help, engine.turns.failed_copies());
    let help = "Router computations that returned an invalid number";
    push("uptake_route_faults_total", help, faults);
    let help = "Routing choices that ignored exclude, max_cost or the budget";
    push("uptake_route_relaxed_total", help, relaxed);
    let help = "Routing choices that were not written to the log";
    push("uptake_choices_dropped_total", help, engine.routing.dropped_choices());
    let help = "Failed operations of the question history";
    push("uptake_history_missed_total", help, history.missed);
}

fn push_kafka_lag(page: &mut String, engine: &Engine) {
    let Some(lag) = engine.cluster.publish_lag() else { return };
    let help = "Events in the log that Kafka has not confirmed";
    push_value(page, "uptake_kafka_lag_events", help, lag.events);
    let help = "Age of the oldest event that Kafka has not confirmed";
    push_value(page, "uptake_kafka_lag_seconds", help, lag.seconds);
    let help = "1 on the node that publishes to Kafka";
    push_value(page, "uptake_kafka_publisher", help, u64::from(lag.is_holder));
    let help = "Messages that Kafka rejected permanently";
    push_value(page, "uptake_kafka_refused_total", help, lag.refused);
}

/// Names that end with `_total` are counters, all others gauges.
fn push_value(page: &mut String, name: &str, help: &str, value: impl Display) {
    let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
    push_header(page, name, help, kind);
    push_line(page, format_args!("{name} {value}"));
}

fn push_header(page: &mut String, name: &str, help: &str, kind: &str) {
    push_line(page, format_args!("# HELP {name} {help}."));
    push_line(page, format_args!("# TYPE {name} {kind}"));
}

fn push_histogram(page: &mut String, name: &str, labels: &str, snapshot: &Snapshot) {
    for (bound, count) in &snapshot.cumulative {
        let bound = if bound.is_finite() { bound.to_string() } else { "+Inf".to_owned() };
        push_line(page, format_args!("{name}_bucket{{{labels}le=\"{bound}\"}} {count}"));
    }
    let labels = match labels.trim_end_matches(',') {
        "" => String::new(),
        some => format!("{{{some}}}"),
    };
    push_line(page, format_args!("{name}_sum{labels} {}", snapshot.sum));
    push_line(page, format_args!("{name}_count{labels} {}", snapshot.count));
}

fn push_line(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{text}");
}
