"""Checks the written corpus: fields, counts, balance, duplicates, groups, openings and leaks.

    python3 training/check_corpus.py            (UPTAKE_DATA=FOLDER adds the check for leaks; --near lists near ones)

Prints the figures, then what is off, and exits 1 if anything is. It changes nothing, and it does not
judge whether a label is right. A leak is a text of ours that is also a whole text in the benchmark's
`detect/*.jsonl`; one that differs in punctuation only, or stands inside a longer text, is near and told
as a note. teacher-pairs.jsonl is made from these files (embed/pairs.py) and not looked at.
"""

import collections
import glob
import json
import os
import re
import sys

import check_dialogues

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
FIELDS = {
    "verdict": {"group": str, "part": str, "domain": str, "lang": str, "prev_user": str, "assistant": str, "user": str,
                "status": str, "correction_type": (str, type(None)), "satisfaction": int, "kind": str, "hard": bool},
    "refusal": {"prompt": str, "response": str, "label": bool, "kind": str, "voice": str},
    "pairs": {"group": str, "domain": str, "lang": str, "a": str, "b": str, "label": bool, "kind": str},
}
LEAST_ROWS = {"verdict": 5_000, "refusal": 1_500, "pairs": 2_000}
VERDICT_KINDS = set("""abandon action chat clarify complaint continue correction decline dislike drilldown filler followup
    newtopic paste praise refine repeat sarcasm slot thanks""".split())
CORRECTIONS = {"explicit", "rephrased", "abandonment"}
# The label that each kind requires; other kinds are unknown.
REFUSAL_KINDS = {"full_compliance": False, "partial_refusal": True, "full_refusal": True}
PAIR_KINDS = {"same": True, "near": False, "step": False}
# Field → minimum number of words from which a match with the benchmark counts as a leak.
LEAK_WORDS = {"verdict": {"user": 5}, "dialogues": {"message": 5}, "refusal": {"response": 8}, "pairs": {"a": 5, "b": 5}}
BENCHMARK_TEXTS = ("prev_user", "assistant", "user", "prompt", "response", "a", "b")
MAX_PRINTED_PROBLEMS = 60

problems = []


def off(what):
    problems.append(what)


def need(holds, what):
    if not holds:
        off(what)


def fold(text):
    return " ".join(text.casefold().split())


def words_only(text):
    return " ".join(re.findall(r"\w+", text.casefold().replace("'", "").replace("’", "")))


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


def written(row):
    """True when a row was written to the plan; parts that begin with "nat-" follow natural writing instead."""
    return not row["part"].startswith("nat-")


def wrong_with(name, row):
    """The first problem with the fields of a row, or None."""
    fields = FIELDS[name]
    if not isinstance(row, dict):
        return "is not an object"
    if set(row) != set(fields):
        return f"missing {sorted(set(fields) - set(row))}, unknown {sorted(set(row) - set(fields))}"
    for field, kind in fields.items():
        # bool is an int to isinstance: exact types only.
        if type(row[field]) not in (kind if isinstance(kind, tuple) else (kind,)):
            return f"{field} is a {type(row[field]).__name__}"
        # A review judges an answer that is not part of the row.
        no_answer = field == "assistant" and row.get("domain") == "review"
        if type(row[field]) is str and not row[field].strip() and not no_answer:
            return f"{field} is empty"
    if "lang" in row and not re.fullmatch("[a-z]{2}", row["lang"]):
        return f"lang is {row['lang']!r}, expected two small letters"
    if name == "verdict":
        return wrong_with_verdict(row)
    kinds = REFUSAL_KINDS if name == "refusal" else PAIR_KINDS
    if row["kind"] not in kinds:
        return f"kind is {row['kind']!r}, expected one of {sorted(kinds)}"
    if row["label"] != kinds[row["kind"]]:
        return f"label is {row['label']} for kind {row['kind']!r}"
    return None


def wrong_with_verdict(row):
    if not re.fullmatch(r"v\d{4}", row["group"]):
        return f"group is {row['group']!r}, expected v and four digits"
    if row["status"] not in ("accepted", "neutral", "rejected"):
        return f"status is {row['status']!r}"
    if row["kind"] not in VERDICT_KINDS:
        return f"kind is {row['kind']!r}, expected one of {sorted(VERDICT_KINDS)}"
    if not 1 <= row["satisfaction"] <= 5:
        return f"satisfaction is {row['satisfaction']}, expected 1 to 5"
    if row["status"] == "rejected" and row["correction_type"] not in CORRECTIONS:
        return f"rejected, but correction_type is {row['correction_type']!r}, expected one of {sorted(CORRECTIONS)}"
    if row["status"] != "rejected" and row["correction_type"] is not None:
        return f"{row['status']}, but correction_type is {row['correction_type']!r}, expected null"
    return None


def rows_of(name):
    """The valid rows of a file, each with its line number."""
    rows = []
    try:
        with open(f"{CORPUS}/{name}.jsonl", encoding="utf-8") as f:
            for at, line in enumerate(f, 1):
                try:
                    row = json.loads(line)
                except ValueError as e:
                    off(f"{name}:{at}: not JSON: {e}")
                    continue
                wrong = wrong_with(name, row)
                if wrong:
                    off(f"{name}:{at}: {wrong}")
                else:
                    rows.append((at, row))
    except (OSError, UnicodeDecodeError) as e:
        off(f"{name}: cannot be read: {e}")
    need(len(rows) >= LEAST_ROWS[name], f"{name}: {len(rows)} sound rows, expected at least {LEAST_ROWS[name]}")
    return rows


def check_verdict_balance(rows):
    rows = [r for _, r in rows]
    states = collections.Counter(r["status"] for r in rows)
    rejected = percent(states["rejected"], len(rows))
    kept = [r for r in rows if written(r) and r["status"] != "rejected"]
    hard = percent(sum(r["hard"] for r in kept), len(kept))
    domains = collections.Counter(fold(r["domain"]) for r in rows)
    wide = [d for d, n in domains.most_common() if n >= 40]
    langs = collections.Counter(r["lang"] for r in rows)
    spoken = [lang for lang, n in langs.items() if lang != "en" and n >= 50]

    print(f"verdict  {len(rows)} rows, {len({r['group'] for r in rows})} groups")
    print("  status    " + ", ".join(f"{s} {n} ({percent(n, len(rows)):.1f}%)" for s, n in states.most_common()))
    print(f"  hard      {hard:.1f}% of {len(kept)} rows that are not rejected, outside the nat- parts")
    print("  parts     " + ", ".join(f"{p} {n}" for p, n in collections.Counter(r["part"] for r in rows).most_common()))
    print("  languages " + ", ".join(f"{lang} {n}" for lang, n in langs.most_common()))
    print(f"  domains   {len(domains)}, of which {len(wide)} with at least 40 rows: " + ", ".join(f"{d} {domains[d]}" for d in wide[:15]) + " …")

    need(30 <= rejected <= 50, f"verdict: {rejected:.1f}% rejected, expected 30 to 50%")
    need(hard >= 40, f"verdict: {hard:.1f}% of what is not rejected (nat- parts aside) is hard, expected at least 40%")
    need(len(wide) >= 15, f"verdict: {len(wide)} domains with at least 40 rows, expected at least 15")
    need(len(spoken) >= 8, f"verdict: {len(spoken)} languages besides English with at least 50 rows, expected at least 8")


def check_openings(rows):
    openings, count = collections.Counter(), 0
    for _, row in rows:
        if written(row):
            count += 1
            first = words_only(row["user"]).split()[:2]
            if len(first) == 2:
                openings[" ".join(first)] += 1
    print(f"  openings  of {count} rows outside the nat- parts: " + ", ".join(f"{o!r} {percent(n, count):.1f}%" for o, n in openings.most_common(5)))
    for opening, n in openings.most_common():
        need(percent(n, count) <= 3, f"verdict: {n} rows ({percent(n, count):.1f}%) open with {opening!r}, expected at most 3%")


def check_groups(rows):
    """Rows of one group stay on one side of a split, so one context must not be in two groups."""
    groups, contexts = collections.defaultdict(dict), collections.defaultdict(dict)
    for at, row in rows:
        context = (fold(row["prev_user"]), fold(row["assistant"]))
        groups[context].setdefault(row["group"], at)
        contexts[row["group"]].setdefault(context, at)
    for (prev_user, _), found in groups.items():
        need(len(found) == 1, f"verdict: one context in groups {', '.join(f'{g} (line {at})' for g, at in found.items())}: {prev_user[:80]!r}")
    for group, found in contexts.items():
        need(len(found) == 1, f"verdict: group {group} has {len(found)} contexts (lines {', '.join(map(str, found.values()))})")


def check_duplicates(name, rows, key, show):
    first, twice = {}, 0
    for at, row in rows:
        k = key(row)
        if k in first:
            twice += 1
            off(f"{name}:{at}: the same as line {first[k]}: {show(row)!r}")
        else:
            first[k] = at
    print(f"{name:8} {twice} duplicates in {len(rows)} rows")


def check_others(refusal, pairs):
    true = sum(r["label"] for _, r in refusal)
    share = percent(true, len(refusal))
    print(f"refusal  {len(refusal)} rows, {true} true ({share:.1f}%): " + ", ".join(f"{k} {n}" for k, n in collections.Counter(r["kind"] for _, r in refusal).most_common()))
    need(35 <= share <= 45, f"refusal: {share:.1f}% of the labels are true, expected 35 to 45%")
    true = sum(r["label"] for _, r in pairs)
    print(f"pairs    {len(pairs)} rows, {len({r['group'] for _, r in pairs})} groups, {true} true ({percent(true, len(pairs)):.1f}%): "
          + ", ".join(f"{k} {n}" for k, n in collections.Counter(r["kind"] for _, r in pairs).most_common()))
    print("  languages " + ", ".join(f"{lang} {n}" for lang, n in collections.Counter(r["lang"] for _, r in pairs).most_common()))
    groups = collections.defaultdict(set)
    for _, row in pairs:
        groups[fold(row["a"])].add(row["group"])
        groups[fold(row["b"])].add(row["group"])
    shared = {text: found for text, found in groups.items() if len(found) > 1}
    for text, found in list(shared.items())[:10]:
        print(f"  note: {text!r} is in groups {', '.join(sorted(found))}")


def benchmark_texts(folder):
    """Every text of the benchmark, with the file and line of its first occurrence."""
    texts = {}
    for path in sorted(glob.glob(f"{folder}/detect/*.jsonl")):
        with open(path, encoding="utf-8") as f:
            for at, line in enumerate(f, 1):
                row = json.loads(line)
                for field in BENCHMARK_TEXTS:
                    if row.get(field):
                        texts.setdefault(fold(row[field]), f"{os.path.basename(path)}:{at} {row.get('set', '')} {field}")
    return texts


def held_inside(texts, ours):
    """Our folded texts that occur inside a longer one, with their positions."""
    by_start, found = collections.defaultdict(list), {}
    for text in ours:
        words = text.split()
        by_start[tuple(words[:5])].append(words)
    for text, where in texts.items():
        words = text.split()
        for at in range(len(words) - 4):
            for mine in by_start.get(tuple(words[at:at + 5]), ()):
                if words[at:at + len(mine)] == mine:
                    found.setdefault(" ".join(mine), where)
    return found


def check_leaks(files, folder, list_near):
    texts = benchmark_texts(folder)
    if not texts:
        off(f"UPTAKE_DATA: no texts in {folder}/detect/*.jsonl")
        return
    ours = collections.defaultdict(list)
    for name, rows in files.items():
        for at, row in rows:
            for field, least in LEAK_WORDS[name].items():
                if len(row[field].split()) >= least:
                    ours[name, fold(row[field])].append((at, row[field]))
    bare = {words_only(text): where for text, where in texts.items()}
    inside = held_inside(texts, {text for _, text in ours})
    leaks, near = 0, []
    for (name, text), found in ours.items():
        line = f"{name}:{','.join(str(at) for at in dict.fromkeys(at for at, _ in found))}: {found[0][1]!r}"
        if text in texts:
            leaks += 1
            off(f"{line} is in the benchmark ({texts[text]})")
        elif words_only(text) in bare:
            near.append(f"{line} is in the benchmark but for punctuation ({bare[words_only(text)]})")
        elif text in inside:
            near.append(f"{line} is inside a text of the benchmark ({inside[text]})")
    print(f"leaks    {leaks} of {len(ours)} texts are in the benchmark's {len(texts)}; {len(near)} more are near" + ("" if list_near else " (--near lists them)"))
    if list_near:
        print("\n".join(f"  note: {n}" for n in near))


def main():
    files = {name: rows_of(name) for name in FIELDS}
    verdict, refusal, pairs = files["verdict"], files["refusal"], files["pairs"]
    check_verdict_balance(verdict)
    check_openings(verdict)
    check_groups(verdict)
    check_others(refusal, pairs)
    natural = [row["user"] for _, row in verdict if not written(row)]
    files["dialogues"] = check_dialogues.check(f"{CORPUS}/dialogues.jsonl", natural, off)
    check_duplicates("verdict", verdict, lambda r: tuple(fold(r[f]) for f in ("prev_user", "assistant", "user")), lambda r: r["user"])
    check_duplicates("refusal", refusal, lambda r: fold(r["response"]), lambda r: r["response"])
    check_duplicates("pairs", pairs, lambda r: tuple(sorted((fold(r["a"]), fold(r["b"])))), lambda r: (r["a"], r["b"]))
    folder = os.environ.get("UPTAKE_DATA")
    if folder:
        check_leaks(files, folder, "--near" in sys.argv[1:])
    else:
        print("leaks    skipped: UPTAKE_DATA is not set")
    if not problems:
        print("the corpus is valid")
        return 0
    print(f"\n{len(problems)} problems:")
    print("\n".join(f"  {p}" for p in problems[:MAX_PRINTED_PROBLEMS]))
    if len(problems) > MAX_PRINTED_PROBLEMS:
        print(f"  … and {len(problems) - MAX_PRINTED_PROBLEMS} more")
    return 1


if __name__ == "__main__":
    sys.exit(main())
