#!/usr/bin/env python3
"""Schedules of TVM, compiled by TVM and by Tilewright: which code is faster?

  tests/tvm/setup.sh venv
  venv/bin/python tools/tvm_schedules.py FOLDER [--tool build/bin/tilewright] [--count 13] [--seed 1] [--only GMM,DIL]

Draws members of TVM's own design spaces for the twelve operators of the TensorIR paper, COUNT of each, as its rules and
postprocessors leave them; TVM builds each for this machine, and Tilewright replays its trace on TVM's program. One thread,
processor time, the least of all rounds, in turns; outputs are compared first. FOLDER keeps programs, traces and TVM's code,
so that a second run only times. The table has Tilewright's time over TVM's: below 1 Tilewright's code is faster.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import time

import numpy

OPERATORS = "C1D C2D C3D DEP DIL GMM GRP T2D CBR TBG NRM SFM".split()
DRAWS = 40  # of a space, for each member that is wanted: most of some spaces are refused by postprocessors


def target_of_host():
    from tvm.target import Target, codegen

    return Target({"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu(), "num-cores": 1})


def program(name):
    from tvm import IRModule
    from tvm.s_tir.meta_schedule.testing import te_workload

    return IRModule({"main": te_workload.create_te_workload(name, 0)})


def members(name, count, seed):
    """`count` different members of TVM's space for the operator, sketches in turn."""
    from tvm.s_tir import meta_schedule as ms

    rules = {"sch_rules": "from-target", "postprocs": "from-target", "mutator_probs": "from-target"}
    known = set()
    for draw in range(DRAWS * count):
        context = ms.TuneContext(
            mod=program(name),
            target=target_of_host(),
            space_generator=ms.space_generator.PostOrderApply(**rules),
            task_name=name,
            rand_state=seed * 100003 + draw,
        )
        for schedule in context.generate_design_space():
            fits = all(p.apply(schedule) for p in context.space_generator.postprocs)
            trace = str(schedule.trace)
            if not fits or trace in known:
                continue
            known.add(trace)
            yield schedule
            if len(known) == count:
                return


def draw(folder, names, count, seed):
    """Makes what is not yet in the folder."""
    import tvm

    for name in names:
        (folder / f"{name}.py").write_text(program(name).script())
        if (folder / f"{name}.{count - 1}.so").exists():
            continue
        for number, schedule in enumerate(members(name, count, seed)):
            if not (folder / f"{name}.{number}.so").exists():
                (folder / f"{name}.{number}.trace").write_text(str(schedule.trace))
                built = tvm.compile(schedule.mod, target=target_of_host())
                built.export_library(str(folder / f"{name}.{number}.so"))
        print(f"{name}: {len(list(folder.glob(f'{name}.*.so')))} schedules", flush=True)


class Operator:
    """Arguments of one operator, the same for both."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        random = numpy.random.default_rng(1)
        function = program(name)["main"]
        names = re.findall(r"(\w+): T\.Buffer", (folder / f"{name}.py").read_text())  # equal ones are told apart there
        self.parameters = []
        for said, p in zip(names, function.params):
            self.parameters.append((said, [int(n) for n in p.shape], str(p.dtype)))
        self.arrays = [random.uniform(-1, 1, shape).astype(kind) for _, shape, kind in self.parameters]
        for (parameter, _, _), array in zip(self.parameters, self.arrays):
            numpy.save(self.file(parameter), array)

    def file(self, parameter):
        return self.folder / f"{self.name}.{parameter}.npy"

    def tvm(self, number):
        """What TVM's code computes, and a function that times it. // s of processor time"""
        import tvm

        device = tvm.cpu()
        built = tvm.runtime.load_module(str(self.folder / f"{self.name}.{number}.so"))
        arguments = [tvm.runtime.tensor(a, device) for a in self.arrays]
        built["main"](*arguments)
        result = arguments[-1].numpy()
        start = time.thread_time()
        built["main"](*arguments)
        calls = max(1, min(5000, int(5e-3 / max(time.thread_time() - start, 1e-6))))
        evaluator = built.time_evaluator("main", device, number=calls, repeat=1)

        def sample():
            start = time.thread_time()
            evaluator(*arguments)
            return (time.thread_time() - start) / (calls + 1)  # one call warms up

        return result, lambda: min(sample() for _ in range(5))

    def ours(self, tool, number):
        """The same of ours."""
        result = self.folder / f"{self.name}.result.npy"
        command = [tool, "run", str(self.folder / f"{self.name}.py"), "--threads", "1", "--time", "--no-check"]
        command += ["--trace", str(self.folder / f"{self.name}.{number}.trace")]
        command += ["--out", f"{self.parameters[-1][0]}={result}"]
        for parameter, _, _ in self.parameters[:-1]:
            command += ["--in", f"{parameter}={self.file(parameter)}"]

        def sample():
            done = subprocess.run(command, capture_output=True, text=True)
            said = re.search(r"time [0-9.e+-]+ us per call.*?([0-9.e+-]+) us of processor time", done.stdout)
            if not said:
                raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "no time")
            return 1e-6 * float(said.group(1))

        sample()
        return numpy.load(result), sample


def compare(operator, tool, number, rounds):
    """Times of one schedule. // s"""
    expected, theirs = operator.tvm(number)
    try:
        found, ours = operator.ours(tool, number)
    except RuntimeError as e:
        return {"refused": str(e)}
    apart = float(numpy.max(numpy.abs(found - expected)) / max(numpy.max(numpy.abs(expected)), 1e-30))
    if not apart < 1e-4:
        return {"wrong": apart}
    best = [math.inf, math.inf]
    for _ in range(rounds):
        best = [min(best[0], theirs()), min(best[1], ours())]
    return {"tvm": best[0], "tilewright": best[1]}


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def row(name, ratios, other):
    if not ratios:
        return f"| {name} | 0 | | | | {other} |"
    slower = sum(r > 1.5 for r in ratios)
    return f"| {name} | {len(ratios)} | {mean(ratios):.2f} | {max(ratios):.2f} | {slower} | {other} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tool", default="build/bin/tilewright")
    parser.add_argument("--only", default=",".join(OPERATORS))
    parser.add_argument("--count", type=int, default=13, help="schedules of each operator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    o = parser.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    names = o.only.split(",")
    draw(o.folder, names, o.count, o.seed)
    table, every, refused = [], [], 0
    with open(o.folder / "times.jsonl", "a") as times:
        for name in names:
            operator, ratios, other = Operator(o.folder, name), [], 0
            for number in range(o.count):
                if not (o.folder / f"{name}.{number}.so").exists():
                    continue
                said = compare(operator, o.tool, number, o.rounds)
                print(name, number, json.dumps(said), file=times, flush=True)
                if "tvm" in said:
                    ratios.append(said["tilewright"] / said["tvm"])
                else:
                    other += 1
                    print(f"{name}.{number}: {said}", flush=True)
            table.append(row(name, ratios, other))
            every += ratios
            refused += other
    print("| | schedules | Tilewright's time over TVM's | worst | above 1.5 | refused or wrong |\n|---|---|---|---|---|---|")
    print("\n".join(table + [row("all", every, refused)]))


if __name__ == "__main__":
    main()
