#!/usr/bin/env python3
"""Runs the node tests of the onnx package through `tilewright model run` and lists what fails.

    tools/node_tests.py --tool build/bin/tilewright [--filter conv] [--jobs 2] [--list rest.tsv]

Each test is one operator with inputs and expected outputs. Lists of integers behind the first input (shapes, axes, pads)
become constants of the model, since shapes have to be known when a model is loaded. Tests whose graphs the reader refuses as not supported
are counted and listed by reason with --verbose.
"""
import argparse
import collections
import concurrent.futures
import re
import subprocess
import tempfile
from pathlib import Path

import numpy
import onnx
from onnx.backend.test.case.node import collect_testcases


# inputs that the shape of an output depends on, and that are no lists of int64 behind the first one
SHAPES = {"ConstantOfShape": [0], "Range": [0, 1, 2], "OneHot": [1], "CumSum": [1], "If": [0],
          "Resize": [1, 2, 3], "Upsample": [1]}


def array_of(x):
    """An array where x is one; types that numpy lacks stay as they are."""
    if isinstance(x, onnx.TensorProto):
        return onnx.numpy_helper.to_array(x)
    return numpy.asarray(x) if isinstance(x, numpy.generic) else x


def run(tool, case, folder, tolerance):
    """(passed, reason)"""
    file = folder / "model.onnx"
    inputs, outputs = ([array_of(a) for a in arrays] for arrays in case.data_sets[0])
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    constants = {i.name for i in graph.initializer}
    names = [i.name for i in graph.input if i.name and i.name not in constants]
    op = case.model.graph.node[0].op_type
    for k, (name, array) in enumerate(zip(names, inputs)):
        is_list = isinstance(array, numpy.ndarray) and array.dtype == numpy.int64 and array.ndim < 2
        if is_list and k > 0 or k in SHAPES.get(op, ()) and isinstance(array, numpy.ndarray):
            graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    constants = {i.name for i in graph.initializer}
    inputs = [a for n, a in zip(names, inputs) if n not in constants]
    names = [n for n in names if n not in constants]
    file.write_bytes(model.SerializeToString())
    command = [str(tool), "model", "run", str(file), "--plain", "--db", ":memory:", "--threads", "1",
               "--tolerance", str(tolerance), "--expect", str(folder)]
    for name, array in zip(names, inputs):
        if not isinstance(array, numpy.ndarray):
            return False, "refused: an input is no tensor"
        path = folder / (re.sub(r"[/:\\]", "_", name) + ".in.npy")
        numpy.save(path, numpy.ascontiguousarray(array).reshape(array.shape))
        command += ["--in", f"{name}={path}"]
    types = {str(a.dtype) for a in [*inputs, *outputs] if isinstance(a, numpy.ndarray)}
    least = 2e-2 if "bfloat16" in types else 2e-3 if "float16" in types else 0
    command[command.index("--tolerance") + 1] = str(max(tolerance, least))
    for out, array in zip(graph.output, outputs):
        if not isinstance(array, numpy.ndarray):
            return False, "refused: an output is no tensor"
        numpy.save(folder / (re.sub(r"[/:\\]", "_", out.name) + ".npy"), array)
    result = subprocess.run(command, capture_output=True, text=True)
    text = (result.stderr.strip() or result.stdout.strip()).replace(str(file) + ": ", "")
    return result.returncode == 0, text.splitlines()[-1] if text else str(result.returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, default=Path("build/bin/tilewright"))
    parser.add_argument("--filter", default="", help="regular expression on the names of tests")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tolerance", type=float, default=5e-4,
                        help="relative to the largest element: expected outputs have four digits; 2e-3 for float16, "
                             "2e-2 for bfloat16")
    parser.add_argument("--operators", type=Path,
                        help="file with names of operators: only tests that use no others, and a table of passes by operator")
    parser.add_argument("--list", type=Path, help="file for a table of all that do not pass, with reasons")
    parser.add_argument("--verbose", action="store_true", help="list what is refused, too")
    options = parser.parse_args()
    cases = [c for c in collect_testcases(None) if re.search(options.filter, c.name)]
    if options.operators:
        named = set(options.operators.read_text().split())
        cases = [c for c in cases if {n.op_type for n in c.model.graph.node} <= named]
    of_operator = collections.defaultdict(lambda: [0, 0])  # passed, all
    passed, failed, refused = 0, [], collections.Counter()
    rest = []
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {}
        for case in cases:
            folder = Path(work) / case.name
            folder.mkdir()
            jobs[pool.submit(run, options.tool, case, folder, options.tolerance)] = case
        for job in concurrent.futures.as_completed(jobs):
            fine, reason = job.result()
            passed += fine
            for op in {n.op_type for n in jobs[job].model.graph.node}:
                of_operator[op][0] += fine
                of_operator[op][1] += 1
            if fine:
                continue
            rest.append((jobs[job].name, reason.removeprefix("tilewright: ")))
            if "refused" in reason or "not supported" in reason or "version" in reason and "nodes" in reason or re.search(r"\(version \d+\)", reason):
                refused[reason if options.verbose else re.sub(r"(node|value|input|output) \S+", r"\1", reason)] += 1
            else:
                failed.append((jobs[job].name, reason))
    if options.list:
        options.list.write_text("".join(f"{name}\t{reason}\n" for name, reason in sorted(rest)))
    if options.operators:
        for op in sorted(named):
            print(f"{op}: {of_operator[op][0]} of {of_operator[op][1]}")
    for name, reason in sorted(failed):
        print(f"FAILED {name}: {reason}")
    for reason, count in refused.most_common():
        print(f"refused {count}: {reason}")
    print(f"{passed} passed, {len(failed)} failed, {sum(refused.values())} refused of {len(cases)}")


if __name__ == "__main__":
    main()
