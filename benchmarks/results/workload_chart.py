#!/usr/bin/env python3
"""Draws the first table of "Workloads" in kernels.md: workload_chart.py kernels.md workloads.svg

One pair of bars a workload: Tilewright, and oneDNN in the faster of its two layouts. Each pair is scaled
to its own faster bar: softmax is bound by memory and exp, and would vanish beside the products.
"""
import pathlib
import sys

ROW, LEFT, FULL = 46, 170, 400


def rows(text):
    """(workload, Tilewright, best of oneDNN) in GFLOP/s."""
    table = text[text.index("## Workloads"):]
    lines = table[table.index("| workload |"):].splitlines()
    for line in lines[2:]:
        if not line.startswith("|"):
            return
        cells = [c.strip() for c in line.strip("|").split("|")]
        yield cells[0], float(cells[1]), max(float(c) for c in cells[3:5] if c != "-")


def draw(table):
    height = ROW * len(table) + 60
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="770" height="{height}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="770" height="{height}" fill="#ffffff"/>']

    def text(x, y, value, anchor="start", color="#222222"):
        out.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{color}">{value}</text>')

    def bar(y, value, best, color, name):
        out.append(f'<rect x="{LEFT}" y="{y}" width="{FULL * value / best:.1f}" height="15" fill="{color}"/>')
        text(LEFT + FULL * value / best + 6, y + 12, f"{value:g} GFLOP/s {name}", color="#555555")

    for number, (name, ours, peer) in enumerate(table):
        y = ROW * number + 20
        text(LEFT - 10, y + 20, name, "end")
        bar(y, ours, max(ours, peer), "#2a6fbb", "Tilewright")
        bar(y + 16, peer, max(ours, peer), "#bbbbbb", "oneDNN")
    text(LEFT, height - 14, "One thread, Zen 5. Longer is faster; each pair is scaled to its faster bar.",
         color="#555555")
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    results, output = map(pathlib.Path, sys.argv[1:])
    output.write_text(draw(list(rows(results.read_text()))))


if __name__ == "__main__":
    main()
