"""Compares the schedules of Tilewright with those of TVM; see README.md."""

import argparse
import collections
import pathlib
import shutil
import sys

import compare_recorded
import compare_spaces
import compare_steps
import known
from tool import Tool
from verdict import KINDS, SETTLED


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the tilewright tool")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="where files go")
    parser.add_argument("--seed", default="1", help="another one draws other steps")
    parser.add_argument("--part", choices=["steps", "spaces"], help="one of the two parts")
    parser.add_argument("--only", nargs="*", help="names of programs or operators")
    parser.add_argument("--recorded", type=pathlib.Path, help="what record.py wrote, and no part")
    o = parser.parse_args()
    known.check_rows(pathlib.Path(__file__).parents[2] / "docs" / "differences.md")
    shutil.rmtree(o.out / "unexplained", ignore_errors=True)
    tool = Tool(o.tool, o.out / "work")
    if o.recorded:
        parts = {"recorded": compare_recorded.verdicts(tool, o.recorded)}
    else:
        parts = {
            "steps": compare_steps.verdicts(tool, o.seed, o.only),
            "spaces": compare_spaces.verdicts(tool, o.only),
        }
    unexplained = []
    for title, verdicts in parts.items():
        if o.part in (None, title):
            unexplained += report(title, verdicts, o.out)
    print(f"{len(unexplained)} unexplained")
    return 1 if unexplained else 0


def report(title, verdicts, out):
    """Prints a table of what came out, and gives those that no row explains."""
    counts, reasons, unexplained = collections.Counter(), collections.Counter(), []
    for v in verdicts:
        counts[v.kind] += 1
        reason = "" if v.kind in SETTLED and not v.ours.startswith("wrong") else known.reason(v)
        if reason is None:
            unexplained.append(v)
            write(v, out / "unexplained" / f"{title}_{len(unexplained)}")
        elif reason:
            reasons[v.kind, reason] += 1
    print(f"\n{title}: {sum(counts.values())}")
    for kind in KINDS:
        if counts[kind]:
            print(f"{counts[kind]:6}  {kind}")
    print("the reasons for differences:")
    for (kind, reason), count in sorted(reasons.items()):
        print(f"{count:6}  {kind}: {reason}")
    sys.stdout.flush()
    return unexplained


def write(v, folder):
    """Leaves the files that `tilewright apply` takes."""
    folder.mkdir(parents=True)
    (folder / "program.py").write_text(v.text)
    (folder / "step.trace").write_text(v.trace)
    expect = ""
    if v.result:
        (folder / "tvm.py").write_text(v.result)
        expect = f" --expect {folder}/tvm.py"
    print(
        f"\nUNEXPLAINED {v.program}: {v.primitive}: {v.kind}; Tilewright's meaning {v.ours}, "
        f"TVM's {v.theirs}\n{v.message}\n"
        f"  tilewright apply {folder}/program.py {folder}/step.trace{expect}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
