"""Reads written dialogues (training/guides/dialogues.md), checks them and joins them with blind labels.

    python3 training/dialogues.py check FILE...              # format, shares, openings; exits with 1 on an error
    python3 training/dialogues.py blind FILE                 # the same dialogues without status and kind, with ids
    python3 training/dialogues.py join RAW LABELS --out FILE # one line per context, with the messages on which
                                                         # writer and labeller agree

A labels file has one line per message: `id status target`, as `blind` numbered them.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

STATUSES = ("rejected", "accepted", "neutral")
KINDS = ("complaint correction fact paste repeat sarcasm dislike giveup thanks praise followup nextitem newtopic "
         "action refine reply mixed quote chat unclear").split()
LANGUAGES = "en de fr es it pt nl pl tr ru ja zh".split()


class FormatError(Exception):
    pass


def unescape(text):
    return re.sub(r"\\(n|\||\\)", lambda m: "\n" if m[1] == "n" else m[1], text.strip())


def speaker(text):
    """Splits `U ann: words` and `> ann: words` after their first character."""
    named = re.match(r"\s*([\w.-]{1,20}):\s?(.*)", text, re.S)
    return (named[1], named[2]) if named else (None, text)


def read_message(line, turns, users):
    parts = [part for part in re.split(r"(?<!\\)\|", line)]
    if len(parts) < 3:
        raise FormatError("expected `> text | status | kind`")
    user, text = speaker(parts[0]) if users else (None, parts[0])
    row = {"user": user, "message": unescape(text), "status": parts[1].strip(), "kind": parts[2].strip(), "hard": False}
    for field in map(str.strip, parts[3:]):
        name, _, value = field.partition("=")
        if field == "hard":
            row["hard"] = True
        elif name in ("wants", "not", "target") and value:
            row[name] = int(value) if name == "target" else unescape(value)
        elif field:
            raise FormatError(f"unknown field {field!r}")
    if row["status"] not in STATUSES:
        raise FormatError(f"status {row['status']!r}, expected one of {', '.join(STATUSES)}")
    if row["kind"] not in KINDS:
        raise FormatError(f"kind {row['kind']!r}, expected one of {', '.join(KINDS)}")
    if not row["message"]:
        raise FormatError("the message is empty")
    own = [n for n, turn in enumerate(turns, 1) if turn["user"] == user]
    row.setdefault("target", own[-1] if own else 0)
    if not 0 <= row["target"] <= len(turns):
        raise FormatError(f"target {row['target']}, the context has {len(turns)} turns")
    return row


def read_context(block, where):
    context = {"turns": [], "messages": []}
    users = False
    for offset, line in block:
        try:
            if line.startswith("@"):
                head = line[1:].split()
                if len(head) < 2 or head[1] not in LANGUAGES:
                    raise FormatError(f"expected `@ domain language`, with a language of {' '.join(LANGUAGES)}")
                context |= {"domain": head[0], "lang": head[1]}
                users = "users" in head[2:]
            elif re.match(r"U\b", line):
                user, text = speaker(line[1:]) if users else (None, line[1:].lstrip().removeprefix(":"))
                context["turns"].append({"user": user, "question": unescape(text), "answer": ""})
            elif line.startswith("A:"):
                if not context["turns"] or context["turns"][-1]["answer"]:
                    raise FormatError("an answer needs a question before it")
                context["turns"][-1]["answer"] = unescape(line[2:])
            elif line.startswith(">"):
                context["messages"].append(read_message(line[1:], context["turns"], users))
            else:
                raise FormatError("expected a line that starts with @, U, A: or >")
        except FormatError as error:
            raise FormatError(f"{where}:{offset}: {error}: {line[:80]}") from None
    first = f"{where}:{block[0][0]}"
    if "lang" not in context:
        raise FormatError(f"{first}: the context has no `@ domain language`")
    if not context["turns"] or not context["messages"] or not all(turn["answer"] for turn in context["turns"]):
        raise FormatError(f"{first}: a context needs turns with answers, and messages")
    return context


def read_file(path):
    """All contexts of a file, and the errors of those that cannot be read."""
    contexts, errors, block = [], [], []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        if line.strip():
            block.append((number, line.rstrip()))
        elif block:
            try:
                contexts.append(read_context(block, path.name))
            except FormatError as error:
                errors.append(str(error))
            block = []
    return contexts, errors


def message_id(path, context, message):
    return f"{path.stem}.{context:02}.{message}"


def check(paths):
    failed = False
    total = collections.Counter()
    openings = collections.Counter()
    seen = set()
    for path in paths:
        contexts, errors = read_file(path)
        for error in errors:
            print(error)
        failed |= bool(errors)
        rows = [row for context in contexts for row in context["messages"]]
        for context in contexts:
            question = context["turns"][0]["question"]
            if (question, context["turns"][0]["answer"]) in seen:
                print(f"{path.name}: repeated context: {question[:60]}")
                failed = True
            seen.add((question, context["turns"][0]["answer"]))
            total["contexts"] += 1
            total["long contexts"] += len(context["turns"]) > 1
            total["contexts with users"] += context["turns"][0]["user"] is not None
            total[f"lang {context['lang']}"] += len(context["messages"])
        for row in rows:
            total["messages"] += 1
            total[row["status"]] += 1
            total["hard"] += row["hard"]
            total["wants"] += "wants" in row
            total[f"kind {row['kind']}"] += 1
            openings[" ".join(row["message"].lower().split()[:3])] += 1
        total["earlier target"] += sum(
            0 < row["target"] < len(context["turns"]) for context in contexts for row in context["messages"])
    for name, count in sorted(total.items()):
        print(f"{name:24} {count}")
    print(f"{'distinct openings':24} {len(openings)} of {total['messages']}; most frequent:",
          ", ".join(f"{words!r} {count}" for words, count in openings.most_common(5)))
    return 1 if failed else 0


def blind(path):
    for number, context in enumerate(read_file(path)[0]):
        print(f"@ {context['lang']}")
        for turn_number, turn in enumerate(context["turns"], 1):
            name = f" {turn['user']}" if turn["user"] else ""
            print(f"U{turn_number}{name}: {json.dumps(turn['question'], ensure_ascii=False)}")
            print(f"A{turn_number}: {json.dumps(turn['answer'], ensure_ascii=False)}")
        for message_number, row in enumerate(context["messages"]):
            name = f" {row['user']}:" if row["user"] else ""
            print(f"{message_id(path, number, message_number)}{name} {json.dumps(row['message'], ensure_ascii=False)}")
        print()


def read_labels(folder):
    given = {}
    for line in (line for path in sorted(folder.glob("*.txt")) for line in path.read_text(encoding="utf-8").splitlines()):
        fields = line.split()
        if len(fields) == 3 and fields[1] in STATUSES and fields[2].isdigit():
            given[fields[0]] = (fields[1], int(fields[2]))
        elif fields:
            print(f"label not understood: {line}", file=sys.stderr)
    return given


def agreed(row, label, counts):
    """The row, or None when the labeller gave another status. A target that they do not share is dropped."""
    if label is None:
        counts["without a label"] += 1
        return None
    counts["labelled"] += 1
    status, target = label
    if status != row["status"]:
        counts[f"writer {row['status']}, labeller {status}"] += 1
        return None
    counts["same status"] += 1
    row = {name: value for name, value in row.items() if value is not None and value is not False}
    if row["target"] == target:
        counts["same target"] += 1
    else:
        del row["target"]
    return row


def join(raw, labels, out):
    given = read_labels(labels)
    counts = collections.Counter()
    with open(out, "w", encoding="utf-8") as sink:
        for path in sorted(raw.glob("*.txt")):
            for number, context in enumerate(read_file(path)[0]):
                rows = [agreed(row, given.get(message_id(path, number, place)), counts)
                        for place, row in enumerate(context["messages"])]
                rows = [row for row in rows if row]
                if not rows:
                    continue
                turns = [{name: value for name, value in turn.items() if value} for turn in context["turns"]]
                sink.write(json.dumps({"group": f"{path.stem}.{number:02}", "domain": context["domain"],
                                       "lang": context["lang"], "turns": turns, "messages": rows},
                                      ensure_ascii=False) + "\n")
    for name, count in sorted(counts.items()):
        print(f"{name:40} {count}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("check", "blind"):
        commands.add_parser(name).add_argument("files", nargs="+", type=pathlib.Path)
    joining = commands.add_parser("join")
    joining.add_argument("raw", type=pathlib.Path, help="folder with written dialogues")
    joining.add_argument("labels", type=pathlib.Path, help="folder with labels")
    joining.add_argument("--out", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "check":
        sys.exit(check(arguments.files))
    if arguments.command == "blind":
        for path in arguments.files:
            blind(path)
    else:
        join(arguments.raw, arguments.labels, arguments.out)


if __name__ == "__main__":
    main()
