"""Model routing: the router learns the better model from the next messages of users.

Two made-up models: `quick` is cheap and often wrong, `careful` is right most of the time. Uptake does not know which is
which. Users only keep talking, and one in five clicks a thumb.
"""

from uptake import Uptake, expect

RIGHT_IN_PERCENT = {"quick": 35, "careful": 90}
TOPICS = ["rotate a PDF", "merge two sheets", "export my invoices", "reset the router", "change the time zone"]
QUESTIONS = 100

uptake = Uptake("router")


def model(name, number):
    """A stand-in for a model with a fixed quality per question."""
    is_right = number * 37 % 100 < RIGHT_IN_PERCENT[name]
    answer = "Open Settings, choose the file, and confirm with Apply." if is_right else "Have you tried the manual?"
    return answer, is_right


def ask(number):
    """One user, one question, and the message that follows."""
    conversation, user = f"c{number}", f"user-{number}"
    question = f"How do I {TOPICS[number % len(TOPICS)]}, please? It is case {number}."
    # The question comes in, and the router chooses the model.
    turn = uptake.post("/api/v1/turns", {
        "conversation_id": conversation, "user_id": user, "text": question,
        "include": ["route"], "router": "support"})
    arm = turn["route"]["arm"]
    answer, is_right = model(arm, number)
    uptake.post(f"/api/v1/turns/{turn['turn_id']}/complete", {
        "response": answer, "model": arm, "decision_id": turn["route"]["decision_id"], "latency_ms": 900})
    # The user's next message is the only feedback.
    said = "Perfect, thank you, that is exactly what I needed." if is_right else "No, that is wrong."
    uptake.post("/api/v1/turns", {"conversation_id": conversation, "user_id": user, "text": said})
    if number % 5 == 0:
        uptake.react(conversation, turn["turn_id"], {"reaction": "ok" if is_right else "not_ok"})
    return arm


# `seed` makes the run reproducible; leave it out in production.
uptake.put("/api/v1/routers/support", {"arms": [{"id": name} for name in RIGHT_IN_PERCENT], "seed": 2})
chosen = [ask(number) for number in range(QUESTIONS)]

for start in range(0, QUESTIONS, 25):
    part = chosen[start:start + 25]
    print(f"questions {start + 1:2}–{start + 25:3}: careful answered {part.count('careful'):2} of 25")
router = uptake.get("/api/v1/routers/support")
arms = {arm["id"]: arm for arm in router["arms"]}
for arm in arms.values():
    print(f"{arm['id']:8} chosen {arm['choices']:2} times, share {arm['share']:.2f}, worth {arm['mean']:.2f} of 1")
print(router["explanation"])

expect(arms["careful"]["mean"] > arms["quick"]["mean"], "careful is worth more than quick")
expect(chosen[-25:].count("careful") >= 17, "careful answers most of the last 25 questions")
