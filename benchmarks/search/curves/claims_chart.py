#!/usr/bin/env python3
"""Charts of `search_quality claims FILE SEEDS OTHER TARGET claims.csv`: searches, and models after few programs.

  python3 -m venv venv && venv/bin/pip install matplotlib
  venv/bin/python benchmarks/search/curves/claims_chart.py claims.csv benchmarks/results/claims.svg
"""
import collections
import csv
import sys

PANELS = [("best", "measured candidates", "best of the table / best so far"),
          ("pairs", "programs of the operator that were seen", "pairs in the right order"),
          ("error", "programs of the operator that were seen", "MSE(D)")]


def load(path):
    """{what: {name: [(at, mean, low, high)]}}"""
    out = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path) as file:
        for row in csv.DictReader(file):
            out[row["what"]][row["name"].replace(";", ",")].append(
                tuple(float(row[c]) for c in ("at", "mean", "low", "high")))
    return out


def draw(data, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, len(PANELS), figsize=(5 * len(PANELS), 4.2))
    for axis, (what, x_label, y_label) in zip(axes, PANELS):
        for name, points in data[what].items():
            at, mean, low, high = zip(*sorted(points))
            line, = axis.plot(at, mean, label=name, linewidth=1.4)
            axis.fill_between(at, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
        if what == "best":
            axis.set_xscale("log", base=2)
            axis.set_ylim(0.85, 1.005)
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(load(sys.argv[1]), sys.argv[2])
