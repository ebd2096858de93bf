#!/usr/bin/env python3
"""Charts of search quality from the times that search_quality wrote.

  python3 -m venv venv && venv/bin/pip install matplotlib
  venv/bin/python benchmarks/search/curves/search_chart.py quality.csv benchmarks/results/search_quality.svg

Prints a table as well: the mean over workloads of best known time / best time so far.
"""
import collections
import csv
import statistics
import sys

NAMES = {"replay_traces": "random replay", "evolutionary_random": "evolution, random scores",
         "evolutionary": "evolution, boosted trees", "local": "local search, no model"}
COLORS = {"replay_traces": "#999999", "evolutionary_random": "#d08a2e", "evolutionary": "#2a6fbb",
          "local": "#5a9a5a"}


def load(path):
    """{workload: {strategy: {trials: [seconds of each seed]}}}"""
    out = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    with open(path) as file:
        for workload, strategy, _, trials, seconds in csv.reader(file):
            out[workload][strategy][int(trials)].append(float(seconds))
    return out


def best_known(strategies):
    return min(t for curve in strategies.values() for times in curve.values() for t in times)


def table(data):
    print("| trials |", " | ".join(NAMES[s] for s in NAMES if any(s in w for w in data.values())), "|")
    for n in (16, 64, 128, 256, 512, 1024):
        cells = []
        for s in NAMES:
            runs = [(best_known(w), w[s][n]) for w in data.values() if s in w and n in w[s]]
            if runs:
                ratios = [b / t for b, times in runs for t in times]
                cells.append(f"{statistics.mean(ratios):.3f} ({min(ratios):.3f})")
            elif any(s in w for w in data.values()):
                cells.append("-")
        print(f"| {n} | " + " | ".join(cells) + " |")


def draw(data, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    names = sorted(data)
    columns = (len(names) + 1) // 2
    figure, axes = pyplot.subplots(2, columns, figsize=(3.2 * columns, 6), squeeze=False)
    for axis, workload in zip(axes.flat, names):
        best = best_known(data[workload])
        for s in NAMES:
            curve = data[workload].get(s)
            if not curve:
                continue
            x = sorted(curve)
            y = [statistics.mean(best / t for t in curve[n]) for n in x]
            axis.plot(x, y, color=COLORS[s], label=NAMES[s])
            axis.fill_between(x, [best / max(curve[n]) for n in x], [best / min(curve[n]) for n in x],
                              color=COLORS[s], alpha=0.2, linewidth=0)
        axis.set_xscale("log", base=2)
        axis.set_title(workload, fontsize=10)
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(names):]:
        axis.axis("off")
    axes[0][0].set_ylabel("speed / best known")
    axes[1][0].set_ylabel("speed / best known")
    axes[0][0].legend(fontsize=7)
    figure.supxlabel("measured candidates (mean and range of seeds)", fontsize=9)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    measured = load(sys.argv[1])
    table(measured)
    draw(measured, sys.argv[2])
