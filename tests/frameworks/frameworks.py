#!/usr/bin/env python3
"""Runs the snippets of docs/frameworks.md where their packages are installed, and compares what Tilewright
computes with what the framework does.

    tests/frameworks/frameworks.py pytorch|jax TOOL docs/frameworks.md
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = {"pytorch": ["numpy", "torch", "onnx", "onnxscript"], "jax": ["numpy", "jax", "jax2onnx", "onnx"]}


def snippet(document, framework):
    sections = re.split(r"^## ", document.read_text(), flags=re.MULTILINE)
    (section,) = [s for s in sections if s.lower().startswith(framework)]
    (code,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    return code


def pytorch_net():
    import torch
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 4))


def jax_net():
    import jax
    import numpy
    random = numpy.random.default_rng(1)
    v, w = (random.standard_normal(shape).astype("float32") for shape in ((8, 16), (16, 4)))
    return lambda x: jax.nn.softmax(jax.nn.relu(x @ v) @ w)


def main():
    framework, tool, document = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    missing = [p for p in PACKAGES[framework] if not importlib.util.find_spec(p)]
    if missing:
        print("SKIPPED: this Python lacks " + ", ".join(missing))
        return 0
    import numpy
    code = snippet(document, framework)
    lines = [line for line in code.splitlines() if line.strip()]
    if len(lines) != 3:
        sys.exit(f"the snippet has {len(lines)} lines, and three are promised")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        net = pytorch_net() if framework == "pytorch" else jax_net()
        names = {"net": net}
        exec(code, names)
        x = numpy.random.default_rng(2).standard_normal((2, 8)).astype("float32")
        if framework == "pytorch":
            y = net(names["torch"].from_numpy(x)).detach().numpy()
        else:
            y = numpy.asarray(net(x))
        Path("out").mkdir()
        numpy.save("x.npy", x)
        numpy.save("out/y.npy", y)
        return subprocess.run([str(tool), "model", "run", "net.onnx", "--in", "x=x.npy", "--expect", "out", "--db", ":memory:",
                               "--threads", "1"]).returncode


if __name__ == "__main__":
    sys.exit(main())
