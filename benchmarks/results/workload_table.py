#!/usr/bin/env python3
"""Writes the table and the chart of ratios of RESULTS.md from runs of bench_workloads and of peers/python_kernels.py.

  workload_table.py RUN.json... --results RESULTS.md --chart workloads.svg --note "DATE, LOAD, TUNING"

Files are joined by the names of benchmarks; of one that is in several files the fastest counts. The table goes between the
lines `<!-- workloads -->` and `<!-- /workloads -->` of the document. Ratios are the peer's time over Tilewright's, so that
above 1 Tilewright is faster. The chart has a bar for each workload: its fastest peer,
and PyTorch's fastest form where there is one; charts need matplotlib (`pip install matplotlib`).
"""
import argparse
import collections
import json
import math
import pathlib

import results_page

SETS = {"twelve": "The paper's twelve, channels last", "nchw": "Its convolutions, channels first", "beyond": "Beyond",
        "beyond_nchw": "Beyond, channels first",
        "winograd": "Windows of 3x3, W: within Winograd's rounding, where peers compute the convolution itself"}
EQUAL = 0.97  # ratios of runs that differ by noise alone
AXIS, TICKS = (0.5, 10), (0.5, 1, 2, 4, 8)


def read(files):
    """{(threads, set, workload): {engine: us}}, and what was wrong."""
    out, wrong = collections.defaultdict(dict), []
    for file in files:
        for b in json.loads(file.read_text())["benchmarks"]:
            workload, engine, threads = b["name"].split("/")[:3]
            if b.get("error_occurred"):
                if b.get("error_message") != "not offered":
                    wrong.append(f"{workload}, {engine}: {b['error_message']}")
                continue
            if b.get("run_type") == "aggregate":
                continue
            chosen = "beyond_nchw" if b["label"] == "beyond" and workload.endswith("_nchw") else b["label"]
            times = out[(int(threads.split(":")[1]), chosen, workload)]
            times[engine] = min(times.get(engine, math.inf), b["real_time"])
    return out, wrong


def ours(times):
    return min((t for e, t in times.items() if e.startswith("tilewright")), default=None)


def peer(times, accept):
    return min(((t, e) for e, t in times.items() if not e.startswith("tilewright") and accept(e)), default=(None, None))


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def us(t):
    return "-" if t is None else f"{t:.1f}" if t < 100 else f"{t:,.0f}"


def share(t, mine):
    return "-" if t is None else f"{t / mine:.2f}"


COLUMNS = [("oneDNN, user's layout", lambda e: e in ("onednn", "onednn_pypi", "onednn_converted", "onednn_pypi_converted")),
           ("oneDNN, its layout", lambda e: e.endswith("best_layout")),
           ("BLAS", lambda e: e in ("openblas", "openblas_pypi", "blis", "mkl", "libxsmm")),
           ("Eigen", lambda e: e == "eigen"), ("Halide", lambda e: e == "halide"),
           ("PyTorch", lambda e: e.startswith("torch")), ("nest", lambda e: e == "plain")]


def users_layout(engine):
    return not engine.endswith("best_layout") and engine != "torch_channels_last"


def rows(runs, threads, chosen):
    return [(w, times) for (t, s, w), times in runs.items() if t == threads and s == chosen and ours(times)]


def table(runs, wrong):
    out = []
    for threads in sorted({t for t, _, _ in runs}):
        for chosen, title in SETS.items():
            lines = rows(runs, threads, chosen)
            if not lines:
                continue
            first = chosen.endswith("nchw")
            out += [f"### {title}, {threads} thread{'s' if threads > 1 else ''}", "",
                    "| workload | Tilewright, us | fastest peer | over it |" + (" in the user's layout | over it |" if first else "")
                    + "".join(f" {name} |" for name, _ in COLUMNS), "|---" * (4 + 2 * first + len(COLUMNS)) + "|"]
            for workload, times in lines:
                mine = ours(times)
                best, name = peer(times, lambda e: True)
                cells = [workload, us(mine), f"{name}, {us(best)}" if name else "-", share(best, mine)]
                if first:
                    best, name = peer(times, users_layout)
                    cells += [f"{name}, {us(best)}" if name else "-", share(best, mine)]
                cells += [us(peer(times, accept)[0]) for _, accept in COLUMNS]
                out.append("| " + " | ".join(cells) + " |")
            out += ["", "Geometric means of the peers' times over ours: " + means(lines, first) + ".", ""]
    if wrong:
        out += ["Not timed, since their results differ: " + "; ".join(sorted(set(wrong))) + ".", ""]
    return "\n".join(out)


def means(lines, first):
    def of(accept):
        ratios = [best / ours(times) for _, times in lines for best in [peer(times, accept)[0]] if best]
        return f"{mean(ratios):.2f} ({len(ratios)}, least {min(ratios):.2f})" if ratios else None
    parts = [("the fastest of all", of(lambda e: True))]
    if first:
        parts.append(("the fastest in the user's layout", of(users_layout)))
    parts += [(name, of(accept)) for name, accept in COLUMNS]
    return ", ".join(f"{name} {text}" for name, text in parts if text)


def chart(runs):
    threads = min(t for t, _, _ in runs)
    lines = []
    for chosen, title in SETS.items():
        of_set = rows(runs, threads, chosen)
        if of_set:
            lines.append((title, None, None, None))
        for workload, times in of_set:
            accept = users_layout if chosen.endswith("nchw") else (lambda e: True)
            best, name = peer(times, accept)
            torch = peer(times, lambda e: e.startswith("torch"))[0]
            if best:
                lines.append((workload, best / ours(times), name, torch / ours(times) if torch else None))
    plot = results_page.pyplot()
    figure, axis = plot.subplots(figsize=(8.5, 0.23 * len(lines) + 1.2))
    for y, (name, ratio, engine, torch) in enumerate(lines):
        if ratio is None:
            axis.text(0.02, y, name, transform=axis.get_yaxis_transform(), weight="bold", va="center")
            continue
        axis.barh(y, ratio - 1, left=1, height=0.65, color="#2a6fbb" if ratio >= EQUAL else "#c0504d")
        axis.annotate(f"{ratio:.2f} {engine}", (min(max(ratio, 1), AXIS[1]), y), (4, 0), textcoords="offset points", va="center",
                      color="#555555", fontsize=8)
        if torch:
            axis.plot(min(torch, AXIS[1]), y, "o", fillstyle="none", color="#e08a00")
    axis.set_xscale("log", base=2)
    axis.set_xlim(*AXIS)
    axis.set_xticks(TICKS, [f"{t:g}" for t in TICKS])
    axis.set_yticks([y for y, line in enumerate(lines) if line[1]], [line[0] for line in lines if line[1]])
    axis.set_ylim(len(lines) - 0.4, -0.6)
    axis.axvline(1, color="#222222", linewidth=0.8)
    axis.grid(alpha=0.3, axis="x")
    axis.set_xlabel(f"time of the fastest peer over Tilewright's, {threads} thread{'s' if threads > 1 else ''}; above 1 Tilewright is faster\n"
                    "channels first: of peers in that layout; ring: the fastest form of PyTorch")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, help="the document; without it the table is printed")
    parser.add_argument("--chart", type=pathlib.Path)
    parser.add_argument("--note", default="", help="date, load, versions and tuning of these runs")
    options = parser.parse_args()
    runs, wrong = read(options.runs)
    text = (options.note + "\n\n" if options.note else "") + table(runs, wrong)
    if options.results:
        results_page.replace_between(options.results, "workloads", text)
    else:
        print(text)
    if options.chart:
        results_page.save(chart(runs), options.chart)


if __name__ == "__main__":
    main()
