"""Recognizes differences that have a reason. The reasons stand in reasons.txt."""

import pathlib
import re
from dataclasses import dataclass

KINDS = {
    "different": "different",
    "refused": "only Tilewright refuses",
    "accepted": "only TVM refuses, also not under --tvm",
}

NOT_RUN = "not run"  # what TVM's result means: any reason may be the one


@dataclass
class Known:
    reason: str
    kind: str
    primitives: list
    theirs: str
    says: re.Pattern  # in the refusal, the first difference, or what is wrong with TVM's result
    row: str


def read(text):
    for entry in text.split("\n\n"):
        lines = [line for line in entry.splitlines() if not line.startswith("#")]
        if lines:
            reason, kind, primitives, theirs = lines[0].split(": ")
            says, row = (line.strip() for line in lines[1:])
            yield Known(
                reason, KINDS[kind], primitives.split(), theirs, re.compile(says, re.S), row
            )


ROWS = list(read((pathlib.Path(__file__).parent / "reasons.txt").read_text()))


def reason(verdict):
    """The word for it, or None. A wrong result of Tilewright is never explained."""
    if verdict.ours.startswith("wrong"):
        return None
    for k in ROWS:
        if (
            k.kind == verdict.kind
            and verdict.primitive in k.primitives
            and (verdict.theirs == NOT_RUN or k.theirs in ("any", verdict.theirs.split(":")[0]))
            and k.says.search(f"{verdict.message}\n{verdict.theirs}")
        ):
            return k.reason
    return None


def check_rows(path):
    """Every row that is named must be there."""
    lines = path.read_text().splitlines()
    for k in ROWS:
        if not any(line.startswith("| " + k.row) for line in lines):
            raise SystemExit(f"{path} has no row that begins with: | {k.row}")
