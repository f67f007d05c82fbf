"""Checks exported preference data with `datasets` and TRL's own functions; see check-preferences."""

import os
import sys
import tempfile

# No downloads, no warnings about missing packages.
os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
    HF_DATASETS_DISABLE_PROGRESS_BARS="1",
    TRANSFORMERS_VERBOSITY="error",
    TRANSFORMERS_NO_ADVISORY_WARNINGS="1",
)

from datasets import List, Value, load_dataset  # noqa: E402
from tokenizers import Tokenizer, models  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402
from trl.data_utils import (  # noqa: E402
    is_conversational,
    maybe_apply_chat_template,
    maybe_extract_prompt,
    unpair_preference_dataset,
)

TEXT, NUMBER = Value("string"), Value("float64")
MESSAGES = List({"role": TEXT, "content": TEXT})
PAIR = {"prompt": MESSAGES, "chosen": MESSAGES, "rejected": MESSAGES}
SHAPES = {
    "dpo": PAIR,
    "reward": PAIR,
    "kto": {"prompt": MESSAGES, "completion": MESSAGES, "label": Value("bool")},
    "sft": {"messages": MESSAGES},
    "openai_dpo": {
        "input": {"messages": MESSAGES},
        "preferred_output": MESSAGES,
        "non_preferred_output": MESSAGES,
    },
}
PROVENANCE = {
    "id": TEXT,
    "source": TEXT,
    "margin": NUMBER,
    "confidence": NUMBER,
    "split": TEXT,
    "turn_ids": List(TEXT),
    "conversation_ids": List(TEXT),
    "experiment": TEXT,
    "rewards": List(NUMBER),
    "reward_weights": List(NUMBER),
}
SOURCES = {"correction", "rating", "rephrase", "regeneration", "experiment"}
SPLITS = {"train", "validation", "test"}
# Like many chat templates, it refuses a conversation whose roles do not alternate.
TEMPLATE = """{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('speakers must take turns') }}{% endif %}<{{ m.role }}>{{ m.content }}</>
{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"""


class Wrong(Exception):
    """A file does not match its format."""


def tokenizer():
    words = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    made = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="?")
    made.chat_template = TEMPLATE
    return made


def load(path, folder):
    if os.path.exists(path) and os.path.getsize(path) == 0:
        raise Wrong("the file is empty")
    reader = "parquet" if path.endswith(".parquet") else "json"
    try:
        return load_dataset(reader, data_files=path, split="train", cache_dir=folder)
    except Exception as error:  # whatever it is, the file cannot be read
        cause = str(error.__cause__ or error).splitlines() or [type(error).__name__]
        raise Wrong(f"load_dataset({reader!r}) cannot read it: {cause[0]}") from error


def check_columns(shape, rows):
    for name, expected in {**SHAPES[shape], **PROVENANCE}.items():
        if name not in rows.features:
            raise Wrong(f"no column {name!r}; there are {', '.join(rows.column_names)}")
        if rows.features[name] != expected:
            raise Wrong(f"column {name!r} is {rows.features[name]}, expected {expected}")
    unknown = set(rows.column_names) - set(SHAPES[shape]) - set(PROVENANCE)
    if unknown:
        raise Wrong(f"unknown columns: {', '.join(sorted(unknown))}")


def as_trl(shape, row):
    """Renames OpenAI's fields to TRL's."""
    if shape != "openai_dpo":
        return row
    renamed = {name: value for name, value in row.items() if name not in SHAPES[shape]}
    renamed["prompt"] = row["input"]["messages"]
    renamed["chosen"] = row["preferred_output"]
    renamed["rejected"] = row["non_preferred_output"]
    return renamed


def check_row(row, model, where):
    if not is_conversational(row):
        raise Wrong(f"{where}: TRL does not recognise a conversation")
    answers = [row[name] for name in ("chosen", "rejected", "completion") if name in row]
    for messages in answers:
        if [m["role"] for m in messages] != ["assistant"] or not messages[0]["content"].strip():
            raise Wrong(f"{where}: an answer must be one assistant message that is not empty")
    if "prompt" in row and row["prompt"][-1]["role"] != "user":
        raise Wrong(f"{where}: the prompt does not end with a user message")
    if "messages" in row and row["messages"][-1]["role"] != "assistant":
        raise Wrong(f"{where}: the conversation does not end with an assistant message")
    if "chosen" in row and row["chosen"] == row["rejected"]:
        raise Wrong(f"{where}: chosen and rejected are the same")
    if "prompt" in row and "chosen" in row and maybe_extract_prompt(row)["prompt"] != row["prompt"]:
        raise Wrong(f"{where}: TRL extracts another prompt")
    try:
        text = maybe_apply_chat_template(row, model)
    except Exception as error:
        raise Wrong(f"{where}: TRL cannot apply a chat template: {error}") from error
    for name in ("prompt", "chosen", "rejected", "completion"):
        if name in row and not (isinstance(text[name], str) and text[name].strip()):
            raise Wrong(f"{where}: {name!r} is empty after the chat template")


def check_provenance(row, where, ids, parts):
    """Checks the origin of a row against the rows before it."""
    if row["source"] not in SOURCES or row["split"] not in SPLITS:
        raise Wrong(f"{where}: source {row['source']!r}, split {row['split']!r}")
    if not (0 <= row["margin"] <= 1 and 0 <= row["confidence"] <= 1 and row["turn_ids"]):
        raise Wrong(f"{where}: invalid margin, confidence or turn_ids")
    turns, rewards, weights = row["turn_ids"], row["rewards"], row["reward_weights"]
    if not (len(turns) == len(rewards) == len(weights) and all(0 <= r <= 1 for r in rewards)):
        raise Wrong(f"{where}: rewards {rewards}, weights {weights}")
    if (row["source"] == "experiment") != bool(row["experiment"]):
        raise Wrong(f"{where}: source {row['source']!r}, experiment {row['experiment']!r}")
    if row["id"] in ids:
        raise Wrong(f"{where}: duplicate row")
    ids.add(row["id"])
    for conversation in row["conversation_ids"]:
        if parts.setdefault(conversation, row["split"]) != row["split"]:
            raise Wrong(f"{where}: conversation {conversation!r} is in two splits")


def check(shape, path, model, folder):
    rows = load(path, folder)
    if len(rows) == 0:
        raise Wrong("no rows")
    check_columns(shape, rows)
    ids, parts = set(), {}
    for number, row in enumerate(rows):
        where = f"row {number + 1}"
        empty = [name for name, value in row.items() if value is None]
        if empty:
            raise Wrong(f"{where}: empty: {', '.join(empty)}")
        check_row(as_trl(shape, row), model, where)
        check_provenance(row, where, ids, parts)
    if shape in ("dpo", "reward"):
        # Unpairs the rows as KTO training does, with our extra columns.
        few = rows.select(range(min(len(rows), 100)))
        if len(unpair_preference_dataset(few)) != 2 * len(few):
            raise Wrong("TRL does not split a pair into two rows")
    return len(rows)


def main(arguments):
    failed = False
    model = tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        for argument in arguments:
            shape, _, path = argument.partition("=")
            try:
                if shape not in SHAPES:
                    raise Wrong(f"expected SHAPE=FILE with one of {', '.join(SHAPES)}")
                print(f"{path}: {check(shape, path, model, folder)} rows match {shape}")
            except Wrong as wrong:
                failed = True
                print(f"{argument}: {wrong}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
