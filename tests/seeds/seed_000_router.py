"""The implicit-feedback router: errors, latency and retries as rewards of a Thompson bandit."""

import time

from client import Section, at_least, expect

SECTION = Section("000", "implicit feedback router", "conduit")

ANSWER = "Python is a programming language..."
# `time.time()` of the document's records.
START = 1700000000.0


def detect(api, query_id, query, response_text, *, execution_status="success", execution_error=None, start=START,
           end=None, user_id="user_abc", model_id="gpt-4o-mini", **more):
    """The document's `detector.detect(…)`, with its names and times, as one turn."""
    return api.turn(
        query=query, query_id=query_id, response_text=response_text, model_id=model_id,
        execution_status=execution_status, execution_error=execution_error, request_start_time=start,
        response_complete_time=start + 1.5 if end is None else end, user_id=user_id, **more)


def routed(api, router, query_id, **more):
    """Routes a query to the router's only arm, and completes it there. Returns the arm."""
    choice = api.post("/api/v1/route", {"router": router, "query": "What is Python?"})
    detect(api, query_id, more.pop("query", f"What is Python {query_id}?"), more.pop("response_text", ANSWER),
           model_id=choice["arm"], decision_id=choice["decision_id"], **more)
    return choice["arm"]


def arm(api, router):
    return api.get(f"/api/v1/routers/{router}")["arms"][0]


def one_arm(api, router, **reward):
    body = {"arms": [{"id": "gpt-4o-mini"}]}
    api.put(f"/api/v1/routers/{router}", body | ({"reward": reward} if reward else {}))


@SECTION.step("ContextualBandit(models=[gpt-4o-mini, gpt-4o]) is a router with two arms",
              differs="the bandit is a named router of the server; models are the ids of its arms, which may have more")
def bandit(api):
    made = api.put("/api/v1/routers/chat", {"arms": [{"id": "gpt-4o-mini"}, {"id": "gpt-4o"}]})
    expect([one["id"] for one in made["arms"]], ["gpt-4o-mini", "gpt-4o"])
    expect(made["definition"]["reward"], {"explicit_weight": 0.7, "implicit_weight": 0.3,
                                          "latency_seconds": [10.0, 30.0]})


@SECTION.step("the basic usage example finds no error, a fast answer and reward 0.9",
              differs="no features: the server computes them from the query")
def basic_usage(api):
    made = detect(api, "q-basic", "What is Python?", ANSWER)
    expect(made["turn_id"], "q-basic")
    found = made["completed"]
    expect(found["signals"], {"error": {"occurred": False}, "latency": {"seconds": 1.5, "tolerance": "high"}})
    expect(found["reward"], 0.9)
    shown = api.get("/api/v1/turns/q-basic")
    expect(shown, {"ts": "2023-11-14T22:13:20.000000Z", "user_id": "user_abc", "user": {"text": "What is Python?"},
                   "assistant": {"response": ANSWER, "model": "gpt-4o-mini"}})


@SECTION.step("a hard error, an empty answer and an error text are errors with reward 0.0",
              differs="error_type model_refusal_or_error is split into model_refusal and error_text")
def errors(api):
    rows = [
        ("q-hard", None, {"execution_status": "error", "execution_error": "RateLimitError"}, "execution_error"),
        ("q-empty", "", {}, "empty_response"),
        ("q-refused", "I apologize, but I cannot help with that request.", {}, "model_refusal"),
        ("q-text", "Error: connection reset by peer", {}, "error_text"),
        ("q-raised", "Exception: division by zero", {}, "error_text"),
    ]
    for query_id, response, more, error_type in rows:
        found = detect(api, query_id, f"Explain closures in {query_id}", response, **more)["completed"]
        expect(found["signals"]["error"], {"occurred": True, "error_type": error_type}, query_id)
        expect(found["reward"], 0.0, query_id)


@SECTION.step("an answer under 10 characters is an error only where the question calls for more",
              differs="a short direct answer to a short question is a good answer, not an empty one")
def short_answers(api):
    short = detect(api, "q-42", "What is 6 times 7?", "42")["completed"]
    expect(short["signals"]["error"]["occurred"], False)
    long_request = ("Write a detailed report about the sales of the last quarter by region and product, with a table "
                    "and a conclusion.")
    expect(detect(api, "q-ok", long_request, "ok")["completed"]["signals"]["error"], {"occurred": True})


@SECTION.step("quoted error patterns inside a good answer are no error",
              differs="patterns count at the opening of the answer, not anywhere in it")
def quoted_patterns(api):
    found = detect(api, "q-quote", "How do I print an error?", "Use `print(f\"Error: {e}\")`. I cannot recommend "
                   "logging highly enough.")["completed"]
    expect(found["signals"]["error"]["occurred"], False)


@SECTION.step("latency up to 10 s is high, up to 30 s medium, above low: rewards 0.9, 0.7, 0.5")
def latency(api):
    rows = [(0.0, "high", 0.9), (9.999, "high", 0.9), (10.0, "high", 0.9), (10.001, "medium", 0.7),
            (30.0, "medium", 0.7), (30.001, "low", 0.5), (18000.0, "low", 0.5)]
    for seconds, tolerance, reward in rows:
        query_id = f"q-{seconds}"
        found = detect(api, query_id, f"Summarise file {query_id}", "Here is the summary of it.",
                       end=START + seconds)["completed"]
        expect(found["signals"]["latency"], {"tolerance": tolerance, "accepted": True}, query_id)
        expect(found["reward"], reward, query_id)


@SECTION.step("latency_accepted is stored, and changes no reward")
def latency_accepted(api):
    found = detect(api, "q-impatient", "Summarise the minutes", "Here is the summary of it.",
                   latency_accepted=False)["completed"]
    expect(found["signals"]["latency"], {"tolerance": "high", "accepted": False})
    expect(found["reward"], 0.9)


@SECTION.step("the same question within 300 s is a retry, after 301 s it is not")
def retry_window(api):
    for user, seconds, is_retry in [("near", 299.0, True), ("edge", 300.0, True), ("late", 301.0, False)]:
        detect(api, f"r-{user}", "What is Python?", ANSWER, user_id=user)
        found = detect(api, f"r-{user}-2", "What is Python?", ANSWER, user_id=user, start=START + seconds)["retry"]
        if is_retry:
            expect(found, {"original_turn_id": f"r-{user}", "similarity": at_least(0.85)}, user)
            expect(found["delay_seconds"], seconds, user)
        else:
            expect(found, None, user)


@SECTION.step("a retry is looked for in the last 10 queries of the user")
def ten_queries(api):
    texts = ["What is Python?", "List the planets", "Bake sourdough bread", "Translate a poem into French",
             "Sort an array in C", "Plan a trip to Oslo", "Explain photosynthesis", "Write a haiku about rain",
             "Compare two insurance offers", "Fix the leaking tap", "Tune a guitar by ear"]
    answer = "Here is an answer of some length."
    for number, text in enumerate(texts):
        detect(api, f"h-{number}", text, answer, user_id="many", start=START + number)
    again = detect(api, "h-again", texts[0], answer, user_id="many", start=START + 20)
    expect(again["retry"], None)
    detected = detect(api, "h-again-2", texts[2], answer, user_id="many", start=START + 21)
    expect(detected["retry"], {"original_turn_id": "h-2"})


@SECTION.step("rewards update the Beta posterior: 0.9, error 0.0",
              differs="weights 0.7 and 0.3 weigh the evidence, never the reward: one implicit 0.9 adds 0.3 * 0.9")
def thompson(api):
    one_arm(api, "fast")
    routed(api, "fast", "t-fast", user_id="t1")
    expect(arm(api, "fast"), {"observations": 1, "weight": 0.3, "mean": 1.27 / 2.3})
    one_arm(api, "broken")
    routed(api, "broken", "t-broken", user_id="t2", execution_status="error", execution_error="timeout",
           response_text=None)
    expect(arm(api, "broken"), {"observations": 1, "weight": 0.3, "mean": 1.0 / 2.3})


@SECTION.step("a retry gives 0.3 to the answer that was asked for again",
              differs="the arm that served the earlier turn is credited, not the one that serves the retry")
def retry_credit(api):
    one_arm(api, "retried")
    routed(api, "retried", "t-first", query="What is Python?", user_id="t3")
    # Without a session each query is a conversation. In the same one the repeat also rejects: 0.0.
    detect(api, "t-second", "What is Python?", ANSWER, user_id="t3", start=START + 60)
    # Implicit evidence of 0.3 with reward 0.3: alpha 1.09, beta 1.21. The exact repeat has confidence 1.
    expect(arm(api, "retried"), {"observations": 1, "weight": 0.3, "mean": 1.09 / 2.3})


@SECTION.step("explicit and implicit feedback are one observation: 0.7 * 0.975 + 0.3 * 0.9",
              differs="response_id names the turn of the response; both signals together are one observation of "
              "weight 1, in any order; repeating them changes nothing")
def combined(api):
    one_arm(api, "combined")
    routed(api, "combined", "resp_001", user_id="t4")
    for _ in range(2):
        api.post("/api/v1/rewards", {"response_id": "resp_001", "quality_score": 0.95, "user_rating": 5,
                                     "met_expectations": True})
    expect(arm(api, "combined"), {"observations": 1, "weight": 1.0, "mean": 1.9525 / 3.0})


@SECTION.step("weights and latency thresholds are settings of the router")
def settings(api):
    one_arm(api, "even", explicit_weight=0.5, implicit_weight=0.5, latency_seconds=[1.0, 2.0])
    routed(api, "even", "t-even", user_id="t5")
    expect(arm(api, "even"), {"weight": 0.5, "mean": 1.35 / 2.5})


@SECTION.step("error comes before retry, retry before latency")
def priority(api):
    one_arm(api, "order")
    routed(api, "order", "t-order", user_id="t6", query="What is a list?", execution_status="error",
           execution_error="timeout", response_text=None)
    detect(api, "t-order-2", "What is a list?", ANSWER, user_id="t6", start=START + 30)
    expect(arm(api, "order"), {"weight": 0.3, "mean": 1.0 / 2.3})


@SECTION.step("get_recent_queries and clear_user_history are GET and DELETE on the user's history",
              differs="entries have no embedding: vectors stay in the server")
def history(api):
    # The document's entry, with the response. Entries expire 300 s after their time.
    now = time.time()
    api.turn(query_id="k-1", query_text="What is Python?", timestamp=now - 2.0, model_used="gpt-4o-mini",
             user_id="keeper", response_text=ANSWER)
    recent = api.get("/api/v1/users/keeper/history")["queries"]
    expect(recent, [{"turn_id": "k-1", "text": "What is Python?", "model": "gpt-4o-mini"}])
    api.call("DELETE", "/api/v1/users/keeper/history")
    again = api.turn(query_id="k-2", query_text="What is Python?", timestamp=now - 1.0, user_id="keeper")
    expect(again["retry"], None)


@SECTION.step("a reward may come before its turn and joins it later")
def early_reward(api):
    one_arm(api, "early")
    early = api.post("/api/v1/rewards", {"response_id": "t-early", "quality_score": 0.95, "user_rating": 5,
                                         "met_expectations": True})
    expect(early["pending"], True)
    routed(api, "early", "t-early", user_id="t7")
    expect(arm(api, "early"), {"observations": 1, "weight": 1.0, "mean": 1.9525 / 3.0})


@SECTION.step("a turn shows its reward, from 0 to 1, with its weight")
def turn_reward(api):
    detect(api, "w-1", "What is a tuple?", "A tuple is an immutable sequence.", user_id="w1")
    expect(api.get("/api/v1/turns/w-1"), {"reward": 0.9, "reward_weight": 0.3})
