#!/usr/bin/env python3
"""Proposes candidates to Tilewright, from outside of it:

  tilewright tune matmul.py --trials 64 --proposer "python3 examples/proposer.py"

A line of JSON in, a line out. This one knows nothing of schedules: it takes one of the fastest traces and leaves out a
decision or two, which are then drawn anew; every fourth time it gives a sketch, all of whose decisions are drawn.
"""
import json
import random
import re
import sys


def with_fewer_decisions(trace, draws):
    lines = trace.split("\n")
    decided = [i for i, line in enumerate(lines) if ", decision=" in line]
    for i in draws.sample(decided, min(len(decided), draws.choice([1, 1, 2]))):
        lines[i] = re.sub(r", decision=(\[[^\]]*\]|[^,)]+)", "", lines[i])
    return "\n".join(lines)


def main():
    sketches, fast, draws = [], [], random.Random()
    for line in sys.stdin:
        said = json.loads(line)
        if "sketches" in said:
            sketches = said["sketches"]
            draws.seed(said["seed"])
        elif "measured" in said:
            fast += [(m["seconds"], m["trace"]) for m in said["measured"] if m["seconds"] is not None]
            fast = sorted(fast)[:8]
        elif "propose" in said:
            traces = []
            for i in range(said["propose"]):
                if not fast or i % 4 == 3:
                    traces.append(draws.choice(sketches))
                else:
                    traces.append(with_fewer_decisions(draws.choice(fast)[1], draws))
            print(json.dumps({"traces": traces}), flush=True)


if __name__ == "__main__":
    main()
