"""Writes the reader's model file from trained weights: export.py reader.npz crates/reader/model/reader.bin

The order of the tensors is that of crates/reader/src/model_file.rs.
"""

import sys

import numpy as np

MAGIC = b"UPTR\x01\0\0\0"
LAYERS = 6
LINEARS = ("query", "key", "value", "output", "norm1", "up", "down", "norm2")


def main(source, out):
    weights = np.load(source)
    parts = [MAGIC]

    def floats(name):
        parts.append(weights[name].astype("<f4").tobytes())

    def matrix(name, scales):
        assert weights[name].dtype == np.int8, f"{name} has no 8-bit weights"
        parts.append(weights[name].tobytes())
        floats(scales)

    matrix("words", "word_scales")
    # Every token is in the first segment, so its constant is added to the positions once.
    parts.append((weights["positions.weight"] + weights["kind"]).astype("<f4").tobytes())
    floats("norm.weight")
    floats("norm.bias")
    for layer in range(LAYERS):
        for name in LINEARS:
            tensor = f"blocks.{layer}.{name}.weight"
            if name.startswith("norm"):
                floats(tensor)
            else:
                matrix(tensor, f"{tensor}.scales")
            floats(f"blocks.{layer}.{name}.bias")
    floats("head.weight")
    floats("head.bias")
    with open(out, "wb") as file:
        file.write(b"".join(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
