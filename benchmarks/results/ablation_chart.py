#!/usr/bin/env python3
"""Draws what bench_ablation --out wrote, and prints its table: ablation_chart.py ablation.json dense_ablation.svg

One bar a step, as long as it is faster than the naive program, on a scale of powers of two.
"""
import json
import math
import pathlib
import sys

ROW, LEFT, UNIT, WIDTH = 24, 170, 62, 780
TITLES = {"bytes": "bytes (u8 times s8 in s32)", "float": "f32"}


def rows(runs):
    """(type, step, us, times as fast as naive)"""
    for kind in dict.fromkeys(r["type"] for r in runs):
        steps = [r for r in runs if r["type"] == kind]
        for r in steps:
            yield kind, r["step"], r["us"], steps[0]["us"] / r["us"]


def draw(table):
    kinds = dict.fromkeys(kind for kind, *_ in table)
    height = ROW * (len(table) + len(kinds)) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']

    def text(x, y, value, anchor="start", color="#222222"):
        out.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{color}">{value}</text>')

    y = 8
    for kind in kinds:
        text(8, y + 16, f"Fused dense, {TITLES.get(kind, kind)}")
        y += ROW
        for _, step, us, ratio in (row for row in table if row[0] == kind):
            length = max(UNIT * math.log2(max(ratio, 1)), 2)
            color = "#bbbbbb" if step == "default space" else "#2a6fbb"
            text(LEFT - 8, y + 15, step, "end")
            out.append(f'<rect x="{LEFT}" y="{y + 3}" width="{length:.1f}" height="16" fill="{color}"/>')
            text(LEFT + length + 6, y + 15, f"{ratio:.1f} x, {us:,.0f} us", color="#555555")
            y += ROW
    text(8, y + 20, "One thread, W bound. Times as fast as the naive program; each further length of a bar is a factor of 2.",
         color="#555555")
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    table = list(rows(json.loads(source.read_text())))
    target.write_text(draw(table))
    print("| fused dense | step | us | of naive |\n|---|---|---|---|")
    for kind, step, us, ratio in table:
        print(f"| {TITLES.get(kind, kind)} | {step} | {us:,.0f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
