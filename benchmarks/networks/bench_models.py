#!/usr/bin/env python3
"""Whole networks beside ONNX Runtime and PyTorch, in turn in one run, outputs checked first.

    benchmarks/networks/bench_models.py --tool build/bin/tilewright --models build/models --seconds 120 resnet50
    benchmarks/networks/bench_models.py --seconds 0 --peers onnxruntime eager channels_last compile --threads 1 2
    benchmarks/networks/bench_models.py --steps 60 180 480 --markdown mobilenet_v2
    benchmarks/networks/bench_models.py --saved --seconds 0 --costs

Each network is tuned for the given time into a database of its own (kept: a second run goes on from it), compared
with what ONNX Runtime computes, and then both run in blocks that take turns. Reported are medians and minima of all
runs, and the ratio of the medians to each peer: above 1, Tilewright is faster. eager, channels_last and compile are
PyTorch's (benchmarks/networks/torch_networks.py), the last with freezing. tools/models.py makes the networks.

--steps begins with an empty database and times the network after so many seconds of tuning in all. --costs says what
a network takes besides: its slowest kernels and their shares, its arena beside what is alive at once, by how much its
run as a whole is longer than the sum of its kernels in place, and of a saved one the time from the start of a process to
its answer and the resident memory. --markdown writes rows of tables.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy
import onnxruntime


def onnx_runtime(file, feeds, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def peers(network, threads, kinds):
    """Functions that run the network, by name; their outputs are what ONNX Runtime wrote beside it."""
    out = {}
    if "onnxruntime" in kinds:
        out["onnxruntime"] = onnx_runtime(network.file, network.feeds, threads)
    others = [k for k in kinds if k != "onnxruntime"]
    if not others:
        return out
    import torch
    import torch_networks
    torch.set_num_threads(threads)
    expected = [numpy.load(f) for f in sorted((network.folder / "out").glob("*.npy"))]
    with torch.inference_mode():
        for kind, run in torch_networks.peers(network.file, network.name, network.feeds, others).items():
            made = torch_networks.results(run())
            apart = min(torch_networks.difference(expected, order) for order in (made, made[::-1]))
            if apart > 1e-4:
                sys.exit(f"{network.name}: PyTorch's outputs differ by {apart:.2g}")
            out[kind] = torch.inference_mode()(run)
    return out


def timed(run, runs):
    out = []
    for _ in range(runs):
        begin = time.perf_counter()
        run()
        out.append(time.perf_counter() - begin)
    return out


class Network:
    def __init__(self, options, name):
        self.options, self.name = options, name
        self.folder = options.models / name
        self.file = self.folder / (name + ".onnx")
        self.arrays = []
        for f in sorted((self.folder / "in").glob("*.npy")):
            self.arrays += ["--in", f"{f.stem}={f}"]
        self.feeds = {f.stem: numpy.load(f) for f in (self.folder / "in").glob("*.npy")}

    def tool(self, command, file, threads, more):
        """One process; what it prints."""
        result = subprocess.run(self.arguments(command, file, threads, more), capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{self.name}: {result.stderr.strip()}")
        return result.stdout

    def arguments(self, command, file, threads, more):
        return [str(self.options.tool), "model", command, str(file), "--threads", str(threads), *more]

    def tuned(self, threads):
        """The file that runs: a saved network starts sooner than it is read from ONNX."""
        more = ["--db", str(self.options.models / f"{self.name}.db")]
        seconds = self.options.seconds
        if not self.options.saved:
            if seconds:
                self.tool("tune", self.file, threads, [*more, "--seconds", str(seconds)])
            return self.file, more
        saved = self.options.models / f"{self.name}.{threads}.twm"
        if seconds or not saved.exists():
            self.tool("save", self.file, threads, [*more, "--seconds", str(seconds), "--to", str(saved)])
        return saved, []

    def timed_by_tool(self, file, threads, more, runs):
        return json.loads(self.tool("bench", file, threads, [
            *self.arrays, "--expect", str(self.folder / "out"), "--tolerance", str(self.options.tolerance),
            "--runs", str(runs), *more, "--json"]))

    def compare(self, threads, file, more, label):
        """Times the network and its peers in turns, and prints them under this label."""
        first = self.timed_by_tool(file, threads, more, 1)
        others = peers(self, threads, self.options.peers)
        ours, theirs = [], {name: [] for name in others}
        for run in others.values():
            timed(run, 2)
        for _ in range(self.options.rounds):
            time.sleep(self.options.pause)
            ours += self.timed_by_tool(file, threads, more, self.options.runs)["seconds"]
            for name, run in others.items():
                timed(run, 1)  # weights of another one were in the cache
                theirs[name] += timed(run, self.options.runs)
        difference = max(v["difference"] for v in first["outputs"].values())
        self.write(label, threads, ours, theirs, difference)

    def write(self, label, threads, ours, theirs, difference):
        mine, best = statistics.median(ours), min(ours)
        if self.options.markdown:
            cells = [label, str(threads), f"{mine * 1e3:.3g} ms ({best * 1e3:.3g})"]
            for times in theirs.values():
                other = statistics.median(times)
                cells += [f"{other * 1e3:.3g} ms ({min(times) * 1e3:.3g})",
                          f"{other / mine:.2f} ({min(times) / best:.2f})"]
            print("| " + " | ".join([*cells, f"{difference:.2g}"]) + " |", flush=True)
            return
        print(f"{label:14} threads {threads}: tilewright {mine * 1e3:8.3f} ms (at best {best * 1e3:.3f}), "
              f"difference {difference:.2g}")
        for name, times in theirs.items():
            other = statistics.median(times)
            print(f"    {name:14} {other * 1e3:8.3f} ms (at best {min(times) * 1e3:.3f}), "
                  f"ratio {other / mine:.3f} (of the best {min(times) / best:.3f})", flush=True)

    def run(self, threads):
        self.compare(threads, *self.tuned(threads), self.name)

    def run_steps(self, threads):
        """From an empty database on; the file is kept for a look."""
        database = self.options.models / f"{self.name}.{threads}.steps.db"
        for suffix in ("", "-wal", "-shm"):
            Path(str(database) + suffix).unlink(missing_ok=True)
        more, done = ["--db", str(database)], 0
        for seconds in sorted(self.options.steps):
            self.tool("tune", self.file, threads, [*more, "--seconds", str(seconds - done)])
            done = seconds
            self.compare(threads, self.file, more, f"{self.name} after {seconds:g} s")

    def first_answer(self, file, threads):
        """Seconds from the start of a process to its end, and its resident memory at most, in bytes."""
        begin = time.perf_counter()
        process = subprocess.Popen(self.arguments("run", file, threads, self.arrays), stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        if status != 0:
            sys.exit(f"{self.name}: {file} does not run")
        return seconds, used.ru_maxrss * 1024

    def write_overhead(self, threads, more):
        """The network as a whole beside the sum of its kernels, each timed in its place: medians of blocks in turns."""
        whole, kernels = [], []
        for _ in range(self.options.rounds):
            whole.append(statistics.median(self.timed_by_tool(self.file, threads, more, self.options.runs)["seconds"]))
            report = self.tool("report", self.file, threads, more)
            kernels.append(1e-6 * float(re.search(r"([0-9.]+) us in ", report).group(1)))
        share = sorted(100 * (w / k - 1) for w, k in zip(whole, kernels))
        print(f"    whole {statistics.median(whole) * 1e3:.3f} ms, its kernels in place "
              f"{statistics.median(kernels) * 1e3:.3f} ms: {statistics.median(share):+.1f} % "
              f"({share[0]:+.1f} to {share[-1]:+.1f})", flush=True)

    def write_costs(self, threads):
        more = ["--db", str(self.options.models / f"{self.name}.db")]
        lines = self.tool("report", self.file, threads, more).splitlines()
        kernels = sorted((line for line in lines if "% of the roofline" in line and " us in " not in line),
                         key=lambda line: -float(re.search(r"([0-9.]+) us", line).group(1)))
        print(f"{self.name}, threads {threads}: {lines[-1].strip()}")
        for line in kernels[:5]:
            print("    " + " ".join(line.split()))
        self.write_overhead(threads, more)
        if not self.options.saved:
            return
        file, _ = self.tuned(threads)
        plan = json.loads(self.tool("info", file, threads, ["--json"]))
        mapped = plan["file_bytes"] + plan["plans"][0]["arena_bytes"]
        runs = [self.first_answer(file, threads) for _ in range(7)]
        print(f"    saved: first answer {statistics.median(r[0] for r in runs) * 1e3:.0f} ms "
              f"(at best {min(r[0] for r in runs) * 1e3:.0f}), resident {max(r[1] for r in runs) * 1e-6:.1f} MB, "
              f"file and arena {mapped * 1e-6:.1f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks; all that are there where none is given")
    parser.add_argument("--tool", type=Path, default=Path("build/bin/tilewright"))
    parser.add_argument("--models", type=Path, default=Path("build/models"))
    parser.add_argument("--seconds", type=float, default=120, help="of tuning; 0: what the database knows")
    parser.add_argument("--saved", action="store_true",
                        help="time NAME.THREADS.twm, and make it where it is not there or was tuned further")
    parser.add_argument("--steps", type=float, nargs="*", default=[], metavar="S",
                        help="seconds of tuning in all, from an empty database on, after each of which to time")
    parser.add_argument("--costs", action="store_true", help="kernels, arena, first answer and memory in the place of times")
    parser.add_argument("--markdown", action="store_true", help="rows of tables")
    parser.add_argument("--threads", type=int, nargs="*", default=[1])
    parser.add_argument("--peers", nargs="*", default=["onnxruntime"],
                        choices=["onnxruntime", "eager", "channels_last", "compile"])
    parser.add_argument("--tolerance", type=float, default=5e-6,
                        help="largest difference from ONNX Runtime, relative to the largest element")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5, help="in a block")
    parser.add_argument("--pause", type=float, default=0.1, metavar="S",
                        help="before Tilewright's blocks: threads of its peers spin for a while when they have nothing to do")
    options = parser.parse_args()
    names = options.names or sorted(f.parent.name for f in options.models.glob("*/about.json"))
    for name in names:
        for threads in options.threads:
            network = Network(options, name)
            if options.costs:
                network.write_costs(threads)
            elif options.steps:
                network.run_steps(threads)
            else:
                network.run(threads)


if __name__ == "__main__":
    main()
