"""Explicit and implicit feedback together: precedence, and the reward of an answer.

One answer, and all that can be heard of it: the next message, a copied text, a thumb, a comment, a thumb taken back, a
reviewer. After each the program looks at what Uptake makes of it.
"""

from uptake import Uptake, expect

uptake = Uptake("feedback")


def look(what):
    """Prints the current verdict of the answer and the reward the router sees."""
    turn = uptake.get("/api/v1/turns/t1")
    arm = uptake.get("/api/v1/routers/chat")["arms"][0]
    seen = (turn["verdict"]["status"], turn["verdict"]["by"], round(arm["mean"], 3), arm["observations"])
    print(f"{what:32} {seen[0]:9} from {seen[1] or 'none':8} reward {seen[2]:.3f}, observations {seen[3]}")
    return seen


def said_by_user(kind, source, data):
    uptake.post("/api/v1/feedback", {
        "type": kind, "source": source, "category": "user_satisfaction", "message_id": "t1", "session_id": "c1",
        "user_id": "ann", "data": data})


# An answer of a model chosen by a router.
uptake.put("/api/v1/routers/chat", {"arms": [{"id": "m1"}], "seed": 1})
turn = uptake.post("/api/v1/turns", {
    "conversation_id": "c1", "user_id": "ann", "turn_id": "t1", "text": "What is our travel policy?",
    "include": ["route"], "router": "chat"})
uptake.post("/api/v1/turns/t1/complete", {
    "response": "You may book second class for all journeys.", "latency_ms": 800,
    "model": "m1", "decision_id": turn["route"]["decision_id"]})
start = look("answered in 0.8 s")

# Implicit: her behaviour, and her next message.
said_by_user("interaction", "user_interaction", {"kind": "copy"})
look("she copies it")
uptake.post("/api/v1/turns", {
    "conversation_id": "c1", "user_id": "ann", "turn_id": "t2", "text": "No, that's wrong, that is the old policy."})
rejected = look("her next message rejects it")

# Explicit: thumbs up and a comment.
uptake.react("c1", "t1", {"reaction": "ok", "user_id": "ann"})
thumb = look("she clicks thumb up after all")
said_by_user("explicit", "user_comment", {"comment": "It was right, I had looked at the wrong page."})
look("and comments")

# She clears the thumbs up: the verdict from her message counts again.
uptake.react("c1", "t1", {"reaction": None, "user_id": "ann"})
cleared = look("she takes the thumb back")

# A review overrides everything else.
uptake.post("/api/v1/turns/t1/review", {"status": "accepted"})
reviewed = look("a reviewer accepts it")

expect(rejected[:2] == ("rejected", "verdict") and rejected[2] < start[2], "a rejection in the next message lowers the reward")
expect(thumb[:2] == ("accepted", "user") and thumb[2] > rejected[2], "a thumbs up overrides the detected verdict")
expect(cleared == rejected, "a cleared thumbs up has no effect")
expect(reviewed[:2] == ("accepted", "review") and reviewed[2] > cleared[2], "a review overrides the detected verdict")
expect(reviewed[3] == 1, "the turn is counted as one observation")
