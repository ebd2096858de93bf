#!/usr/bin/env python3
"""Charts of `search_quality claims FILE SEEDS OTHER TARGET claims.csv`: searches, trials to 95 and 99 % of the best, and
models after few programs; in a file of their own the ablations of the network, which differ in how it was trained. Reads
claims.csv and the searches in claims.csv.runs beside it.

  python3 -m venv venv && venv/bin/pip install matplotlib
  venv/bin/python benchmarks/search/curves/claims_chart.py claims.csv benchmarks/results/claims.svg benchmarks/results/ablations.svg
"""
import collections
import csv
import sys

PANELS = [("best", "measured candidates", "best of the table / best so far"),
          ("pairs", "programs of the operator that were seen", "pairs in the right order"),
          ("error", "programs of the operator that were seen", "MSE(D)")]
SHARES = [0.95, 0.99]
ABLATIONS = "network"  # how the names of models begin that the ablations are about


def load(path):
    """{what: {name: [(at, mean, low, high)]}}"""
    out = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path) as file:
        for row in csv.DictReader(file):
            out[row["what"]][row["name"].replace(";", ",")].append(
                tuple(float(row[c]) for c in ("at", "mean", "low", "high")))
    return out


def trials(path):
    """{name: [mean number of trials to each of SHARES]}, of the searches on the tables of this machine; a search that is
    never there counts one trial more than it had."""
    met = collections.defaultdict(lambda: [[] for _ in SHARES])
    with open(path) as file:
        for line in file:
            title, numbers = line.rstrip("\n").split("\t")
            name, place = title.rsplit(" ", 3)[:2]
            if place != "here":
                continue
            curve = [float(x) for x in numbers.split()[1:]]
            for share, list_ in zip(SHARES, met[name]):
                list_.append(next((i for i, x in enumerate(curve) if x >= share), len(curve)) + 1)
    return {name: [sum(m) / len(m) for m in lists] for name, lists in met.items()}


def is_ablation(name):
    """The one network that the other panels show, too, is the pretrained one."""
    return name.startswith(ABLATIONS) and not name.endswith("(b)")


def draw_ablations(data, path):
    """Bars in groups, one for each number of programs; what all but the first are compared with is (b)."""
    from matplotlib import pyplot
    panels = [("pairs", "pairs in the right order"), ("error", "MSE(D)")]
    figure, axes = pyplot.subplots(1, len(panels), figsize=(6 * len(panels), 4.2))
    for axis, (what, label) in zip(axes, panels):
        models = {name: sorted(points) for name, points in data[what].items() if name.startswith(ABLATIONS)}
        width = 0.8 / max(len(models), 1)
        for i, (name, points) in enumerate(models.items()):
            at, mean, low, high = zip(*points)
            axis.bar([k + i * width for k in range(len(at))], mean, width, label=name, capsize=1.5,
                     yerr=[[m - l for m, l in zip(mean, low)], [h - m for m, h in zip(mean, high)]],
                     error_kw={"linewidth": 0.7})
            axis.set_xticks([k + 0.4 - width / 2 for k in range(len(at))], [f"{int(n)}" for n in at])
        axis.set_xlabel("programs of the operator that were seen")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3, axis="y")
    axes[0].set_ylim(0.5, None)
    axes[0].legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def draw(data, reached, path):
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, len(PANELS) + 1, figsize=(5 * len(PANELS) + 5, 4.6))
    for axis, (what, x_label, y_label) in zip(axes, PANELS):
        shown = [(name, points) for name, points in data[what].items() if what == "best" or not is_ablation(name)]
        for i, (name, points) in enumerate(shown):
            at, mean, low, high = zip(*sorted(points))
            line, = axis.plot(at, mean, label=name, linewidth=1.4, linestyle="-" if i < 10 else "--")
            axis.fill_between(at, low, high, color=line.get_color(), alpha=0.08, linewidth=0)
        if what == "best":
            axis.set_xscale("log", base=2)
            axis.set_ylim(0.5, 1.005)
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    names = sorted(reached, key=lambda n: reached[n])
    for k, share in enumerate(SHARES):
        axes[-1].barh([i + 0.4 * k for i in range(len(names))], [reached[n][k] for n in names], height=0.38,
                      label=f"{share:.0%} of the best")
    axes[-1].set_yticks([i + 0.2 for i in range(len(names))], names, fontsize=7)
    axes[-1].set_xlabel("measured candidates until there")
    axes[-1].grid(alpha=0.3, axis="x")
    axes[-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "claims"  # the same figures give the same file
    found = load(sys.argv[1])
    draw(found, trials(sys.argv[1] + ".runs"), sys.argv[2])
    if len(sys.argv) == 4:
        draw_ablations(found, sys.argv[3])
