#!/usr/bin/env python3
"""How far whole networks are from double precision, Tilewright's results beside ONNX Runtime's.

    benchmarks/networks/model_errors.py --tool build/bin/tilewright --models build/models resnet50 bert_base

Each network runs in PyTorch in double precision (benchmarks/networks/torch_networks.py), and by `tilewright model run` as the
database NAME.db or, with --saved, the file NAME.THREADS.twm says; ONNX Runtime's results lie beside the network
(tools/models.py). Reported per output are the largest distances relative to the largest element, how many times as far
Tilewright is, and in how many rows of the last dimension the five largest elements are those of ONNX Runtime, in order.
The exit status is 1 where Tilewright is more than twice as far, or more than --tolerance from ONNX Runtime.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import torch
import torch_networks


def in_double_precision(file, name, feeds):
    """Outputs in the order of PyTorch's results."""
    module, inputs = torch_networks.network(file, name, feeds)
    module = module.double()
    inputs = {k: v.double() if v.is_floating_point() else v for k, v in inputs.items()}
    with torch.inference_mode():
        return torch_networks.results(module(**inputs))


def distance(exact, actual):
    return float(numpy.abs(exact - actual).max() / numpy.abs(exact).max())


def same_largest(a, b, count=5):
    """Rows whose largest elements stand at the same places in the same order, and all rows."""
    first, second = (numpy.argsort(-x.reshape(-1, x.shape[-1]), axis=1)[:, :count] for x in (a, b))
    return int((first == second).all(axis=1).sum()), len(first)


def by_tilewright(options, name, threads):
    """What the tool writes, by output."""
    folder = options.models / name
    file, more = folder / (name + ".onnx"), ["--db", str(options.models / (name + ".db")), "--threads", str(threads)]
    if options.saved:
        file, more = options.models / f"{name}.{threads}.twm", ["--threads", str(threads)]
    for f in sorted((folder / "in").glob("*.npy")):
        more += ["--in", f"{f.stem}={f}"]
    with tempfile.TemporaryDirectory() as made:
        expected = sorted((folder / "out").glob("*.npy"))
        for f in expected:
            more += ["--out", f"{f.stem}={made}/{f.name}"]
        subprocess.run([str(options.tool), "model", "run", str(file), *more], check=True, stdout=subprocess.DEVNULL)
        return {f.stem: numpy.load(f"{made}/{f.name}") for f in expected}


def compare(options, name):
    """Whether every output is near enough."""
    folder = options.models / name
    feeds = {f.stem: numpy.load(f) for f in (folder / "in").glob("*.npy")}
    exact = in_double_precision(folder / (name + ".onnx"), name, feeds)
    fine = True
    for threads in options.threads:
        for output, ours in by_tilewright(options, name, threads).items():
            theirs = numpy.load(folder / "out" / (output + ".npy"))
            reference = min((e for e in exact if e.shape == theirs.shape), key=lambda e: distance(e, theirs))
            mine, other, between = distance(reference, ours), distance(reference, theirs), distance(theirs, ours)
            same, rows = same_largest(ours, theirs)
            fine = fine and mine <= 2 * other and between <= options.tolerance
            print(f"{name:14} {output:8} threads {threads}: from f64 {mine:.2e}, ONNX Runtime {other:.2e}, "
                  f"{mine / other:.2f} times; between both {between:.2e}; the five largest agree in {same} of {rows} rows",
                  flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks; all that are there where none is given")
    parser.add_argument("--tool", type=Path, default=Path("build/bin/tilewright"))
    parser.add_argument("--models", type=Path, default=Path("build/models"))
    parser.add_argument("--saved", action="store_true", help="run NAME.THREADS.twm")
    parser.add_argument("--threads", type=int, nargs="*", default=[1])
    parser.add_argument("--tolerance", type=float, default=5e-6, help="from ONNX Runtime")
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = options.names or sorted(f.parent.name for f in options.models.glob("*/about.json"))
    sys.exit(0 if all([compare(options, name) for name in names]) else 1)


if __name__ == "__main__":
    main()
