"""Retrieval that learns which documents answers use.

The made-up retriever counts common words, so an archived form comes before the page that has the answer. The made-up
model reads what it was given and quotes the page that answers. No user rates anything.
"""

import re

from uptake import Uptake, expect

DOCUMENTS = {
    "doc-form": ("Refund form 2019 (archived)", "How long do refunds take? Ask for them with this form: print it, sign it, "
                 "send it by fax."),
    "doc-policy": ("Refund policy", "Refunds take five working days, from the day the parcel is in our warehouse. That is how "
                   "we do it for all orders."),
    "doc-shipping": ("Shipping times", "Parcels leave our warehouse on the day of the order and arrive in three days."),
}
QUESTIONS = [
    "How long do refunds take?", "How long does it take to get refunds?", "When are refunds paid, how long is it?",
    "How long until refunds are on my account?", "Do refunds take long, and how do I ask?",
    "How long do you take for refunds?",
]

uptake = Uptake("rag")


def words(text):
    return set(re.findall(r"[a-z]+", text.lower()))


def retrieve(question):
    """A stand-in for a retriever: the share of the question's words in a document."""
    asked = words(question)
    score = {entity: len(asked & words(content)) / len(asked) for entity, (_, content) in DOCUMENTS.items()}
    return [{"entity_id": entity, "score": score[entity]} for entity in sorted(score, key=score.get, reverse=True)]


def model(entities):
    """A stand-in for a model: quotes the refund policy if it was retrieved."""
    return DOCUMENTS["doc-policy"][1] + " [doc-policy]" if "doc-policy" in entities else "I do not know."


def ask(number, question):
    """One turn of a RAG application. Returns the order of the documents."""
    ranked = uptake.post("/api/v1/retrieval/rerank", {"query": question, "results": retrieve(question)})["results"]
    entities = [result["entity_id"] for result in ranked]
    uptake.post("/api/v1/turns", {
        "conversation_id": f"c{number}", "user_id": f"user-{number}", "text": question, "response": model(entities),
        # From the retrieved items, Uptake detects which ones the answer used.
        "retrieved": [{"entity_id": entity, "name": DOCUMENTS[entity][0], "content": DOCUMENTS[entity][1], "rank": rank}
                      for rank, entity in enumerate(entities, 1)]})
    return entities


before = ask(0, QUESTIONS[0])
for number, question in enumerate(QUESTIONS[1:], 1):
    ask(number, question)
ranked = uptake.post("/api/v1/retrieval/rerank", {"query": QUESTIONS[0], "results": retrieve(QUESTIONS[0])})["results"]
after = [result["entity_id"] for result in ranked]

print("first question:", before)
print("the same after six answers:")
for result in ranked:
    print(f"  {result['entity_id']:12} {result['original_score']:.2f} × {result['multiplier']:.2f} = "
          f"{result['score']:.2f}   {result['reason']}")
used = uptake.get("/api/v1/retrieval/entities/doc-policy/stats")
ignored = uptake.get("/api/v1/retrieval/entities/doc-form/stats")

expect(before[0] == "doc-form", "at first the archived form ranks first, by its words")
expect(used["usedCount"] == 6 and ignored["ignoredCount"] == 6, "the policy was used six times, the form never")
expect(after[0] == "doc-policy", "after feedback the policy ranks first")
