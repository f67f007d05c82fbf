"""Parses fenced blocks of a Markdown file and compares output with what a page shows."""

import ast
import json
import re
from dataclasses import dataclass

RUN = {"sh", "python"}
SHOWN = {"json", "text"}


@dataclass
class Block:
    """A fenced block. `line` is the line of its first line in the file."""

    language: str
    mark: str
    text: str
    line: int
    answer: "Block | None" = None


def blocks_of(page):
    """The blocks of a page in order. A command's expected output is in its `answer`."""
    found, opened, last = [], None, None
    for number, line in enumerate(page.splitlines(), 1):
        if opened is None and line.startswith("```"):
            language, _, mark = line[3:].strip().partition(" ")
            opened = Block(language, mark.strip(), "", number + 1)
        elif opened is not None and line.startswith("```"):
            if opened.language in SHOWN and last is not None and last.answer is None:
                last.answer = opened
            last = opened if opened.language in RUN else None
            found.append(opened)
            opened = None
        elif opened is not None:
            opened.text += line + "\n"
        elif line.startswith("#"):
            last = None
    if opened is not None:
        raise ValueError(f"line {opened.line}: the block is not closed")
    return found


def difference(block, printed):
    """Describes the first part of the page's output that `printed` lacks; None when all is there."""
    if block.language == "text":
        lines = [line.strip() for line in printed.splitlines()]
        for wanted in filter(None, map(str.strip, block.text.splitlines())):
            if not any(alike(wanted, line) for line in lines):
                return f"this line was not printed: {wanted}"
        return None
    answers = values_of(printed)
    if not answers:
        return "no JSON was printed"
    return unlike(json.loads(block.text), answers[-1], "the answer")


def values_of(printed):
    """The JSON values or Python literals in the output, in order."""
    values, at = [], 0
    while at < len(printed):
        if printed[at].isspace():
            at += 1
            continue
        end = printed.find("\n", at) % (len(printed) + 1)
        try:
            value, end = json.JSONDecoder().raw_decode(printed, at)
            values.append(value)
        except json.JSONDecodeError:
            try:
                values.append(ast.literal_eval(printed[at:end].strip()))
            except (SyntaxError, ValueError):
                pass
        at = end
    return values


def unlike(wanted, real, where):
    """The path at which `real` lacks a part of `wanted`. Extra fields are allowed; `…` matches anything."""
    if isinstance(wanted, str) and wanted == "…":
        return None
    if isinstance(wanted, dict) and isinstance(real, dict):
        for name, value in wanted.items():
            if name not in real:
                return f"{where} has no {name}"
            if (found := unlike(value, real[name], f"{where}.{name}")) is not None:
                return found
        return None
    if isinstance(wanted, list) and isinstance(real, list):
        return unlike_list(wanted, real, where)
    if isinstance(wanted, str) and isinstance(real, str) and alike(wanted, real):
        return None
    if is_number(wanted) and is_number(real) and abs(wanted - real) <= precision(wanted):
        return None
    if type(wanted) is type(real) and wanted == real:
        return None
    return f"{where} is {json.dumps(real, ensure_ascii=False)[:300]} and not {json.dumps(wanted, ensure_ascii=False)}"


def unlike_list(wanted, real, where):
    """Items must occur in this order, possibly with others between them. `[]` means none."""
    if not wanted and real:
        return f"{where} is not empty"
    at, why = 0, f"{where} is shorter"
    for number, value in enumerate(wanted):
        while at < len(real):
            found = unlike(value, real[at], f"{where}[{number}]")
            at += 1
            if found is None:
                break
            why = found
        else:
            return why
    return None


def alike(wanted, real):
    """True when the text matches; `…` matches anything."""
    pattern = ".*".join(re.escape(part) for part in wanted.split("…"))
    return re.fullmatch(pattern, real, re.DOTALL) is not None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def precision(number):
    """Half a unit of the last written digit; integers are exact."""
    _, _, digits = repr(number).partition(".")
    return 0 if isinstance(number, int) else 0.51 * 10 ** -len(digits)
