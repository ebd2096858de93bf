#!/usr/bin/env python3
"""Compares drawn networks with ONNX Runtime.

    TILEWRIGHT_DRAWN_GRAPHS=1000 TILEWRIGHT_DRAWN_GRAPHS_FOLDER=graphs build/bin/test_model --source-file='*drawn_graphs*'
    tools/drawn_graphs.py graphs

Each folder holds model.onnx, its inputs in.NAME.npy, and out.K.npy, the results of the interpreter. Networks that ONNX
Runtime refuses are counted by reason.
"""
import argparse
import collections
import re
from pathlib import Path

import numpy
import onnxruntime


def difference(expected, actual):
    """Largest difference relative to the largest element; infinite where types, shapes or NaN differ."""
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return float("inf")
    if expected.dtype.kind != "f":
        return 0.0 if numpy.array_equal(expected, actual) else float("inf")
    same = (expected == actual) | (numpy.isnan(expected) & numpy.isnan(actual))
    if same.all():
        return 0.0
    finite = numpy.abs(expected[numpy.isfinite(expected)])
    d = numpy.abs(expected.astype("f8") - actual.astype("f8"))[~same].max()
    return float("inf") if numpy.isnan(d) else d / max(finite.max(initial=0), 1e-30)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tolerance", type=float, default=2e-5)
    options = parser.parse_args()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 4
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    same, different, refused = 0, [], collections.Counter()
    for folder in sorted(options.folder.iterdir()):
        try:
            session = onnxruntime.InferenceSession(str(folder / "model.onnx"), settings, ["CPUExecutionProvider"])
            inputs = {i.name: numpy.load(folder / f"in.{i.name}.npy") for i in session.get_inputs()}
            results = session.run(None, inputs)
        except Exception as problem:  # every kind of refusal is one
            refused[re.sub(r"[\w/.]*drawn\d+|'v\d+'|node v\d+|\(v\d+\)|:v\d+", "_", str(problem))[:160]] += 1
            if "NOT_IMPLEMENTED" not in str(problem):
                print(f"REFUSED {folder.name}: {problem}")
            continue
        worst = max(difference(numpy.load(folder / f"out.{k}.npy"), y) for k, y in enumerate(results))
        if worst <= options.tolerance:
            same += 1
        else:
            different.append((folder.name, worst))
    for name, worst in different:
        print(f"DIFFERENT {name}: {worst:.3g}")
    for reason, count in refused.most_common():
        print(f"refused {count}: {reason}")
    print(f"{same} agree, {len(different)} differ, {sum(refused.values())} refused")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
