#!/usr/bin/env python3
"""Runs the examples of the five source documents against a fresh server: run.py URL [--all] [SECTION...]

Each step sends the requests of a document in its own spelling and times. Every answer must be 2xx, and every
figure as the document says, or as the step's "differs" line says. `--all` also runs the steps in PENDING, whose
behaviour is described by numbered lines of issue 24. Exits with 1 if a step fails. Needs only Python 3.
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import seed_000_router  # noqa: E402
import seed_001_conversation  # noqa: E402
import seed_002_relevance  # noqa: E402
import seed_003_reactions  # noqa: E402
import seed_004_service  # noqa: E402
from client import Client, Failed  # noqa: E402

SECTIONS = [
    seed_000_router.SECTION,
    seed_001_conversation.SECTION,
    seed_002_relevance.SECTION,
    seed_003_reactions.SECTION,
    seed_004_service.SECTION,
]
# Steps that wait for a line of the issue. To make one part of the default run, change its `@SECTION.later(N, …)`
# to `@SECTION.step(…)`.
PENDING = [(section, *pending) for section in SECTIONS for pending in section.pending]


def attempt(client, run):
    """Returns the failure's text, or None."""
    try:
        run(client)
    except Failed as failure:
        return str(failure)
    except (KeyError, IndexError, TypeError, StopIteration) as missing:
        return f"the answer lacks a field: {type(missing).__name__} {missing}"
    return None


def main(arguments):
    run_all = "--all" in arguments
    names = [argument for argument in arguments if argument != "--all"]
    if not names or not names[0].startswith("http"):
        print(__doc__, file=sys.stderr)
        return 2
    url, chosen = names[0].rstrip("/"), names[1:]
    failed = passed = 0
    for section in SECTIONS:
        if chosen and section.name not in chosen:
            continue
        client = Client(url, section.tenant, section.project)
        print(f"{section.name}: {section.title}")
        steps = [(text, differs, run) for text, differs, run in section.steps]
        if run_all:
            steps += [(f"issue 24, line {line}: {text}", None, run) for line, text, run in section.pending]
        for text, differs, run in steps:
            failure = attempt(client, run)
            print(f"  {'ok' if failure is None else 'FAILED'}  {text}")
            if differs:
                print(f"      differs: {differs}")
            if failure is not None:
                print(f"      {failure}")
            failed, passed = failed + (failure is not None), passed + (failure is None)
    waiting = 0 if run_all else len(PENDING)
    print(f"{passed} steps passed, {failed} failed, {waiting} wait for issue 24")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
