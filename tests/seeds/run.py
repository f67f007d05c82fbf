#!/usr/bin/env python3
"""Runs the examples of the five source documents against a fresh server: run.py URL [SECTION...]

Each step sends the requests of a document in its own spelling and times. Every answer must be 2xx, and every
figure as the document says, or as the step's "differs" line says. Exits with 1 if a step fails. Needs only
Python 3.
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
    if not arguments or not arguments[0].startswith("http"):
        print(__doc__, file=sys.stderr)
        return 2
    url, chosen = arguments[0].rstrip("/"), arguments[1:]
    failed = passed = 0
    for section in SECTIONS:
        if chosen and section.name not in chosen:
            continue
        client = Client(url, section.tenant, section.project)
        print(f"{section.name}: {section.title}")
        for text, differs, run in section.steps:
            failure = attempt(client, run)
            print(f"  {'ok' if failure is None else 'FAILED'}  {text}")
            if differs:
                print(f"      differs: {differs}")
            if failure is not None:
                print(f"      {failure}")
            failed, passed = failed + (failure is not None), passed + (failure is None)
    print(f"{passed} steps passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
