"""Conversation feedback: the next message rejects or accepts an answer, and the planner learns from it."""

from client import Section, at_least, expect, holds

SECTION = Section("001", "conversation feedback", "panda")

ASKED = "Find me laptops under $1000"
ANSWERED = ("Here are three business laptops: the Lenovo ThinkPad E14 for $799, the Dell Latitude 3440 for $849 and "
            "the HP ProBook 450 for $899.")
SAID = "No, I meant gaming laptops not business laptops"


def answered(api, session, turn, at="2026-01-04T10:30:00Z", **more):
    """An answered turn of a session, with the names and times of the document's metadata.json."""
    fields = {"query": ASKED, "response": ANSWERED, "user_id": session, "timestamp": at,
              "validation_outcome": "APPROVE", "quality_score": 0.85}
    return api.turn(session_id=session, turn_id=turn, **(fields | more))


def follow(api, session, turn, text, at="2026-01-04T10:32:00Z", **more):
    """The next message of the session. Returns the verdict on the turn before."""
    return api.turn(session_id=session, turn_id=turn, user_id=session, query=text, timestamp=at, **more)


def verdict(api, number, text):
    """The verdict that a message gives on the laptop answer, in a session of its own."""
    session = f"v{number}"
    answered(api, session, f"{session}-1")
    return follow(api, session, f"{session}-2", text)["previous"]


@SECTION.step("metadata.json of turn_001233 after the correction",
              differs="confidence is the calibrated one of the statistical detector, not the constant 0.9")
def metadata(api):
    answered(api, "henry", "turn_001233",
             strategy={"name": "commerce_search", "params": {"query": "laptops under $1000"}})
    found = follow(api, "henry", "turn_001234", SAID, include=["context", "strategies"])
    expect(found["previous"], {"turn_id": "turn_001233", "status": "rejected", "correction_type": "explicit",
                               "confidence": at_least(0.9), "user_said": SAID})
    expect(api.get("/api/v1/turns/turn_001233/metadata"), {
        "turn_id": "turn_001233", "session_id": "henry", "timestamp": "2026-01-04T10:30:00.000000Z",
        "validation_outcome": "APPROVE", "quality_score": 0.85,
        "user_feedback": {
            "status": "rejected", "detected_at": "2026-01-04T10:32:00.000000Z", "detected_in_turn": "turn_001234",
            "correction_type": "explicit_correction", "confidence": at_least(0.9), "user_said": SAID}})
    SECTION.context = found["context"]
    SECTION.found = found


@SECTION.step("the planner's instructions and the adjusted search query")
def instructions(api):
    expect("\n".join(SECTION.context["instructions"]), holds(
        "Do NOT reuse the strategy", "User wants GAMING laptops, not business laptops",
        'Adjust search query to be specific: "gaming laptops under $1000"'))
    expect(SECTION.context["rewritten_query"], "gaming laptops under $1000")
    expect(SECTION.found["previous"]["contrast"], {"wants": "gaming laptops", "instead_of": "business laptops"})


@SECTION.step("explicit rejections: negation, correction, retry request, complaint")
def explicit(api):
    messages = ["No, I meant gaming laptops", "That's wrong", "Try again", "Not what I asked", "You misunderstood",
                "That doesn't help", "Not helpful", "Not useful", "Not what I need", "No, that's not what I meant"]
    for number, message in enumerate(messages):
        expect(verdict(api, f"e{number}", message), {"status": "rejected", "correction_type": "explicit"}, message)


@SECTION.step("abandonment rejects")
def abandonment(api):
    for number, message in enumerate(["Never mind", "Forget that", "Let me rephrase", "Start over"]):
        expect(verdict(api, f"a{number}", message), {"status": "rejected", "correction_type": "abandonment"}, message)


@SECTION.step("the same query reworded rejects")
def rephrased(api):
    expect(verdict(api, "r0", "Find laptops below $1000 for me"), {"status": "rejected"})


@SECTION.step("follow-up, drill-down, comparison, action and thanks accept")
def accepted(api):
    messages = ["Tell me more about the first one", "What about the Dell Latitude?", "Compare the ThinkPad and the "
                "ProBook", "I'll go with the Lenovo", "Thanks, ordering now", "Can you explain why the ThinkPad is "
                "cheaper?"]
    for number, message in enumerate(messages):
        expect(verdict(api, f"c{number}", message), {"status": "accepted"}, message)


@SECTION.step("a new unrelated question accepts, weakly",
              differs="moving on has a confidence of at most 0.69, so it writes no reaction and counts in no rate")
def hamster(api):
    found = verdict(api, "h0", "What is the best food for a hamster?")
    expect(found, {"status": "accepted", "rn": None})
    expect(found["confidence"] <= 0.69, True)


@SECTION.step("an unclear message leaves the turn neutral",
              differs="confidence is the calibrated one of the statistical detector, not the constant 0.5")
def ambiguous(api):
    expect(verdict(api, "n0", "hmm"), {"status": "neutral"})
    answered(api, "quiet", "quiet-1")
    expect(api.get("/api/v1/turns/quiet-1/metadata")["user_feedback"], {"status": "neutral", "confidence": 0.5})


@SECTION.step("no message within 30 minutes leaves the turn neutral",
              differs="an explicit rejection still counts after the session ended")
def session_end(api):
    answered(api, "late", "late-1")
    follow(api, "late", "late-2", "Tell me more about the first one", at="2026-01-04T11:00:01Z")
    expect(api.get("/api/v1/turns/late-1/metadata")["user_feedback"]["status"], "neutral")
    answered(api, "back", "back-1")
    follow(api, "back", "back-2", "No, that was wrong", at="2026-01-04T15:00:00Z")
    expect(api.get("/api/v1/turns/back-1/metadata")["user_feedback"]["status"], "rejected")


@SECTION.step("satisfaction: base by validation outcome, -1 rejected, +0.5 accepted up to 1")
def satisfaction(api):
    bases = {"APPROVE": 0.5, "REVISE": 0.3, "RETRY": 0.1, "FAIL": -0.5}
    replies = {"neutral": None, "rejected": "That's wrong", "accepted": "Thanks, ordering now"}
    for outcome, base in bases.items():
        for status, reply in replies.items():
            session = f"s-{outcome}-{status}"
            answered(api, session, f"{session}-1", validation_outcome=outcome)
            if reply:
                follow(api, session, f"{session}-2", reply)
            expected = {"neutral": base, "rejected": -1.0, "accepted": min(base + 0.5, 1.0)}[status]
            expect(api.get(f"/api/v1/turns/{session}-1"), {"satisfaction": expected}, session)


@SECTION.step("ranking_score = 0.6 * quality + 0.4 * weight; accepted before neutral, rejected never",
              differs="the document's two orders disagree; tiers are the default and mode=formula is the other")
def ranking(api):
    rows = [("a", 0.9, "Thanks, ordering now", 0.74), ("e", 0.4, "Thanks, ordering now", 0.44),
            ("b", 0.3, "Thanks, ordering now", 0.38), ("c", 0.9, None, 0.54), ("d", 0.5, None, 0.30),
            ("f", 1.0, "That's wrong", None)]
    for name, quality, reply, _ in rows:
        session = f"rank-{name}"
        answered(api, session, f"{session}-1", query="Which printer is quiet?", response="The Brother HL is quiet.",
                 quality_score=quality, strategy={"name": f"search_{name}"})
        if reply:
            follow(api, session, f"{session}-2", reply)
    scores = {f"rank-{name}-1": score for name, _, _, score in rows}
    for mode, order in [("tiered", "aebcd"), ("formula", "acebd")]:
        found = api.post("/api/v1/strategies/search", {"query": "Which printer is quiet?", "k": 10, "mode": mode,
                                                       "min_similarity": 0.95, "include_rejected": True})
        expect([one["turn_id"] for one in found["strategies"]], [f"rank-{name}-1" for name in order], mode)
        for one in found["strategies"]:
            expect(one["ranking_score"], scores[one["turn_id"]], one["turn_id"])
        expect([one["turn_id"] for one in found["avoid"]], ["rank-f-1"], mode)


@SECTION.step("corrections in a row each reject the turn before, and suggest to clarify")
def corrections(api):
    answered(api, "again", "again-1")
    replies = ["No, I meant gaming laptops", "Not what I asked", "That's wrong"]
    for number, reply in enumerate(replies, start=1):
        found = follow(api, "again", f"again-{number + 1}", reply, at=f"2026-01-04T10:3{number}:00Z",
                       response="Here are some other laptops that may suit you.", include=["context"])
        expect(found["previous"], {"turn_id": f"again-{number}", "status": "rejected", "rejection_streak": number})
        expect(found["context"]["suggest_clarify"], number >= 2)


@SECTION.step("context_format sections returns the headings of section 2, letter for letter")
def sections(api):
    answered(api, "plan", "plan-1", strategy={"name": "commerce_search", "params": {"query": "laptops under $1000"}})
    found = follow(api, "plan", "plan-2", SAID, include=["context"], context_format="sections")
    expect(found["context"]["markdown"], holds(
        "## 2. Gathered Context", "### Previous Response Feedback", "**Status:** REJECTED", "**User said:**",
        "**Previous strategy:** commerce_search", "**What went wrong:**", "**Instruction for Planner:**",
        "Do NOT reuse the strategy", "User wants GAMING laptops, not business laptops", "gaming laptops under $1000"))


@SECTION.step("with several users in a session a message judges the answer to the same user")
def several_users(api):
    api.turn(session_id="room", turn_id="room-1", user_id="ann", query=ASKED, response=ANSWERED,
             timestamp="2026-01-04T10:00:00Z")
    api.turn(session_id="room", turn_id="room-2", user_id="bob", query="What is the capital of Peru?",
             response="The capital of Peru is Lima.", timestamp="2026-01-04T10:01:00Z")
    found = api.turn(session_id="room", turn_id="room-3", user_id="ann", query="no, I meant gaming ones",
                     timestamp="2026-01-04T10:02:00Z")["previous"]
    expect(found, {"turn_id": "room-1", "status": "rejected"})
    expect(api.get("/api/v1/turns/room-2/metadata")["user_feedback"]["status"], "neutral")


@SECTION.step("an answer logged after the next message still gets its verdict")
def late_answer(api):
    api.turn(session_id="slow", turn_id="slow-1", user_id="ann", query=ASKED, timestamp="2026-01-04T10:00:00Z")
    api.turn(session_id="slow", turn_id="slow-2", user_id="ann", query="That's wrong", timestamp="2026-01-04T10:01:00Z")
    api.post("/api/v1/turns/slow-1/complete", {"response": ANSWERED})
    expect(api.get("/api/v1/turns/slow-1/metadata")["user_feedback"], {"status": "rejected",
                                                                     "detected_in_turn": "slow-2"})


@SECTION.step("preferences name the parameters: bar chart accepted, pie chart rejected")
def parameters(api):
    rows = [("pie", "That's wrong"), ("bar", "Perfect, thanks")]
    for number, (kind, reply) in enumerate(rows):
        answered(api, "chart", f"chart-{number}", at=f"2026-01-04T10:0{number * 2}:00Z", query=f"Show sales {number}",
                 response="Here are the sales as you asked for them.", strategy={"name": "chart", "params": {"kind": kind}})
        found = follow(api, "chart", f"chart-{number}r", reply, at=f"2026-01-04T10:0{number * 2 + 1}:00Z",
                       response="You are welcome to ask for more.", include=["context"])
    lines = found["context"]["markdown"].splitlines()
    expect(any("chart" in line and "bar" in line and "ccepted" in line for line in lines), True, "bar accepted")
    expect(any("chart" in line and "pie" in line and "ejected" in line for line in lines), True, "pie rejected")


@SECTION.step("PROCEED or CLARIFY follows the clarity of the query")
def clarity(api):
    vague = api.turn(session_id="vague", turn_id="vague-1", user_id="ann", query="that one", include=["context"])
    expect(vague["context"]["suggest_clarify"], True)
    clear = api.turn(session_id="clear", turn_id="clear-1", user_id="ann", query=ASKED, include=["context"])
    expect(clear["context"]["suggest_clarify"], False)


@SECTION.step("a timestamp without a zone is taken as UTC")
def naive_time(api):
    made = answered(api, "henry2", "naive-1", at="2026-01-04T10:30:00")
    expect(made["conversation_id"], "henry2")
    expect(api.get("/api/v1/turns/naive-1")["ts"], "2026-01-04T10:30:00.000000Z")
