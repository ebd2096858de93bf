#!/usr/bin/env python3
"""Draws what bench_ablation --out wrote, and prints its table: ablation_chart.py ablation.json dense_ablation.svg

One bar a step, as long as it is faster than the naive program, on a scale of powers of two; it needs matplotlib
(`pip install matplotlib`).
"""
import json
import pathlib
import sys

import results_page

TITLES = {"bytes": "bytes (u8 times s8 in s32)", "float": "f32"}


def rows(runs):
    """(type, step, us, times as fast as naive)"""
    for kind in dict.fromkeys(r["type"] for r in runs):
        steps = [r for r in runs if r["type"] == kind]
        for r in steps:
            yield kind, r["step"], r["us"], steps[0]["us"] / r["us"]


def chart(table):
    kinds = list(dict.fromkeys(kind for kind, *_ in table))
    plot = results_page.pyplot()
    figure, axes = plot.subplots(len(kinds), 1, sharex=True, squeeze=False, figsize=(8.5, 0.3 * len(table) + 0.9 * len(kinds)),
                                 height_ratios=[sum(row[0] == kind for row in table) for kind in kinds])
    for axis, kind in zip(axes[:, 0], kinds):
        steps = [row for row in table if row[0] == kind]
        for y, (_, step, us, ratio) in enumerate(steps):
            axis.barh(y, max(ratio, 1) - 1, left=1, height=0.7, color="#bbbbbb" if step == "default space" else "#2a6fbb")
            axis.annotate(f"{ratio:.1f} x, {us:,.0f} us", (max(ratio, 1), y), (4, 0), textcoords="offset points", va="center",
                          color="#555555", fontsize=8)
        axis.set_title(f"Fused dense, {TITLES.get(kind, kind)}", loc="left", fontsize=9)
        axis.set_yticks(range(len(steps)), [step for _, step, *_ in steps])
        axis.invert_yaxis()
        axis.set_xscale("log", base=2)
        axis.set_xlim(1, 4 * max(row[3] for row in table))
        axis.grid(alpha=0.3, axis="x")
    axes[-1, 0].set_xlabel("times as fast as the naive program; one thread, W bound")
    return figure


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    table = list(rows(json.loads(source.read_text())))
    results_page.save(chart(table), target)
    print("| fused dense | step | us | of naive |\n|---|---|---|---|")
    for kind, step, us, ratio in table:
        print(f"| {TITLES.get(kind, kind)} | {step} | {us:,.0f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
