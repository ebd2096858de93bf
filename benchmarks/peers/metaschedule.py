#!/usr/bin/env python3
"""Searches of TVM's MetaSchedule and of Tilewright on operators of the TensorIR paper, with equal numbers of trials.

  tests/tvm/setup.sh venv && venv/bin/pip install xgboost scipy cloudpickle tornado
  venv/bin/python benchmarks/peers/metaschedule.py tune FOLDER [--tool build/bin/tilewright] [--only NAME,NAME]
  venv/bin/python benchmarks/peers/metaschedule.py time FOLDER [--tool build/bin/tilewright]

`tune` runs what is not yet in FOLDER: programs, TVM's best code, our best trace, and how long each search took. One thread,
programs of TVM's own operators, the same text for both. `time` calls the results of both in turns, outputs compared first,
and prints a table; the fastest of all rounds counts.
"""
import argparse
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import time

OPERATORS = ["GMM", "C1D", "C2D", "CBR", "DEP", "SFM"]
TRIALS = [64, 256]


def target_of_host():
    from tvm.target import Target, codegen
    return Target({"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu(), "num-cores": 1})


def program(name):
    from tvm import IRModule
    from tvm.s_tir.meta_schedule.testing import te_workload
    return IRModule({"main": te_workload.create_te_workload(name, 0)})


def metaschedule(name, folder):
    """One search of TRIALS[-1] trials, whose first TRIALS[0] are what the smaller budget would have run."""
    import tvm
    from tvm.ir.utils import derived_object
    from tvm.s_tir import meta_schedule as ms

    start, ends = time.time(), []

    @derived_object
    class Stamp(ms.measure_callback.PyMeasureCallback):
        def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
            ends.append((len(measure_candidates), time.time() - start))

    mod, target = program(name), target_of_host()
    work = folder / f"{name}.tvm"
    work.mkdir(exist_ok=True)
    callbacks = ms.measure_callback
    patience = 600  # s, for a candidate: on a busy machine a worker takes more than the usual 30 to start
    database = ms.tune_tir(
        mod, target, str(work), TRIALS[-1], num_trials_per_iter=TRIALS[0], seed=42, num_tuning_cores="physical",
        builder=ms.builder.LocalBuilder(timeout_sec=patience), runner=ms.runner.LocalRunner(timeout_sec=patience),
        measure_callbacks=[callbacks.AddToDatabase(), callbacks.RemoveBuildArtifact(), callbacks.UpdateCostModel(), Stamp()])
    records = list(database.get_all_tuning_records())
    out = []
    for trials in TRIALS:
        known = [r for r in records[:trials] if r.run_secs and float(r.run_secs[0]) < 1e9]
        best = min(known, key=lambda r: sum(map(float, r.run_secs)) / len(r.run_secs))
        schedule = tvm.s_tir.Schedule(mod)
        best.trace.apply_to_schedule(schedule, remove_postproc=False)
        built = tvm.compile(schedule.mod, target=target)
        built.export_library(str(folder / f"{name}.tvm.{trials}.so"))
        met, seconds = 0, None
        for count, at in ends:
            met += count
            if seconds is None and met >= trials:
                seconds = at
        out.append({"trials": min(trials, len(records)), "failed": min(trials, len(records)) - len(known),
                    "seconds": seconds if seconds is not None else ends[-1][1],
                    "best": sum(map(float, best.run_secs)) / len(best.run_secs)})
    return out


def tilewright(name, folder, tool, trials):
    start = time.time()
    done = subprocess.run([tool, "tune", str(folder / f"{name}.py"), "--threads", "1", "--trials", str(trials), "--seconds",
                           "36000", "--db", ":memory:", "--json"], capture_output=True, text=True, check=True)
    last = json.loads(done.stdout.strip().splitlines()[-1])
    (folder / f"{name}.{trials}.trace").write_text(last["trace"])
    return {"trials": last["trials"], "failed": sum(last["failures"].values()), "seconds": time.time() - start,
            "best": last["best_seconds"]}


def tune(folder, tool, names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        result = folder / f"{name}.json"
        known = json.loads(result.read_text()) if result.exists() else {}
        (folder / f"{name}.py").write_text(program(name).script())
        if "tvm" not in known:
            known["tvm"] = metaschedule(name, folder)
            result.write_text(json.dumps(known))
        if "tilewright" not in known and pathlib.Path(tool).exists():
            known["tilewright"] = [tilewright(name, folder, tool, trials) for trials in TRIALS]
            result.write_text(json.dumps(known))
        print(name, json.dumps(known), flush=True)


def time_of_tvm(path, mod):
    import numpy
    import tvm
    device = tvm.cpu()
    function = mod["main"]
    shapes = [([int(n) for n in p.shape], str(p.dtype)) for p in function.params]
    random = numpy.random.default_rng(1)
    arguments = [tvm.runtime.tensor(random.uniform(-1, 1, s).astype(t), device) for s, t in shapes]
    built = tvm.runtime.load_module(str(path))
    return lambda: min(built.time_evaluator("main", device, number=1, repeat=5, min_repeat_ms=5)(*arguments).results)


def time_of_ours(name, folder, tool, trials):
    command = [tool, "run", str(folder / f"{name}.py"), "--trace", str(folder / f"{name}.{trials}.trace"), "--threads", "1",
               "--time", "--no-check"]

    def run():
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return 1e-6 * float(re.search(r"time ([0-9.e+-]+) us per call", said).group(1))

    return run


def compare(folder, tool, names, rounds):
    print("| | trials | MetaSchedule | Tilewright | its time over ours | its search | our search |\n|---|---|---|---|---|---|---|")
    for name in names:
        result = folder / f"{name}.json"
        if not result.exists():
            continue
        known = json.loads(result.read_text())
        for i, trials in enumerate(TRIALS):
            if "tilewright" not in known:
                continue
            theirs = time_of_tvm(folder / f"{name}.tvm.{trials}.so", program(name))
            ours = time_of_ours(name, folder, tool, trials)
            best = [1e30, 1e30]
            for _ in range(rounds):
                best = [min(best[0], theirs()), min(best[1], ours())]
            print(f"| {name} | {trials} | {best[0] * 1e6:.1f} us | {best[1] * 1e6:.1f} us | {best[0] / best[1]:.2f} | "
                  f"{known['tvm'][i]['seconds']:.0f} s | {known['tilewright'][i]['seconds']:.0f} s |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tune", "time"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tool", default="build/bin/tilewright")
    parser.add_argument("--only", default=",".join(OPERATORS))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    if arguments.what == "tune":
        tune(arguments.folder, arguments.tool, names)
    else:
        compare(arguments.folder, arguments.tool, names, arguments.rounds)


if __name__ == "__main__":
    main()
