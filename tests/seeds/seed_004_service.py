"""The feedback and RLHF service: events, decisions, learning and quality figures."""

import uuid
from datetime import datetime, timezone

from client import Section, at_least, expect

SECTION = Section("004", "feedback and RLHF service", "acme")

RATING = {"type": "explicit", "source": "user_rating", "category": "accuracy", "data": {
    "rating": "positive", "message_id": "msg-123", "query": "Show total sales", "response": "SELECT SUM(amount)..."}}
COMMENT = {"type": "explicit", "source": "user_comment", "category": "quality", "data": {
    "comment": "The chart should show percentages, not raw numbers", "message_id": "msg-123"}}
ORIGINAL = "SELECT SUM(amount) FROM orders"
CORRECTED = "SELECT SUM(amount) FROM orders WHERE status = 'completed'"
CORRECTION = {"type": "explicit", "source": "user_correction", "category": "accuracy", "data": {
    "original_sql": ORIGINAL, "corrected_sql": CORRECTED, "explanation": "Should only count completed orders"}}
PERFORMANCE = {"type": "performance", "source": "system_metric", "category": "latency", "data": {
    "endpoint": "/api/v1/text-to-sql", "latency_ms": 1250, "tokens_used": 3400, "llm_provider": "openai",
    "model": "gpt-4"}}
TYPES = ["log", "metric", "query", "error", "performance", "quality", "user_explicit", "explicit", "implicit"]
SOURCES = ["application_log", "system_metric", "trace", "query_result", "pipeline_output", "api_response",
           "database_query", "external_service"]
CATEGORIES = ["accuracy", "latency", "cost", "error", "user_satisfaction", "quality", "security", "compliance"]


def submit(api, event, **more):
    """Posts the event with all fields of the document's FeedbackEvent, and its naive time."""
    now = datetime.now(timezone.utc).replace(tzinfo=None)  # datetime.utcnow()
    defaults = {"id": str(uuid.uuid4()), "severity": "info", "tenant_id": api.tenant, "user_id": None,
                "session_id": None, "message_id": None, "timestamp": now.isoformat(), "data": {}, "tags": []}
    return api.post("/api/v1/feedback", defaults | event | more)


def send(api, event, **more):
    """Submits the event and returns it as stored."""
    return api.get(f"/api/v1/feedback/{submit(api, event, **more)['id']}")


def metric(api, name, tenant=None):
    return api.get(f"/api/v1/feedback/quality/{tenant or SECTION.tenant}?period_days=30")["metrics"][name]


@SECTION.step("the thumbs-up of the document is stored as sent")
def rating(api):
    stored = send(api, RATING, user_id="user_1", session_id="sess-1")
    expect(stored, {"type": "explicit", "source": "user_rating", "severity": "info", "category": "accuracy",
                    "tenant_id": "acme", "user_id": "user_1", "session_id": "sess-1", "message_id": "msg-123",
                    "data": RATING["data"], "tags": []})


@SECTION.step("comment, SQL correction and performance event are stored as sent")
def others(api):
    for event in [COMMENT, CORRECTION, PERFORMANCE]:
        expect(send(api, event), {"source": event["source"], "data": event["data"]})


@SECTION.step("every type, source and category of the document is accepted",
              differs="behavioural signals have the source user_interaction, which the document leaves out")
def words(api):
    for kind in TYPES:
        for source in SOURCES:
            send(api, {"type": kind, "source": source, "category": "quality", "data": {}})
    for category in CATEGORIES:
        send(api, {"type": "log", "source": "trace", "category": category, "data": {}})
    for kind in ["result_interaction", "dwell_time", "export", "dashboard_add", "follow_up"]:
        send(api, {"type": "interaction", "source": "user_interaction", "category": "quality", "data": {"kind": kind}})


@SECTION.step("a repeated event id is stored once, with another body it is refused")
def repeated(api):
    event = RATING | {"id": "6f1a2b3c-0000-4000-8000-000000000001"}
    expect(api.post("/api/v1/feedback", event)["replayed"], False)
    expect(api.post("/api/v1/feedback", event)["replayed"], True)
    changed = event | {"data": RATING["data"] | {"rating": "negative"}}
    expect(api.send("POST", "/api/v1/feedback", changed)[0], 409)


@SECTION.step("record_decision is an event of the document's shape, with calibration by session")
def decisions(api):
    for decision_type, outcome, confidence in [("routing", "success", 0.9), ("sql_generation", "failure", 0.6),
                                               ("visualization", "correction", 0.7)]:
        send(api, {"type": "query", "source": "model_response", "category": "accuracy",
                   "session_id": "sess-d", "data": {"decision_type": decision_type, "decision_data": {"choice": 1},
                                                    "outcome": outcome, "confidence": confidence}})
    # The arguments of `record_decision` as a request.
    api.post("/api/v1/decisions", {"session_id": "sess-d2", "tenant_id": "acme", "decision_type": "sql_generation",
                                   "decision_data": {"choice": 1}, "outcome": "success", "confidence": 0.8})
    expect(api.get("/api/v1/feedback/decisions/sess-d2")["decisions"], [{"outcome": "success", "confidence": 0.8}])
    found = api.get("/api/v1/feedback/decisions/sess-d")
    expect([(one["decision_type"], one["outcome"], one["confidence"]) for one in found["decisions"]],
           [("routing", "success", 0.9), ("sql_generation", "failure", 0.6),
            ("visualization", "correction", 0.7)])
    expect(sum(one["n"] for one in found["calibration"]), 3)


@SECTION.step("the four topics hold events, ratings, corrections and metrics")
def topics(api):
    for topic in ["feedback-events", "feedback-ratings", "feedback-corrections", "feedback-metrics"]:
        expect(len(api.get(f"/api/v1/topics/{topic}")["items"]), at_least(1), topic)
    corrections = api.get("/api/v1/topics/feedback-corrections")["items"]
    expect(all(one["source"] == "user_correction" for one in corrections), True)


@SECTION.step("a correction is the few-shot example of the next similar question",
              differs="POST /api/v1/examples/select instead of FewShotSelector.select_examples")
def examples(api):
    api.turn(session_id="sess-x", message_id="msg-x", user_id="user_2", query="Show total sales", response=ORIGINAL)
    api.post("/api/v1/feedback/correction", {"message_id": "msg-x", "data": CORRECTION["data"]})
    found = api.post("/api/v1/examples/select", {"query": "Show the total sales", "tenant_id": "acme",
                                                 "k": 3})["examples"]
    expect(found[0], {"input_text": "Show total sales", "output_text": CORRECTED,
                      "explanation": "Should only count completed orders", "source": "correction"})


@SECTION.step("corrections are preference pairs: chosen corrected, rejected original",
              differs="GET /api/v1/preferences/export in the column shapes of TRL")
def preferences(api):
    rows = api.get("/api/v1/preferences/export?format=dpo")
    rows = rows if isinstance(rows, list) else [rows]
    pair = next(row for row in rows if row["source"] == "correction")
    expect((pair["chosen"][0]["content"], pair["rejected"][0]["content"]), (CORRECTED, ORIGINAL))


@SECTION.step("quality report: the five fields, with the ratings as satisfaction",
              differs="every rate has numerator, denominator and interval, and is null without data instead of 0")
def quality_report(api):
    found = api.get("/api/v1/feedback/insights/acme?period_days=30")
    for name in ["overall_satisfaction", "accuracy_rate", "top_failure_patterns", "improvement_trend",
                 "most_corrected_queries"]:
        expect(name in found, True, name)
    expect(found["most_corrected_queries"][0], {"query": "Show total sales", "corrections": at_least(1)})


@SECTION.step("the five metrics of the dashboard have the document's targets")
def targets(api):
    metrics = api.get("/api/v1/feedback/quality/acme")["metrics"]
    expect(metrics["satisfaction"]["target"], {"min": 0.85})
    expect(metrics["sql_accuracy"]["target"], {"min": 0.9})
    expect(metrics["correction_rate"]["target"], {"max": 0.1})
    expect(metrics["refinement_rate"]["target"], {"max": 0.2})
    expect(metrics["abandonment_rate"]["target"], {"max": 0.15})


@SECTION.step("satisfaction = positive ratings / total ratings; correction and refinement rate by turns")
def figures(api):
    team = type(api)(api.url, "acme-rates")
    for number in range(20):
        intent = "REFINE" if number < 3 else None
        fields = {"intent": intent} if intent else {}
        team.turn(session_id=f"s{number}", message_id=f"m{number}", user_id=f"u{number}",
                  query=f"Show the sales of shop {number}", response="SELECT 1", **fields)
        thumb = "positive" if number < 17 else "negative"
        submit(team, {"type": "explicit", "source": "user_rating", "category": "accuracy",
                      "data": {"rating": thumb, "message_id": f"m{number}"}})
    team.post("/api/v1/feedback/correction", {"message_id": "m0", "data": CORRECTION["data"]})
    expect(metric(team, "satisfaction", "acme-rates"), {"value": 0.85, "numerator": 17.0, "denominator": 20})
    expect(metric(team, "correction_rate", "acme-rates"), {"value": 0.05, "numerator": 1.0, "denominator": 20})
    expect(metric(team, "refinement_rate", "acme-rates"), {"value": 0.15, "numerator": 3.0, "denominator": 20})


@SECTION.step("analyze_and_tune suggests an instruction from the corrections of the last 7 days",
              differs="POST /api/v1/prompts/suggestions; without a configured LLM the text comes from templates")
def suggestions(api):
    team = type(api)(api.url, "acme-tune")
    questions = ["Show total sales", "Show total sales of May", "Show total sales by region", "Show total sales today",
                 "Show total sales per shop", "Show total sales this year"]
    for number, question in enumerate(questions):
        team.turn(session_id=f"s{number}", message_id=f"m{number}", user_id=f"u{number}", query=question,
                  response=ORIGINAL)
        team.post("/api/v1/feedback/correction", {"message_id": f"m{number}", "user_id": f"u{number}",
                                                  "data": CORRECTION["data"]})
    found = team.post("/api/v1/prompts/suggestions", {"tenant_id": "acme-tune", "window_days": 7})["suggestions"]
    expect(any("completed" in one["instruction"] for one in found), True)


@SECTION.step("timestamp of datetime.utcnow().isoformat() has no zone and is taken as UTC")
def naive_time(api):
    stored = send(api, RATING, timestamp="2025-11-16T10:00:00.123456")
    expect(stored["timestamp"], "2025-11-16T10:00:00.123456Z")


@SECTION.step("a rating with query and response counts although its turn was never posted")
def events_only(api):
    team = type(api)(api.url, "acme-events")
    for number in range(10):
        data = RATING["data"] | {"message_id": f"msg-{number}", "rating": "positive" if number < 9 else "negative"}
        submit(team, RATING, data=data, user_id=f"u{number}")
    expect(metric(team, "satisfaction", "acme-events"), {"value": 0.9, "numerator": 9.0, "denominator": 10})
    found = team.post("/api/v1/examples/select", {"query": "Show total sales", "tenant_id": "acme-events",
                                                  "k": 3})["examples"]
    expect(found[0], {"input_text": "Show total sales", "output_text": "SELECT SUM(amount)..."})
    for _ in range(3):
        team.post("/api/v1/feedback/correction", {"data": CORRECTION["data"] | {"query": "Show total sales"}})
    report = team.get("/api/v1/feedback/insights/acme-events?period_days=30")
    expect(report["most_corrected_queries"][0], {"query": "Show total sales", "corrections": 3})


@SECTION.step("performance events feed the latency figures")
def performance(api):
    team = type(api)(api.url, "acme-latency")
    for _ in range(5):
        submit(team, PERFORMANCE)
    expect(metric(team, "latency_p50", "acme-latency")["value"], lambda value: 1.1 < value < 1.4)


@SECTION.step("a comment of twelve users is a suggestion")
def comments(api):
    team = type(api)(api.url, "acme-comments")
    for number in range(12):
        team.turn(session_id=f"s{number}", message_id=f"msg-{number}", user_id=f"u{number}",
                  query="Show the sales by region as a chart", response="Here is the chart.")
        data = COMMENT["data"] | {"message_id": f"msg-{number}"}
        submit(team, COMMENT, data=data, user_id=f"u{number}")
    found = team.post("/api/v1/prompts/suggestions", {"tenant_id": "acme-comments", "window_days": 7})["suggestions"]
    expect(any("percentages" in one["instruction"] for one in found), True)


@SECTION.step("an event that names only message_id is stored with the conversation, user and model of its turn")
def enriched(api):
    api.turn(session_id="sess-e", message_id="msg-e", user_id="user_e", query="Show total sales", response=ORIGINAL,
             model="gpt-4")
    data = RATING["data"] | {"message_id": "msg-e"}
    expect(send(api, RATING, data=data), {"session_id": "sess-e", "user_id": "user_e", "message_id": "msg-e"})


@SECTION.step("the outcome of a decision may come before the decision")
def early_outcome(api):
    early = api.call("PATCH", "/api/v1/decisions/dec-early", {"outcome": "success"})
    expect(early["pending"], True)
    api.post("/api/v1/decisions", {"decision_id": "dec-early", "session_id": "sess-early", "tenant_id": "acme",
                                   "decision_type": "sql_generation", "decision_data": {}, "confidence": 0.8})
    expect(api.get("/api/v1/decisions/dec-early")["outcome"], "success")


@SECTION.step("sql_accuracy counts settled decisions only",
              differs="the document divides by all generated queries, also those without an outcome")
def settled(api):
    team = type(api)(api.url, "acme-sql")
    for number in range(10):
        body = {"decision_id": f"d{number}", "session_id": "s", "decision_type": "sql_generation", "confidence": 0.8,
                "decision_data": {}}
        outcome = "success" if number < 6 else "failure" if number < 8 else None
        team.post("/api/v1/decisions", body | ({"outcome": outcome} if outcome else {}))
    expect(metric(team, "sql_accuracy", "acme-sql"), {"value": 0.75, "numerator": 6.0, "denominator": 8})
