"""Turn reactions: users and machines attach ok, not_ok or neutral to turns, and reports count them."""

from client import Section, at_least, expect, holds, quote

SECTION = Section("003", "turn reactions", "ACME", "Support")

BASE = "/conversations/ACME/Support"
CONVERSATION = "b2c2405c-0a94-4cce-bfdc-d811403256b3"
TURN = "turn_1762441078644_qp8d27"
TEXT = "Ah the previous diagram also worked fine. It was my issue."
AT = "2025-11-06T17:47:02.162904Z"
PERIOD = {"start": "2025-11-01T00:00:00Z", "end": "2025-11-06T23:59:59Z", "include_turns": True, "limit": 100,
          "cursor": None}


def feedback(conversation, turn):
    return f"{BASE}/{quote(conversation)}/turns/{quote(turn)}/feedback"


def turn(api, conversation, turn_id, **more):
    fields = {"text": "Draw the login sequence diagram", "response": "Here is the sequence diagram of the login.",
              "user_id": "user_123", "ts": "2025-11-06T17:40:00Z"}
    return api.turn(conversation_id=conversation, turn_id=turn_id, **(fields | more))


def period(api, **more):
    return api.post(f"{BASE}/feedback/conversations-in-period", PERIOD | more)


def counts(api, conversation):
    items = [item for item in period(api)["items"] if item["conversation_id"] == conversation]
    return items[0]["feedback_counts"] if items else None


@SECTION.step("the reaction artifact of the document, posted by the user",
              differs="the turn must exist (404 otherwise), so it is stored first")
def reaction(api):
    turn(api, CONVERSATION, TURN, track_id="A", user_type="privileged", bundle_id="with.codegen")
    given = api.post(feedback(CONVERSATION, TURN), {"reaction": "ok", "text": TEXT, "ts": AT})
    expect(given, {"success": True, "turn_id": TURN, "reaction": "ok", "cleared": False, "rn": holds(TURN, "artifact")})
    found = api.post("/api/v1/artifacts/search", {
        "kinds": ["artifact:turn.log.reaction"], "roles": ["artifact"], "scope": "conversation",
        "conversation_id": CONVERSATION, "all_tags": [f"turn:{TURN}"], "with_payload": True, "days": 3650})["items"]
    expect(found, [{
        "tags": ["artifact:turn.log.reaction", f"turn:{TURN}", "origin:user", "track:A"],
        "payload": {
            "reaction": {"turn_id": TURN, "text": TEXT, "confidence": 1.0, "ts": AT, "reaction": "ok", "origin": "user"},
            "meta": {"rn": given["rn"], "turn_id": TURN, "track_id": "A", "user_type": "privileged",
                     "kind": "turn.log.reaction"},
            "conversation_id": CONVERSATION, "bundle_id": "with.codegen"}}])


@SECTION.step("submit feedback: the request body of the document")
def submit(api):
    turn(api, "conv_456", "turn_1761153697221_4ek9ma")
    path = feedback("conv_456", "turn_1761153697221_4ek9ma")
    body = {"reaction": "ok", "text": "Great explanation!", "ts": "2025-11-06T15:30:00Z"}
    expect(api.post(path, body), {"success": True, "reaction": "ok"})


@SECTION.step("a user's new reaction replaces the old one, null clears it",
              differs="one active reaction per turn and user, not per turn: several users may react to one turn")
def replace(api):
    path = feedback("conv_456", "turn_1761153697221_4ek9ma")
    api.post(path, {"reaction": "not_ok", "ts": "2025-11-06T15:31:00Z"})
    expect(counts(api, "conv_456"), {"total": 1, "user": 1, "machine": 0, "ok": 0, "not_ok": 1, "neutral": 0})
    expect(api.post(path, {"reaction": None, "ts": "2025-11-06T15:32:00Z"}), {"cleared": True})
    expect(counts(api, "conv_456"), None)
    api.post(path, {"reaction": "neutral", "ts": "2025-11-06T15:33:00Z"})
    expect(counts(api, "conv_456"), {"total": 1, "neutral": 1})


@SECTION.step("machine reactions add up; below 0.70 they are skipped")
def machine(api):
    path = feedback("conv_456", "turn_1761153697221_4ek9ma")
    for confidence in [0.70, 0.95]:
        given = api.post(path, {"reaction": "ok", "origin": "machine", "confidence": confidence,
                                "ts": "2025-11-06T15:34:00Z"})
        expect(given["success"], True)
    weak = api.post(path, {"reaction": "not_ok", "origin": "machine", "confidence": 0.69, "ts": "2025-11-06T15:35:00Z"})
    expect(weak["skipped"], holds("0.70"))
    expect(counts(api, "conv_456"), {"total": 3, "user": 1, "machine": 2, "ok": 2, "not_ok": 0, "neutral": 1})


@SECTION.step("an invalid reaction is 400, an unknown turn 404, and nothing is written")
def refused(api):
    path = feedback("conv_456", "turn_1761153697221_4ek9ma")
    expect(api.send("POST", path, {"reaction": "great"})[0], 400)
    expect(api.send("POST", feedback("conv_456", "turn_0"), {"reaction": "ok"})[0], 404)
    expect(counts(api, "conv_456"), {"total": 3})


@SECTION.step("the gate reads the reaction from the user's message and finds its turn")
def gate(api):
    turn(api, "gate", "d1", ts="2025-11-06T17:00:00Z")
    turn(api, "gate", "d2", text="That diagram is wrong, it does not render", ts="2025-11-06T17:01:00Z",
         response="I have drawn the diagram again without the broken note.")
    expect(counts(api, "gate"), {"machine": 1, "not_ok": 1})
    found = turn(api, "gate", "d3", text=TEXT, ts="2025-11-06T17:02:00Z", response="Good to hear.")
    expect(found["previous"], {"turn_id": "d1", "status": "accepted", "confidence": at_least(0.7)})


@SECTION.step("turns with feedbacks of a conversation",
              differs="turn_log, user and assistant are returned on request (include)")
def per_conversation(api):
    found = api.post(f"{BASE}/conv_456/turns-with-feedbacks", {"turn_ids": None, "days": 3650,
                                                               "include": ["turn_log", "user", "assistant"]})
    expect(found, {"user_id": "user_123", "conversation_id": "conv_456"})
    expect([one["turn_id"] for one in found["turns"]], ["turn_1761153697221_4ek9ma"])
    one = found["turns"][0]
    expect((len(one["feedbacks"]), len(one["reactions"])), (3, 3))
    expect("turn_log" in one and "user" in one and "assistant" in one, True)
    expect(api.post(f"{BASE}/conv_456/turns-with-feedbacks", {"turn_ids": [], "days": 3650})["turns"], [])


@SECTION.step("conversations with feedback in the period",
              differs="total is always user + machine and ok + not_ok + neutral; started_at is filled in")
def in_period(api):
    report = period(api)
    expect(report, {"tenant": "ACME", "project": "Support", "next_cursor": None})
    expect(report["window"], {"start": "2025-11-01T00:00:00.000000Z", "end": "2025-11-06T23:59:59.000000Z"})
    item = next(item for item in report["items"] if item["conversation_id"] == CONVERSATION)
    expect(item, {"last_activity_at": AT,
                  "feedback_counts": {"total": 1, "user": 1, "machine": 0, "ok": 1, "not_ok": 0, "neutral": 0},
                  "turns": [{"turn_id": TURN, "ts": AT, "feedbacks": [
                      {"turn_id": TURN, "ts": AT, "text": TEXT, "reaction": "ok", "confidence": 1.0, "origin": "user",
                       "rn": holds("ef:", TURN, ":artifact:artifact-")}]}]})
    first = period(api, limit=1)
    second = period(api, limit=1, cursor=first["next_cursor"])
    expect(first["items"][0]["conversation_id"] != second["items"][0]["conversation_id"], True)


@SECTION.step("count splits by user and period, from the index only")
def search(api):
    found = api.post("/api/v1/artifacts/search", {
        "kinds": ["artifact:turn.log.reaction"], "roles": ["artifact"], "scope": "user", "user_id": "user_123",
        "days": 3650, "sort": "recency", "with_payload": True,
        "timestamp_filters": [{"op": ">=", "value": PERIOD["start"]}, {"op": "<=", "value": PERIOD["end"]}]})["items"]
    users = [one for one in found if one["payload"]["reaction"]["origin"] == "user"]
    expect(sorted(one["payload"]["reaction"]["reaction"] for one in users), ["neutral", "ok"])


@SECTION.step("satisfaction rate = ok / (ok + not_ok + neutral) of the users")
def satisfaction(api):
    found = api.get("/api/v1/feedback/quality/ACME?start=2025-11-01T00:00:00Z&end=2025-11-07T00:00:00Z")
    expect(found["metrics"]["satisfaction"], {"value": 0.5, "numerator": 1.0, "denominator": 2})


@SECTION.step("a ts without a zone is taken as UTC")
def zoneless(api):
    turn(api, "naive", "naive-1")
    api.post(feedback("naive", "naive-1"), {"reaction": "ok", "ts": "2025-11-06T15:30:00.123456"})
    item = next(item for item in period(api)["items"] if item["conversation_id"] == "naive")
    expect(item["last_activity_at"], "2025-11-06T15:30:00.123456Z")


@SECTION.step("ids may hold spaces, slashes and umlauts, percent-encoded in paths")
def odd_ids(api):
    turn(api, "chat/42 Ü", "turn 1/2")
    expect(api.post(feedback("chat/42 Ü", "turn 1/2"), {"reaction": "ok", "ts": "2025-11-06T15:40:00Z"}),
           {"turn_id": "turn 1/2"})


@SECTION.step("satisfaction by=reaction puts a reaction at its own time, as the period report does")
def by_reaction(api):
    turn(api, "late", "late-1", ts="2025-10-01T10:00:00Z")
    api.post(feedback("late", "late-1"), {"reaction": "ok", "ts": "2025-11-06T20:00:00Z"})
    window = "start=2025-11-06T19:59:00Z&end=2025-11-06T20:01:00Z"
    found = api.get(f"/api/v1/feedback/quality/ACME?by=reaction&{window}")
    expect(found["metrics"]["satisfaction"], {"value": 1.0, "numerator": 1.0, "denominator": 1})
    found = api.get(f"/api/v1/feedback/quality/ACME?by=turn&{window}")
    expect(found["metrics"]["satisfaction"], {"value": None, "denominator": 0})


@SECTION.step("praise that names an earlier answer reaches it")
def praise(api):
    turn(api, "praise", "p1", text="Write the SQL query for the revenue by region",
         response="SELECT region, SUM(revenue) FROM sales GROUP BY region", ts="2025-11-06T18:00:00Z")
    turn(api, "praise", "p2", text="What is the capital of Peru?", response="The capital of Peru is Lima.",
         ts="2025-11-06T18:01:00Z")
    found = turn(api, "praise", "p3", text="the revenue query worked perfectly, thanks", response="Good to hear.",
                 ts="2025-11-06T18:02:00Z")
    expect(found["previous"], {"turn_id": "p1", "status": "accepted"})


@SECTION.step("POST /api/v1/turns/{turn_id}/feedback takes a reaction, stars, a comment and a correction")
def one_door(api):
    turn(api, "door", "door-1")
    given = api.post("/api/v1/turns/door-1/feedback", {"user_id": "user_123", "reaction": "ok",
                                                       "comment": "Great explanation!"})
    expect(given, {"turn_id": "door-1", "pending": False, "warnings": []})
    expect(sorted(given["stored"]), ["comment", "reaction"])
