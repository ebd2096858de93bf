"""The design spaces that TVM's rules generate: its traces must give its functions here too."""

from tvm import IRModule
from tvm.s_tir import meta_schedule
from tvm.s_tir.meta_schedule.testing.te_workload import create_te_workload
from tvm.target import Target

from verdict import Verdict

OPERATORS = [
    "C1D",
    "C2D",
    "C3D",
    "CAP",
    "CBR",
    "DEP",
    "DIL",
    "GMM",
    "GRP",
    "NRM",
    "SFM",
    "T2D",
    "TBG",
]
TARGETS = {
    "llvm": {"kind": "llvm", "mcpu": "x86-64-v3", "num-cores": 4},
    "cuda": "nvidia/nvidia-a100",
}


def verdicts(tool, only=None):
    """Judges every schedule of every space, as the rules leave it and after the postprocessors."""
    for target in TARGETS:
        for operator in OPERATORS:
            if only and operator not in only:
                continue
            context = meta_schedule.TuneContext(
                mod=IRModule({"main": create_te_workload(operator, 0)}),
                target=Target(TARGETS[target]),
                space_generator=meta_schedule.space_generator.PostOrderApply(),
                task_name=operator,
                rand_state=1,
            )
            text = context.mod.script()
            for number, schedule in enumerate(context.generate_design_space()):
                name = f"{operator} {target} {number}"
                yield judge(tool, "space", name, text, schedule)
                if all(p.apply(schedule) for p in context.space_generator.postprocs):
                    yield judge(tool, "postprocessed", name, text, schedule)


def judge(tool, primitive, name, text, schedule):
    v = Verdict("", primitive, name, text, str(schedule.trace), result=schedule.mod.script())
    said = tool.apply(text, v.trace, v.result)
    v.message = said.get("message") or said.get("difference") or ""
    if (
        said["status"] == "different"
        and tool.apply(text, v.trace, v.result, as_tvm=True)["status"] == "same"
    ):
        v.kind = "same under --tvm"
    else:
        v.kind = {
            "same": "same",
            "different": "different",
            "refused": "only Tilewright refuses",
        }.get(said["status"], "not read")
    return v
