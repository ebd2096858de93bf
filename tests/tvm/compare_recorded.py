"""Cases that record.py has written: what TVM's own tests schedule."""

import json
import re

from known import NOT_RUN
from verdict import Verdict, kind_of


def verdicts(tool, path):
    seen = set()
    for line in path.read_text().splitlines():
        case = json.loads(line)
        if (case["program"], case["trace"]) not in seen:  # tests replay what they schedule
            seen.add((case["program"], case["trace"]))
            yield judge(tool, case)


def judge(tool, case):
    """No test says which inputs its functions take, so nothing is run."""
    program, trace = case["program"], case["trace"]
    expected = case["result"] if case["outcome"] == "fine" else None
    given = tool.describe(case["intrinsics"])
    said = tool.apply(program, trace, expected, intrinsics=given)
    v = Verdict("", primitive_of(case, said), case["test"], program, trace)
    v.result = expected or ""
    v.message = (
        said.get("message") or said.get("difference") or ("" if expected else case["result"])
    )
    v.theirs = NOT_RUN
    v.kind = kind_of(
        case["outcome"],
        said["status"],
        lambda: tool.apply(program, trace, expected, as_tvm=True, intrinsics=given)["status"],
    )
    return v


def primitive_of(case, said):
    """The one that is refused, or "space", as that of the other whole traces is called."""
    refused = re.match(r"instruction \d+: (\w+):", said.get("message", ""))
    if refused:
        return refused.group(1)
    return "space" if case["outcome"] == "fine" else re.findall(r"sch\.(\w+)\(", case["trace"])[-1]
