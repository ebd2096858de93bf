#!/usr/bin/env python3
"""Searches of TVM's MetaSchedule and of Tilewright on operators of the TensorIR paper, with equal numbers of trials.

  tests/tvm/setup.sh venv && venv/bin/pip install xgboost scipy cloudpickle tornado
  venv/bin/python benchmarks/peers/metaschedule.py tune FOLDER [--tool build/bin/tilewright] [--only NAME,NAME]
  venv/bin/python benchmarks/peers/metaschedule.py time FOLDER [--tool build/bin/tilewright]

`tune` runs what is not yet in FOLDER: programs, TVM's best code, our best trace, and how long each search took. One thread,
programs of TVM's own operators, the same text for both. `time` compares outputs, calls the results of both in turns and
prints a table; the fastest of all rounds counts. Of TVM's records the FINALISTS fastest are called, since one time that a busy machine disturbed
decides nothing then; a session of ours times its own finalists again.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

OPERATORS = ["GMM", "C1D", "C2D", "CBR", "DEP", "SFM", "DIL", "GRP", "T2D", "TBG", "NRM", "C3D"]
TRIALS = [64, 256]
FINALISTS = 5


def target_of_host():
    from tvm.target import Target, codegen
    return Target({"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu(), "num-cores": 1})


def program(name):
    from tvm import IRModule
    from tvm.s_tir.meta_schedule.testing import te_workload
    return IRModule({"main": te_workload.create_te_workload(name, 0)})


def mean(seconds):
    return sum(map(float, seconds)) / len(seconds)


def records_of(name, folder):
    """All records in the order in which they were measured: TVM's own list of them is sorted by time."""
    from tvm.s_tir import meta_schedule as ms
    workload = ms.database.Workload(program(name))
    lines = (folder / f"{name}.tvm" / "database_tuning_record.json").read_text().splitlines()
    return [ms.database.TuningRecord.from_json(json.loads(line)[1], workload) for line in lines]


def fastest_of(records):
    known = [r for r in records if r.run_secs and float(r.run_secs[0]) < 1e9]
    return sorted(known, key=lambda r: mean(r.run_secs))


def library_of(record, path, mod):
    import tvm
    if path.exists():
        return path
    schedule = tvm.s_tir.Schedule(mod)
    record.trace.apply_to_schedule(schedule, remove_postproc=False)
    tvm.compile(schedule.mod, target=target_of_host()).export_library(str(path))
    return path


def libraries_of_tvm(name, folder, trials):
    """Code of the fastest of the first so many records."""
    best = fastest_of(records_of(name, folder)[:trials])[:FINALISTS]
    return [library_of(r, folder / f"{name}.tvm.{trials}.{i}.so", program(name)) for i, r in enumerate(best)]


def metaschedule(name, folder):
    """One search of TRIALS[-1] trials, whose first TRIALS[0] are what the smaller budget would have run."""
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
    ms.tune_tir(
        mod, target, str(work), TRIALS[-1], num_trials_per_iter=TRIALS[0], seed=42, num_tuning_cores="physical",
        builder=ms.builder.LocalBuilder(timeout_sec=patience), runner=ms.runner.LocalRunner(timeout_sec=patience),
        measure_callbacks=[callbacks.AddToDatabase(), callbacks.RemoveBuildArtifact(), callbacks.UpdateCostModel(), Stamp()])
    records, out = records_of(name, folder), []
    for trials in TRIALS:
        known = fastest_of(records[:trials])
        met, seconds = 0, None
        for count, at in ends:
            met += count
            if seconds is None and met >= trials:
                seconds = at
        out.append({"trials": min(trials, len(records)), "failed": min(trials, len(records)) - len(known),
                    "seconds": seconds if seconds is not None else ends[-1][1],
                    "best": mean(known[0].run_secs)})
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


class Turns:
    """Results of both searches on the same data."""

    def __init__(self, name, folder, tool, trials):
        import numpy
        import tvm
        mod, device = program(name), tvm.cpu()
        self.libraries = [tvm.runtime.load_module(str(p)) for p in libraries_of_tvm(name, folder, trials)]
        shapes = [([int(n) for n in p.shape], str(p.dtype)) for p in mod["main"].params]
        random = numpy.random.default_rng(1)
        self.host = [random.uniform(-1, 1, s).astype(t) for s, t in shapes]
        self.arguments = [tvm.runtime.tensor(a, device) for a in self.host]
        head = re.search(r"def main\(.*", (folder / f"{name}.py").read_text())[0]  # the script's names are distinct
        self.device, self.names = device, re.findall(r"(\w+): T\.Buffer", head)
        self.command = [tool, "run", str(folder / f"{name}.py"), "--trace", str(folder / f"{name}.{trials}.trace"),
                        "--threads", "1", "--no-check"]

    def compare(self):
        """Ends the program where what they compute differs."""
        import numpy
        with tempfile.TemporaryDirectory() as place:
            files = [str(pathlib.Path(place) / f"{n}.npy") for n in self.names]
            for file, array in zip(files, self.host):
                numpy.save(file, array)
            more = [part for n, file in zip(self.names[:-1], files) for part in ("--in", f"{n}={file}")]
            subprocess.run([*self.command, *more, "--out", f"{self.names[-1]}={files[-1]}"], check=True, capture_output=True)
            ours = numpy.load(files[-1])
        for library in self.libraries:
            library["main"](*self.arguments)
            theirs = self.arguments[-1].numpy()
            apart = numpy.abs(theirs - ours).max() / numpy.abs(ours).max()
            if not apart < 1e-5:
                sys.exit(f"{self.command[2]}: results differ by {apart:.2g}")

    def theirs(self):
        return min(min(b.time_evaluator("main", self.device, number=1, repeat=5, min_repeat_ms=5)(*self.arguments).results)
                   for b in self.libraries)

    def ours(self):
        said = subprocess.run([*self.command, "--time"], capture_output=True, text=True, check=True).stdout
        return 1e-6 * float(re.search(r"time ([0-9.e+-]+) us per call", said).group(1))


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
            turns = Turns(name, folder, tool, trials)
            turns.compare()
            best = [1e30, 1e30]
            for _ in range(rounds):
                best = [min(best[0], turns.theirs()), min(best[1], turns.ours())]
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
