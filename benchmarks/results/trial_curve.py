#!/usr/bin/env python3
"""Writes the table and the chart of first trials of RESULTS.md from files of bench_workloads --curves.

  trial_curve.py CURVES.csv... --results RESULTS.md --chart trials.svg --note "DATE, LOAD, SECONDS"

A line of a file is "workload,set,group,threads,seed,trials,seconds": the best time of a session after so many trials. Sessions of a
workload with other seeds are other lines or other files. The best known time of a workload is the least of all its sessions; what a
session has after n trials is the best known time over its own, so that 1 is as good as anything found. Means are geometric,
over workloads, each the geometric mean of its sessions. The table goes between the lines `<!-- trials -->` and `<!-- /trials -->`
of the document, which get a section at its end where they are missing.
"""
import argparse
import collections
import math
import pathlib

BEGIN, END = "<!-- trials -->", "<!-- /trials -->"
SECTION = ("How near the best known time sessions of the workloads above are after few trials; after trial 0 stands the default schedule, which\n"
           "no measurement has chosen. `bench_workloads --curves=FILE` records the sessions, `results/trial_curve.py` makes table and chart.")
AT = (0, 1, 2, 4, 8, 16, 32, 64)
BARS = {("all", 0): 0.90, ("sums", 0): 0.95, ("all", 16): 0.97}
TITLES = {"all": "all", "sums": "products and convolutions", "other": "others"}
COLORS = {"all": "#2a6fbb", "sums": "#e08a00", "other": "#7a7a7a"}


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
    left, top, width, height, low = 60, 30, 560, 280, 0.7
    step = width / (len(AT) - 1)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" height="{top + height + 90}" font-family="sans-serif" '
           f'font-size="12">', f'<rect width="{left + width + 40}" height="{top + height + 90}" fill="#ffffff"/>']

    def y_of(share):
        return top + height * (1 - (max(share, low) - low) / (1 - low))

    def text(x, y, value, anchor="middle", color="#222222"):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{value}</text>')

    for tick in (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0):
        out.append(f'<line x1="{left}" y1="{y_of(tick):.1f}" x2="{left + width}" y2="{y_of(tick):.1f}" stroke="#dddddd"/>')
        text(left - 8, y_of(tick) + 4, f"{tick:.2f}", "end", "#555555")
    for k, n in enumerate(AT):
        text(left + k * step, top + height + 18, n, color="#555555")
    text(left + width / 2, top + height + 38, "trials")
    text(left, top - 12, "best known time over the best so far, geometric mean; diamonds: bars", "start")
    for number, (group, of_group, means) in enumerate(rows(all_shares)):
        points = " ".join(f"{left + k * step:.1f},{y_of(m):.1f}" for k, m in enumerate(means))
        out.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[group]}" stroke-width="2"/>')
        for k, n in enumerate(AT):
            out.append(f'<circle cx="{left + k * step:.1f}" cy="{y_of(means[k]):.1f}" r="3" fill="{COLORS[group]}"/>')
            bar = BARS.get((group, n))
            if bar:
                x, y = left + k * step, y_of(bar)
                out.append(f'<path d="M{x - 6:.1f} {y:.1f} L{x:.1f} {y - 6:.1f} L{x + 6:.1f} {y:.1f} L{x:.1f} {y + 6:.1f} Z" fill="none" '
                           f'stroke="{COLORS[group]}" stroke-width="1.5"/>')
        text(left + 10 + 190 * number, top + height + 66, f"{TITLES[group]} ({len(of_group)})", "start", COLORS[group])
    return "\n".join(out + ["</svg>"]) + "\n"


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
        old = options.results.read_text()
        if BEGIN not in old:
            chart_at = f"results/{options.chart.name}" if options.chart else ""
            old += f"\n## First trials\n\n{SECTION}\n\n" + (f"![first trials]({chart_at})\n\n" if chart_at else "") + f"{BEGIN}\n{END}\n"
        before, behind = old[:old.index(BEGIN) + len(BEGIN)], old[old.index(END):]
        options.results.write_text(f"{before}\n\n{text}\n{behind}")
    else:
        print(text)
    if options.chart:
        options.chart.write_text(chart(all_shares))


if __name__ == "__main__":
    main()
