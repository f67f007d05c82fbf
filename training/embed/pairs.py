"""Makes pairs of messages and asks the teacher how alike they are; the pair model learns from it.

    python3 training/embed/pairs.py --table crates/embed/model/table.bin --teacher FOLDER --words words.json \\
        --corpus training/corpus --out training/corpus/teacher-pairs.jsonl

The texts are those of our own corpus and questions made of common words (made.py); the teacher's cosine is
the only target. What the teacher gets wrong (negation, numbers, opposites) the written pairs put right.
"""

import argparse
import glob
import json
import random

import numpy as np
import torch
from transformers import AutoModel

from made import made_pairs
from train import SEED, teach, tokenizer_of, tokens_of


def table_of(path):
    with open(path, "rb") as f:
        data = f.read()
    count, dims = np.frombuffer(data[8:16], "<u4")
    scale = np.frombuffer(data[16:16 + 4 * count], "<f4")
    at = 16 + 8 * count
    rows = np.frombuffer(data[at:at + count * dims], "i1").reshape(count, dims)
    return rows.astype("f4") * scale[:, None]


def our_texts(folder):
    texts = set()
    for path in sorted(glob.glob(f"{folder}/*.jsonl")):
        if "teacher" in path:
            continue
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            if row.get("lang", "en") == "en":
                texts.update(row[f].strip() for f in ("prev_user", "user", "prompt", "a", "b") if f in row)
    return sorted(t for t in texts if 3 <= len(t.split()) <= 40)


def main():
    a = argparse.ArgumentParser()
    for name in ("table", "teacher", "words", "corpus", "out"):
        a.add_argument(f"--{name}", required=True)
    a.add_argument("--near", type=int, default=40_000)
    a.add_argument("--made", type=int, default=16_000)
    a = a.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer, rng = tokenizer_of(a.teacher), random.Random(SEED)

    texts = our_texts(a.corpus)
    table = table_of(a.table)
    vectors = np.stack([table[i].mean(0) if i else table[0] * 0 for i in tokens_of(tokenizer, texts)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    pairs = set()
    alike = torch.tensor(vectors, device=device)
    order = []
    for at in range(0, len(texts), 2048):
        order.append((alike[at:at + 2048] @ alike.T).topk(13, dim=1).indices.cpu().numpy())
    order = np.concatenate(order)
    while len(pairs) < a.near:
        one = rng.randrange(len(texts))
        # The nearest often, the rest of the first dozen sometimes.
        other = int(order[one][min(12, 1 + int(12 * rng.random() ** 2))])
        if one != other:
            pairs.add((texts[min(one, other)], texts[max(one, other)]))
    with open(a.words, encoding="utf-8") as f:
        pairs.update(made_pairs(json.load(f), a.made, rng))

    pairs = sorted(pairs)
    model = AutoModel.from_pretrained(a.teacher, dtype=torch.float16 if device == "cuda" else torch.float32).to(device).eval()
    one = teach(model, [i or [100] for i in tokens_of(tokenizer, [p[0] for p in pairs])], device)
    two = teach(model, [i or [100] for i in tokens_of(tokenizer, [p[1] for p in pairs])], device)
    with open(a.out, "w", encoding="utf-8") as f:
        for (x, y), cosine in zip(pairs, (one * two).sum(1)):
            f.write(json.dumps({"a": x, "b": y, "score": round(float(cosine), 3)}, ensure_ascii=False) + "\n")
    print(f"{len(pairs)} pairs")


main()
