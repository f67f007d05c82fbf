"""Packs the pretrained encoder for a machine with a GPU: pack.py FOLDER OUT.npz

FOLDER holds `model.safetensors` of all-MiniLM-L6-v2 (training/README.md says where it comes from).
Embeddings are rounded to 8 bits a row, the other weights to 16, so that the file is small enough to carry.
"""

import sys

import numpy as np
from safetensors.numpy import load_file

EMBEDDINGS = "embeddings.word_embeddings.weight"


def main(folder, out):
    weights = load_file(f"{folder}/model.safetensors")
    packed = {}
    for name, value in weights.items():
        if name == EMBEDDINGS:
            scale = np.abs(value).max(axis=1, keepdims=True) / 127
            packed["words"] = np.rint(value / np.maximum(scale, 1e-12)).astype(np.int8)
            packed["word_scales"] = scale.astype(np.float32)
        elif value.dtype.kind == "f" and not name.startswith("pooler"):
            packed[name] = value.astype(np.float16 if value.ndim == 2 else np.float32)
    np.savez_compressed(out, **packed)


if __name__ == "__main__":
    main(*sys.argv[1:])
