"""What became of one step: how the two results compare, and what each of them means."""

import re
from dataclasses import dataclass

from steps import PARAMETER
from tool import alike, buffers

# What these do to the meaning is what the caller asked for.
ASKED = re.compile(
    rf"disable_predication=True|sch\.(unsafe_\w+|annotate_buffer_access)\(|{PARAMETER}"
)
# Of symbolic extents nobody can enumerate the elements, so maps that are said to be injective are
# believed.
BELIEVED, SYMBOLIC = "assume_injective_transform=True", 'Buffer(("'
# Memory of threads outside of the loops that start them: schedules in the middle look so.
UNFINISHED = "execution scope"


@dataclass
class Verdict:
    kind: str  # of KINDS
    primitive: str
    program: str
    text: str  # of the function
    trace: str
    message: str = ""  # of the refusal, or the first difference
    ours: str = "-"  # "right", "wrong: ..." or "-" where it is not known or there is nothing
    theirs: str = "-"
    result: str = ""  # TVM's function


KINDS = [
    "same",
    "same under --tvm",
    "both refuse",
    "TVM breaks, Tilewright refuses",
    "TVM breaks, Tilewright accepts",
    "only TVM refuses",
    "only TVM refuses, also not under --tvm",
    "only Tilewright refuses",
    "different",
    "not read",
]
SETTLED = KINDS[:6]  # what needs no reason, as long as Tilewright's result is right


class Judge:
    def __init__(self, tool):
        self.tool, self.known = tool, {}

    def reference(self, text):
        if text not in self.known:
            self.known[text] = self.tool.run(text)
        return self.known[text]

    def meaning(self, text, result, trace):
        """Whether the result computes what the program computes."""
        if ASKED.search(trace) or not same_parameters(text, result):
            return "-"
        if BELIEVED in trace and SYMBOLIC in text:
            return "-"
        expected, complaint = self.reference(text)
        if expected is None:
            raise RuntimeError(f"a program does not run: {complaint}\n{text}")
        found, complaint = self.tool.run(result)
        if found is None:
            return "-" if UNFINISHED in complaint else "wrong: " + complaint
        return "right" if alike(expected, found) else "wrong: other values"

    def judge(self, scene, text, primitive, step, outcome):
        """The verdict on a step of which `attempt` said what becomes of it in TVM."""
        trace = scene.trace + step
        status, result = outcome
        fine = status == "fine"
        said = self.tool.apply(text, trace, result if fine else None)
        if fine and said.get("file", "").endswith("expected.py"):  # TVM prints no program
            status, fine, said = "fails", False, self.tool.apply(text, trace)
        v = Verdict("", primitive, scene.name, text, trace, result=result if fine else "")
        v.message = said.get("message") or said.get("difference") or ""
        accepted = said["status"] in ("fine", "same", "different")
        if accepted:
            v.ours = self.meaning(text, said["function"], trace)
        if fine and said["status"] != "same":
            v.theirs = self.meaning(text, result, trace)
        v.kind = kind_of(
            status,
            said["status"],
            lambda: self.tool.apply(text, trace, v.result or None, as_tvm=True)["status"],
        )
        return v


def kind_of(theirs, ours, under_tvm):
    """`theirs` is what `attempt` says, `ours` and `under_tvm()` what `apply` does."""
    if ours not in ("fine", "same", "different", "refused"):
        return "not read"
    if theirs == "fine":
        if ours == "same":
            return "same"
        if ours == "refused":
            return "only Tilewright refuses"
        return "same under --tvm" if under_tvm() == "same" else "different"
    if ours == "refused":
        return "both refuse" if theirs == "refused" else "TVM breaks, Tilewright refuses"
    if theirs == "fails":
        return "TVM breaks, Tilewright accepts"
    only = "only TVM refuses"
    return only if under_tvm() == "refused" else only + ", also not under --tvm"


def same_parameters(one, other):
    def read(text):
        signature = re.search(r"def \w+\((.*)\):", text).group(1)
        return [b[1:] for b in buffers(signature, text)]

    return read(one) == read(other)
