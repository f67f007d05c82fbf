"""Trains the reader: an encoder that reads a message together with the question and the answer before it.

    python3 training/reader/train.py --base base.npz --rows rows.jsonl --out FOLDER [--evaluation evaluation.jsonl]

`base.npz` comes from pack.py, the rows from `uptake-fit reader-rows`. Needs a GPU; some minutes on one. Writes
`reader.npz` (the weights, for export.py) and `folds.jsonl` (each row's scores by a model that did not see its
group). With --evaluation it prints figures on rows that are not trained on. Seeds are fixed.
"""

import argparse
import json
import multiprocessing
import random
import time
import zlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS, DIMS, HEADS, INNER = 6, 384, 12, 1536
CLS, SEP, UNKNOWN, PAD = 101, 102, 100, 0
# Tokens of the longest sequence, as in crates/reader/src/sequence.rs.
MAX_SEQUENCE = 164
STATUSES = ("rejected", "accepted", "neutral")
FOLDS = 5


def sequence(message, question, answer):
    return [CLS, *message, SEP, *question, SEP, *answer, SEP]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(DIMS, DIMS) for _ in range(4))
        self.up, self.down = nn.Linear(DIMS, INNER), nn.Linear(INNER, DIMS)
        self.norm1, self.norm2 = nn.LayerNorm(DIMS, eps=1e-12), nn.LayerNorm(DIMS, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        b, n, _ = x.shape
        split = lambda t: t.view(b, n, HEADS, DIMS // HEADS).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(split(self.query(x)), split(self.key(x)), split(self.value(x)), mask)
        x = self.norm1(x + self.dropout(self.output(mixed.transpose(1, 2).reshape(b, n, DIMS))))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(30522, DIMS), nn.Embedding(512, DIMS)
        self.kind = nn.Parameter(torch.zeros(DIMS))
        self.norm = nn.LayerNorm(DIMS, eps=1e-12)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(2 * DIMS, len(STATUSES))
        self.dropout = nn.Dropout(0.1)

    def load_base(self, path):
        base = np.load(path)
        tensor = lambda name: torch.tensor(base[name].astype(np.float32))
        with torch.no_grad():
            self.words.weight.copy_(tensor("words") * tensor("word_scales"))
            self.positions.weight.copy_(tensor("embeddings.position_embeddings.weight"))
            self.kind.copy_(tensor("embeddings.token_type_embeddings.weight")[0])
            self.norm.weight.copy_(tensor("embeddings.LayerNorm.weight"))
            self.norm.bias.copy_(tensor("embeddings.LayerNorm.bias"))
            names = {
                "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
                "output": "attention.output.dense", "norm1": "attention.output.LayerNorm",
                "up": "intermediate.dense", "down": "output.dense", "norm2": "output.LayerNorm",
            }
            for i, block in enumerate(self.blocks):
                for ours, theirs in names.items():
                    for part in ("weight", "bias"):
                        getattr(getattr(block, ours), part).copy_(tensor(f"encoder.layer.{i}.{theirs}.{part}"))

    def forward(self, ids):
        used = ids != PAD
        x = self.words(ids) + self.positions.weight[: ids.shape[1]] + self.kind
        x = self.dropout(self.norm(x))
        mask = used[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask)
        mean = (x * used[:, :, None]).sum(1) / used.sum(1, keepdim=True)
        return self.head(self.dropout(torch.cat([x[:, 0], mean], 1)))


def quantize(linear):
    """Rounds the weights of a layer to 8 bits per output."""
    with torch.no_grad():
        scale = linear.weight.abs().amax(1, keepdim=True) / 127
        linear.weight.copy_((linear.weight / scale).round().clamp(-127, 127) * scale)


def pad(sequences, device):
    longest = max(map(len, sequences))
    rows = [s + [PAD] * (longest - len(s)) for s in sequences]
    return torch.tensor(rows, device=device)


def row_weight(row, arguments):
    """Hard rows are much more frequent in the corpus than in practice, ordinary ones less. The groups `hard-` hold
    pairs of like wording and other meaning, which teach more than single hard rows."""
    if row["group"].startswith("hard-"):
        return arguments.contrast_weight
    if row["hard"]:
        return arguments.hard_weight
    return arguments.natural_weight if row["part"].startswith("nat-") else 1.0


def examples_of(rows, arguments):
    """Sequences with label and weight. Beside each row: parts of it, and an ordinary next question."""
    for number, row in enumerate(rows):
        label = STATUSES.index(row["status"])
        weight = row_weight(row, arguments)
        message, question, answer = row["ids"]
        yield sequence(message, question, answer), label, weight
        if number % 2 == 0:
            yield sequence(message, question if number % 4 else [], []), label, weight * 0.5
        else:
            other = rows[(number * 7919 + 13) % len(rows)]
            if other["group"] != row["group"] and other["lang"] == row["lang"] and other["ids"][1]:
                yield sequence(other["ids"][1], question, answer), STATUSES.index("accepted"), arguments.moved_weight


def train(rows, arguments, seed, device):
    """Averages the weights of models that saw the rows in another order. Their mean transfers better than each."""
    models = [train_once(rows, arguments, seed + 100 * number, device) for number in range(arguments.models)]
    states = [model.state_dict() for model in models]
    mean = {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
    models[0].load_state_dict(mean)
    return models[0].eval()


def train_once(rows, arguments, seed, device):
    # The head starts alike in all models, or their weights could not be averaged.
    torch.manual_seed(arguments.seed)
    model = Reader()
    model.load_base(arguments.base)
    model.to(device)
    random.seed(seed), torch.manual_seed(seed), np.random.seed(seed)
    examples = list(examples_of(rows, arguments))
    steps = arguments.epochs * len(examples) // arguments.batch
    groups = [{"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 0.01},
              {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=arguments.rate)
    warm = max(1, int(0.06 * steps))
    schedule = lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
    order, at = [], 0
    model.train()
    for step in range(steps):
        if at + arguments.batch > len(order):
            order, at = random.sample(range(len(examples)), len(examples)), 0
        batch = [examples[i] for i in order[at:at + arguments.batch]]
        at += arguments.batch
        ids = pad([b[0] for b in batch], device)
        # Token dropout, not of the marks.
        drop = (torch.rand(ids.shape, device=device) < 0.1) & (ids > 999)
        ids = torch.where(drop, torch.full_like(ids, UNKNOWN), ids)
        with torch.autocast("cuda", torch.bfloat16):
            logits = model(ids)
        weights = torch.tensor([b[2] for b in batch], device=device)
        losses = F.cross_entropy(logits.float(), torch.tensor([b[1] for b in batch], device=device),
                                 reduction="none", label_smoothing=0.03)
        loss = (losses * weights).sum() / weights.sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 400 == 0:
            print(f"  step {step}/{steps} loss {loss.item():.3f}", flush=True)
    return model.eval()


@torch.no_grad()
def scores(model, sequences, device, batch=512):
    out = np.zeros((len(sequences), len(STATUSES)), dtype=np.float32)
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    for at in range(0, len(order), batch):
        part = order[at:at + batch]
        with torch.autocast("cuda", torch.bfloat16):
            out[part] = model(pad([sequences[i] for i in part], device)).float().cpu().numpy()
    return out


def auc(values, labels):
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    for value in np.unique(values):
        same = values == value
        if same.sum() > 1:
            ranks[same] = ranks[same].mean()
    labels = np.asarray(labels, bool)
    positives, negatives = labels.sum(), (~labels).sum()
    return (ranks[labels].sum() - positives * (positives + 1) / 2) / max(1, positives * negatives)


def margin(logits):
    """Log odds of `rejected`."""
    rest = np.logaddexp(logits[:, 1], logits[:, 2])
    return logits[:, 0] - rest


def fold_of(group):
    return zlib.crc32(group.encode()) % FOLDS


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def score_fold(rows, fold, arguments, device):
    """Scores of the rows of one fold, by a model that did not see them."""
    held = [row for row in rows if fold_of(row["group"]) == fold]
    kept = [row for row in rows if fold_of(row["group"]) != fold]
    model = train(kept, arguments, arguments.seed + fold, device)
    logits = scores(model, [sequence(*row["ids"]) for row in held], device)
    print(f"fold {fold}: AUC {auc(margin(logits), [row['status'] == 'rejected' for row in held]):.4f}", flush=True)
    return logits


def save_folds(rows, found, path):
    logits = np.zeros((len(rows), len(STATUSES)), dtype=np.float32)
    for fold, part in enumerate(found):
        logits[[i for i, row in enumerate(rows) if fold_of(row["group"]) == fold]] = part
    with open(path, "w", encoding="utf-8") as file:
        for line in logits:
            file.write(json.dumps({"logits": [round(float(x), 4) for x in line]}) + "\n")


def print_evaluation(model, arguments, device):
    tested = read_jsonl(arguments.evaluation)
    logits = scores(model, [sequence(*row["ids"]) for row in tested], device)
    for name in sorted({row["set"] for row in tested}):
        part = [i for i, row in enumerate(tested) if row["set"] == name]
        figure = auc(margin(logits[part]), [tested[i]["label"] for i in part])
        print(f"{name}: {len(part)} rows, AUC {figure:.4f}", flush=True)
    if arguments.trial:
        np.save(f"{arguments.out}/evaluation.npy", logits.astype(np.float16))


def print_held_out(model, held, device):
    logits = scores(model, [sequence(*row["ids"]) for row in held], device)
    names = sorted({(row["part"][:3], row["hard"], row["lang"] == "en") for row in held})
    for name in names:
        part = [i for i, row in enumerate(held) if (row["part"][:3], row["hard"], row["lang"] == "en") == name]
        labels = [held[i]["status"] == "rejected" for i in part]
        print(f"{name}: {len(part)} rows, AUC {auc(margin(logits[part]), labels):.4f}", flush=True)


def save(model, path):
    weights = {name: value.cpu().numpy() for name, value in model.state_dict().items()}
    words = weights.pop("words.weight")
    scale = np.maximum(np.abs(words).max(axis=1), 1e-12) / 127
    weights["words"] = np.rint(words / scale[:, None]).astype(np.int8)
    weights["word_scales"] = scale
    weights["positions.weight"] = weights["positions.weight"][:MAX_SEQUENCE]
    for name in list(weights):
        if weights[name].ndim == 2 and name.startswith("blocks"):
            scale = np.abs(weights[name]).max(axis=1) / 127
            weights[f"{name}.scales"] = scale
            weights[name] = np.rint(weights[name] / scale[:, None]).astype(np.int8)
    np.savez_compressed(path, **weights)


def main():
    parser = argparse.ArgumentParser()
    for name in ("base", "rows", "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--evaluation")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--hard-weight", type=float, default=0.3)
    parser.add_argument("--contrast-weight", type=float, default=1.0)
    parser.add_argument("--natural-weight", type=float, default=7.0)
    parser.add_argument("--moved-weight", type=float, default=0.7)
    parser.add_argument("--trial", action="store_true", help="writes scores of the evaluation rows, trains no folds")
    arguments = parser.parse_args()
    begun = time.time()
    # Each part is a process of its own: one such small model does not fill a GPU.
    parts = ["all"] if arguments.trial else ["all", *range(FOLDS)]
    with multiprocessing.get_context("spawn").Pool(len(parts)) as pool:
        found = pool.starmap(run_part, [(part, arguments) for part in parts])
    if not arguments.trial:
        save_folds(read_jsonl(arguments.rows), found[1:], f"{arguments.out}/folds.jsonl")
    print(f"done in {time.time() - begun:.0f} s", flush=True)


def run_part(part, arguments):
    """Trains the shipped model, or one without the rows of a fold."""
    device = "cuda"
    rows = read_jsonl(arguments.rows)
    if part != "all":
        return score_fold(rows, part, arguments, device)
    held = [row for row in rows if arguments.trial and fold_of(row["group"]) == 0]
    model = train([row for row in rows if not arguments.trial or fold_of(row["group"]) != 0], arguments, arguments.seed, device)
    for block in model.blocks:
        for linear in (block.query, block.key, block.value, block.output, block.up, block.down):
            quantize(linear)
    save(model, f"{arguments.out}/reader.npz")
    if arguments.evaluation:
        print_evaluation(model, arguments, device)
    if held:
        print_held_out(model, held, device)
    return None


if __name__ == "__main__":
    main()
