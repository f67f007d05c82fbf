"""A text-to-SQL agent that does not make the same mistake twice.

The made-up agent writes SQL by templates: one sums all orders, one leaves out what was cancelled. It takes a strategy
that worked for a question like this one if there is one, an example in its prompt if there is one, and else what it
has first.
"""

import sqlite3

from uptake import Uptake, expect

TEMPLATES = {
    "all_orders": "SELECT region, sum(total) FROM orders GROUP BY region ORDER BY region",
    "completed_orders":
        "SELECT region, sum(total) FROM orders WHERE status = 'completed' GROUP BY region ORDER BY region",
}
ROWS = [("north", 100, "completed"), ("north", 40, "cancelled"), ("south", 70, "completed"), ("south", 5, "cancelled")]
RIGHT = [("north", 100), ("south", 70)]

database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE orders (region TEXT, total INTEGER, status TEXT)")
database.executemany("INSERT INTO orders VALUES (?, ?, ?)", ROWS)
uptake = Uptake("sql")


def agent(heard):
    """A stand-in for an agent: reuses what worked, avoids what was rejected, else its first template."""
    for found in heard["strategies"]:
        return found["strategy"]["name"]
    avoid = {found["strategy"]["name"] for found in heard["avoid"]}
    return next(name for name in TEMPLATES if name not in avoid)


def ask(conversation, turn, text):
    """One turn of the agent: get strategies, write SQL, run it, report the strategy."""
    heard = uptake.post("/api/v1/turns", {
        "conversation_id": conversation, "user_id": conversation, "turn_id": turn, "text": text,
        "include": ["strategies"]})
    name = agent(heard)
    rows = database.execute(TEMPLATES[name]).fetchall()
    uptake.post(f"/api/v1/turns/{turn}/complete", {
        "response": TEMPLATES[name], "model": "templates", "strategy": {"name": name}, "latency_ms": 40})
    print(f"{conversation}: {text}\n  {name}: {rows}")
    return heard, name, rows


# Ann notices that cancelled orders are counted, and complains.
ask("ann", "a1", "Show total sales by region for 2024")
heard, _, corrected = ask("ann", "a2", "No, I meant completed orders only, not all orders")
uptake.post("/api/v1/turns", {
    "conversation_id": "ann", "user_id": "ann", "turn_id": "a3", "text": "Perfect, thanks, that is right!"})
# Her colleague submits a correction of the first answer.
uptake.post("/api/v1/feedback/correction", {"message_id": "a1", "user_id": "carl", "data": {
    "original_sql": TEMPLATES["all_orders"], "corrected_sql": TEMPLATES["completed_orders"],
    "explanation": "completed orders only"}})

# Bob asks the same in his own words, for the first time.
later, strategy, rows = ask("bob", "b1", "total sales per region in 2024")
examples = uptake.post("/api/v1/examples/select", {"query": "total sales per region in 2024"})["examples"]
for example in examples:
    print("for the prompt:", example["input_text"], "→", example["output_text"])

expect(heard["previous"]["status"] == "rejected", "the sum of all orders was rejected")
expect(corrected == RIGHT, "the second attempt left it out")
expect(later["avoid"] and later["avoid"][0]["strategy"]["name"] == "all_orders", "other users' requests list it under avoid")
expect(later["strategies"] and later["strategies"][0]["turn_id"] == "a2", "the strategy Ann accepted is offered to other users")
expect(strategy == "completed_orders" and rows == RIGHT, "Bob got the right figures at once")
expect(examples and examples[0]["source"] == "correction", "the correction is an example for prompts")
