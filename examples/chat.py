"""A chat loop that uses feedback on the previous answer before it answers.

The made-up model is a search in a catalogue: it takes the first three that fit the words of its query. What the user
says next is no good query ("No, I meant …"); the advice that comes with the turn is.
"""

from uptake import Uptake, expect

CATALOGUE = [
    ("Latitude 3440", "business laptop", 890), ("ThinkPad E14", "business laptop", 940),
    ("ProBook 450", "business laptop", 870), ("Raider 18", "gaming laptop", 3200), ("Katana 15", "gaming laptop", 990),
    ("Nitro V 15", "gaming laptop", 850), ("Legion Slim", "gaming laptop", 1450),
]

uptake = Uptake("chat")


def model(query):
    """A stand-in for a model: the product kinds in the query, and its price limit if any."""
    kinds = [kind for kind in ("business", "gaming") if kind in query.lower()]
    limit = int(query.split("$")[1].split()[0]) if "$" in query else 10_000
    found = [name for name, kind, price in CATALOGUE if price <= limit and (not kinds or kind.split()[0] in kinds)]
    return f"Here are laptops for you: {', '.join(found[:3])}."


def turn(number, text):
    """One chat turn: send the message to Uptake, use the context, answer, send the answer."""
    heard = uptake.post("/api/v1/turns", {
        "conversation_id": "c1", "user_id": "ann", "turn_id": f"t{number}", "text": text, "include": ["context"]})
    # A real model gets `context.markdown` in its prompt; this one only has a query.
    query = heard["context"]["rewritten_query"] or text
    answer = model(query)
    uptake.post(f"/api/v1/turns/t{number}/complete", {
        "response": answer, "model": "catalogue", "strategy": {"name": "search", "params": {"query": query}}})
    print(f"user: {text}\n  searched for: {query}\n  answer: {answer}")
    return heard, answer


first, _ = turn(1, "Find me laptops under $1000")
second, answer = turn(2, "No, I meant gaming laptops, not business laptops")
# The last message needs no answer; it still judges the previous one.
third = uptake.post("/api/v1/turns", {
    "conversation_id": "c1", "user_id": "ann", "turn_id": "t3", "text": "Perfect, thank you! I'll take the first one."})
print("user: Perfect, thank you! I'll take the first one.")

print("\ncontext for the planner, returned with the second message:\n")
print(second["context"]["markdown"])
print("\nwithout it the model would have searched for the literal message:\n ",
      model("No, I meant gaming laptops, not business laptops"))

expect(second["previous"]["status"] == "rejected", "the first answer was rejected")
expect(second["previous"]["contrast"] == {"wants": "gaming laptops", "instead_of": "business laptops"},
       "what was wanted instead")
expect(answer.endswith("Katana 15, Nitro V 15."), "the second answer has gaming laptops under $1000 only")
expect((third["previous"]["turn_id"], third["previous"]["status"]) == ("t2", "accepted"),
       "the second answer was accepted")
