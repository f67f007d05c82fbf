"""Figures and checks of the dialogues: agreement of fields, balance, openings, repeated wording, lengths."""

import collections
import json
import statistics

STATUSES = {"rejected", "accepted", "neutral"}
NGRAM_WORDS = 5
MAX_OPENING_SHARE = 0.02
MIN_DISTINCT_OPENINGS = 0.8
MAX_REPEATED_NGRAMS = 0.03
MIN_HARD_SHARE = 0.25


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def problems_of(dialogue):
    turns, messages = dialogue["turns"], dialogue["messages"]
    if not turns or not messages:
        yield "has no turns or no messages"
    if not all(turn.get("question") and turn.get("answer") for turn in turns):
        yield "has a turn without question or answer"
    for message in messages:
        if message["status"] not in STATUSES or not message["message"].strip():
            yield f"has a message with status {message['status']!r}"
        if not 0 <= message.get("target", 0) <= len(turns):
            yield f"has a message about turn {message['target']} of {len(turns)}"


def words_of(text):
    """Words of a text; characters where a language has no spaces."""
    words = text.lower().split()
    return list(text) if len(words) <= 2 and len(text) > 12 and not text.isascii() else words


def repeated_ngrams(messages):
    """The share of word runs that stand in more than two messages of one language."""
    seen = collections.defaultdict(set)
    for number, (language, text) in enumerate(messages):
        words = words_of(text)
        for at in range(len(words) - NGRAM_WORDS + 1):
            seen[language, " ".join(words[at:at + NGRAM_WORDS])].add(number)
    return sum(len(found) > 2 for found in seen.values()) / max(1, len(seen))


def length_line(name, lengths):
    tenths = statistics.quantiles(lengths, n=10)
    return f"  length    {name}: words at 10, 50 and 90%: {tenths[0]:.0f}, {tenths[4]:.0f}, {tenths[8]:.0f}"


def check(path, natural, report):
    """Prints figures; `report` gets each problem. `natural` are messages of ordinary rows, to compare lengths."""
    dialogues = read(path)
    for number, dialogue in enumerate(dialogues, 1):
        for problem in problems_of(dialogue):
            report(f"dialogues:{number}: {problem}")
    messages = [(dialogue["lang"], message) for dialogue in dialogues for message in dialogue["messages"]]
    count = len(messages)
    states = collections.Counter(message["status"] for _, message in messages)
    languages = collections.Counter(language for language, _ in messages)
    hard = sum(message.get("hard", False) for _, message in messages) / count
    long = sum(len(dialogue["turns"]) > 1 for dialogue in dialogues) / len(dialogues)
    openings = collections.Counter(" ".join(words_of(message["message"])[:3]) for _, message in messages)
    repeated = repeated_ngrams((language, message["message"]) for language, message in messages)
    most, times = openings.most_common(1)[0]
    print(f"dialogues {count} messages in {len(dialogues)} contexts, {long:.0%} of them with several turns")
    print("  status    " + ", ".join(f"{name} {n} ({n / count:.1%})" for name, n in states.most_common()))
    print("  languages " + ", ".join(f"{name} {n}" for name, n in languages.most_common()))
    print(f"  hard      {hard:.1%}")
    print(f"  openings  {len(openings) / count:.1%} distinct; {most!r} {times / count:.2%}")
    print(f"  wording   {repeated:.2%} of runs of {NGRAM_WORDS} words are in more than two messages")
    print(length_line("dialogues", [len(words_of(message["message"])) for _, message in messages]))
    print(length_line("ordinary rows", [len(words_of(text)) for text in natural]))
    contexts = collections.Counter((d["turns"][0]["question"], d["turns"][0]["answer"]) for d in dialogues)
    for (question, _), times in contexts.items():
        if times > 1:
            report(f"dialogues: one context stands {times} times: {question[:80]!r}")
    if not 0.3 <= states["rejected"] / count <= 0.5:
        report(f"dialogues: {states['rejected'] / count:.1%} rejected, expected 30 to 50%")
    if hard < MIN_HARD_SHARE:
        report(f"dialogues: {hard:.1%} hard, expected at least {MIN_HARD_SHARE:.0%}")
    if len(openings) / count < MIN_DISTINCT_OPENINGS or times / count > MAX_OPENING_SHARE and len(most.split()) > 2:
        report(f"dialogues: {len(openings) / count:.1%} distinct openings, expected {MIN_DISTINCT_OPENINGS:.0%}")
    if repeated > MAX_REPEATED_NGRAMS:
        report(f"dialogues: {repeated:.2%} of the wording is repeated, expected at most {MAX_REPEATED_NGRAMS:.0%}")
    return [(number, message) for number, dialogue in enumerate(dialogues, 1) for message in dialogue["messages"]]
