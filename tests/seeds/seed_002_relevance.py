"""Relevance feedback: which retrieved entities were used, and how that changes the next ranking."""

from client import Section, expect

SECTION = Section("002", "relevance feedback", "retrieval", "docs")


def record_batch(api, query, signals):
    """The document's `recordBatch(queryId, signals)`."""
    api.post("/api/v1/retrieval/signals", {
        "queryId": query, "signals": [{"entityId": entity, "signal": signal} for entity, signal in signals]})


def record(api, entity, signals):
    """The document's `record(signal)` for each signal, from a query of its own: a batch of one."""
    for number, signal in enumerate(signals):
        record_batch(api, f"q-{entity}-{number}", [(entity, signal)])


def multiplier(api, entity, estimator=None):
    body = {"results": [{"entityId": entity, "score": 1.0}]}
    if estimator:
        body["estimator"] = estimator
    return api.post("/api/v1/retrieval/rerank", body)["results"][0]["multiplier"]


@SECTION.step("an entity without feedback has useRate 0.5 and is not adjusted")
def unknown(api):
    expect(api.get("/api/v1/retrieval/entities/nothing/stats"), {
        "entityId": "nothing", "totalReturns": 0, "usedCount": 0, "ignoredCount": 0, "positiveCount": 0,
        "negativeCount": 0, "useRate": 0.5})
    expect(multiplier(api, "nothing"), 1.0)


@SECTION.step("the four signals are counted, and useRate = usedCount / totalReturns",
              differs="an opinion is not a return: totalReturns counts queries with used or ignored")
def stats(api):
    record(api, "AuthService", ["used", "used", "used", "ignored"])
    record_batch(api, "q-AuthService-0", [("AuthService", "explicit_positive")])
    record_batch(api, "q-AuthService-3", [("AuthService", "explicit_negative")])
    expect(api.get("/api/v1/retrieval/entities/AuthService/stats"), {
        "entityId": "AuthService", "totalReturns": 4, "usedCount": 3, "ignoredCount": 1, "positiveCount": 1,
        "negativeCount": 1, "useRate": 0.75})


@SECTION.step("a signal sent again counts once", differs="the document's table counts a repeated row twice")
def repeated(api):
    for _ in range(2):
        record_batch(api, "q-once", [("Once", "used")])
    expect(api.get("/api/v1/retrieval/entities/Once/stats"), {"totalReturns": 1, "usedCount": 1})


@SECTION.step("recordBatch stores all signals or none")
def transaction(api):
    status, _ = api.send("POST", "/api/v1/retrieval/signals", {"queryId": "q-half", "signals": [
        {"entityId": "Half", "signal": "used"}, {"entityId": "Half", "signal": "liked"}]})
    expect(status, 422)
    expect(api.get("/api/v1/retrieval/entities/Half/stats"), {"totalReturns": 0})


@SECTION.step("adjustScores: 1.0 below five signals, then 0.5 + useRate, opinions, clamped to 0.3 and 1.7")
def adjust(api):
    rows = [
        ("four", ["used"] * 4, [], 1.0),
        ("all-used", ["used"] * 5, [], 1.5),
        ("none-used", ["ignored"] * 5, [], 0.5),
        ("two-of-five", ["used"] * 2 + ["ignored"] * 3, [], 0.9),
        ("praised", ["used"] * 5, ["explicit_positive"], 1.6),
        ("praised-often", ["used"] * 5, ["explicit_positive"] * 5, 1.7),
        ("criticised", ["used"] * 5, ["explicit_negative"], 1.35),
        ("criticised-often", ["ignored"] * 5, ["explicit_negative"] * 4, 0.3),
    ]
    for entity, used, opinions, expected in rows:
        record(api, entity, used)
        for number, opinion in enumerate(opinions):
            record_batch(api, f"q-{entity}-{number}", [(entity, opinion)])
        expect(multiplier(api, entity), expected, entity)


@SECTION.step("estimator legacy computes the document's own figures, where praise counts as a return")
def legacy(api):
    expect(multiplier(api, "all-used", "legacy"), 1.5)
    # 5 used and 1 positive: 0.5 + 5/6 + 0.1.
    expect(multiplier(api, "praised", "legacy"), 0.5 + 5 / 6 + 0.1)


@SECTION.step("results are sorted by the adjusted score",
              differs="the answer has entity_id, and original_score and multiplier beside the score")
def order(api):
    found = api.post("/api/v1/retrieval/rerank", {"results": [
        {"entityId": "none-used", "score": 0.9}, {"entityId": "all-used", "score": 0.8},
        {"entityId": "new", "score": 0.7}]})["results"]
    expect(found, [{"entity_id": "all-used", "score": 1.2}, {"entity_id": "new", "score": 0.7},
                   {"entity_id": "none-used", "score": 0.45}])


@SECTION.step("detectUsage marks what appears in the response as used, the rest as ignored",
              differs="two calls (returned, usage) instead of returnedEntityIds, because names and contents are sent "
              "once; use is really detected")
def usage(api):
    api.post("/api/v1/retrieval/returned", {"queryId": "q-use", "query": "How do users log in?", "entities": [
        {"entityId": "LoginService", "name": "LoginService"},
        {"entityId": "PaymentGateway", "name": "PaymentGateway"}]})
    api.post("/api/v1/retrieval/usage", {"queryId": "q-use",
                                         "responseContent": "Call LoginService.login with the password."})
    expect(api.get("/api/v1/retrieval/entities/LoginService/stats"), {"usedCount": 1, "useRate": 1.0})
    expect(api.get("/api/v1/retrieval/entities/PaymentGateway/stats"), {"ignoredCount": 1, "useRate": 0.0})


@SECTION.step("a user marks an entity as helpful or not helpful; the last opinion stands")
def opinions(api):
    for helpful in [True, False]:
        api.post("/api/v1/retrieval/feedback", {"queryId": "q-use", "entityId": "LoginService", "helpful": helpful})
    expect(api.get("/api/v1/retrieval/entities/LoginService/stats"), {"positiveCount": 0, "negativeCount": 1})


@SECTION.step("usage may come before the items were returned, and is detected when they come")
def early_usage(api):
    early = api.post("/api/v1/retrieval/usage", {"queryId": "q-early",
                                                 "responseContent": "ReportBuilder makes the report."})
    expect(early["pending"], True)
    api.post("/api/v1/retrieval/returned", {"queryId": "q-early", "entities": [
        {"entityId": "ReportBuilder", "name": "ReportBuilder"}, {"entityId": "MailQueue", "name": "MailQueue"}]})
    expect(api.get("/api/v1/retrieval/entities/ReportBuilder/stats"), {"usedCount": 1})
    expect(api.get("/api/v1/retrieval/entities/MailQueue/stats"), {"ignoredCount": 1})
