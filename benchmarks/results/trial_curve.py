#!/usr/bin/env python3
"""Writes the table and the chart of first trials of RESULTS.md from files of bench_workloads --curves.

  trial_curve.py CURVES.csv... --results RESULTS.md --chart trials.svg --note "DATE, LOAD, SECONDS"

A line of a file is "workload,set,group,threads,seed,trials,seconds": the best time of a session after so many trials. Sessions of a
workload with other seeds are other lines or other files. The best known time of a workload is the least of all its sessions; what a
session has after n trials is the best known time over its own, so that 1 is as good as anything found. Means are geometric,
over workloads, each the geometric mean of its sessions. The table goes between the lines `<!-- trials -->` and `<!-- /trials -->`
of the document, which get a section at its end where they are missing; charts need matplotlib (`pip install matplotlib`).
"""
import argparse
import collections
import math
import pathlib

import results_page

SECTION = ("How near the best known time sessions of the workloads above are after few trials; after trial 0 stands the default schedule, which\n"
           "no measurement has chosen. `bench_workloads --curves=FILE` records the sessions, `results/trial_curve.py` makes table and chart.")
AT = (0, 1, 2, 4, 8, 16, 32, 64)
BARS = {("all", 0): 0.90, ("sums", 0): 0.95, ("all", 16): 0.97}
TITLES = {"all": "all", "sums": "products and convolutions", "other": "others"}


def read(files):
    """{(workload, threads): (group, {seed and file: {trials: seconds}})}"""
    out = {}
    for file in files:
        for line in file.read_text().splitlines():
            workload, _, group, threads, seed, trials, seconds = line.split(",")
            sessions = out.setdefault((workload, int(threads)), (group, collections.defaultdict(dict)))[1]
            sessions[(file, seed)][int(trials)] = float(seconds)
    return out


def after(session, trials):
    """The best time after so many trials, or at the end of a session that had fewer."""
    return session[max(t for t in session if t <= trials)]


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def shares(curves):
    """{workload: (group, [share of the best known after each of AT])}"""
    out = {}
    for (workload, threads), (group, sessions) in curves.items():
        best = min(min(s.values()) for s in sessions.values())
        name = workload if threads == 1 else f"{workload}, {threads} threads"
        out[name] = (group, [mean([best / after(s, n) for s in sessions.values()]) for n in AT])
    return out


def rows(all_shares):
    for group in TITLES:
        of_group = [s for g, s in all_shares.values() if group in ("all", g)]
        if of_group:
            yield group, of_group, [mean([s[k] for s in of_group]) for k in range(len(AT))]


def table(all_shares):
    out = ["| best after trial | " + " | ".join(map(str, AT)) + " |", "|---" * (len(AT) + 1) + "|"]
    verdicts = []
    for group, of_group, means in rows(all_shares):
        out.append(f"| {TITLES[group]} ({len(of_group)}) | " + " | ".join(f"{m:.3f}" for m in means) + " |")
        out.append(f"| least of {TITLES[group]} | " + " | ".join(f"{min(s[k] for s in of_group):.2f}" for k in range(len(AT))) + " |")
        for k, n in enumerate(AT):
            bar = BARS.get((group, n))
            if bar:
                verdicts.append(f"{TITLES[group]} after {n} trials {means[k]:.3f} (bar {bar:.2f}, {'met' if means[k] >= bar else 'missed'})")
    low = sorted((s[0], name) for name, (_, s) in all_shares.items())[:8]
    out += ["", "Geometric means of the best known time over the best so far. " + "; ".join(verdicts) + ".", "",
            "Farthest from the best known before any trial: " + ", ".join(f"{name} {share:.2f}" for share, name in low) + "."]
    return "\n".join(out) + "\n"


def chart(all_shares):
    plot = results_page.pyplot()
    figure, axis = plot.subplots(figsize=(7, 4))
    for group, of_group, means in rows(all_shares):
        line, = axis.plot(range(len(AT)), means, "o-", markersize=4, label=f"{TITLES[group]} ({len(of_group)})")
        bars = [(k, BARS[group, n]) for k, n in enumerate(AT) if (group, n) in BARS]
        if bars:
            axis.plot(*zip(*bars), "D", fillstyle="none", color=line.get_color())
    axis.set_xticks(range(len(AT)), AT)
    axis.set_ylim(None, 1.005)
    axis.set_xlabel("trials (diamonds: what is asked for)")
    axis.set_ylabel("best known time over the best so far")
    axis.grid(alpha=0.3)
    axis.legend(loc="lower right")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("curves", nargs="+", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, help="the document; without it the table is printed")
    parser.add_argument("--chart", type=pathlib.Path)
    parser.add_argument("--note", default="", help="date, load and seconds of these sessions")
    options = parser.parse_args()
    all_shares = shares(read(options.curves))
    text = (options.note + "\n\n" if options.note else "") + table(all_shares)
    if options.results:
        picture = f"\n\n![first trials](results/{options.chart.name})" if options.chart else ""
        results_page.replace_between(options.results, "trials", text, f"## First trials\n\n{SECTION}{picture}")
    else:
        print(text)
    if options.chart:
        results_page.save(chart(all_shares), options.chart)


if __name__ == "__main__":
    main()
