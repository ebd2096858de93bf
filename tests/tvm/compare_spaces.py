"""The design spaces that TVM's rules generate: its traces must give its functions here too."""

from tvm import IRModule, te
from tvm.s_tir import meta_schedule
from tvm.s_tir.meta_schedule.testing import te_workload
from tvm.s_tir.tensor_intrin import cuda, x86  # noqa: F401, the rules look their names up
from tvm.target import Target

from verdict import Verdict

OPERATORS = "C1D C2D C3D CAP CBR DEP DIL GMM GRP NRM SFM T2D TBG".split()


def dense(read, written):
    return te.create_prim_func(te_workload.matmul(256, 256, 256, read, written))


def conv2d_half():
    types = {"in_dtype": "float16", "out_dtype": "float32"}
    return te.create_prim_func(te_workload.conv2d_nhwc(1, 16, 16, 32, 32, 3, 1, 1, **types))


ALL = {name: lambda name=name: te_workload.create_te_workload(name, 0) for name in OPERATORS}
TILED = {
    "dense_half": lambda: dense("float16", "float16"),
    "dense_mixed": lambda: dense("float16", "float32"),
    "conv2d_half": conv2d_half,
}
BYTES = {"dense_bytes": lambda: dense("uint8", "int32")}

# Target, the kind of its rules, and the operators.
SPACES = [
    ({"kind": "llvm", "mcpu": "x86-64-v3", "num-cores": 4}, "from-target", ALL),
    ({"kind": "llvm", "mcpu": "cascadelake", "num-cores": 4}, "from-target", BYTES),
    ("nvidia/nvidia-a100", "from-target", ALL),
    ("nvidia/nvidia-a100", "cuda-tensorcore", TILED),
]


def verdicts(tool, only=None):
    """Judges every schedule of every space, as the rules leave it and after the postprocessors."""
    for target, rules, operators in SPACES:
        for operator, make in operators.items():
            if not only or operator in only:
                yield from of_operator(tool, Target(target), rules, operator, make())


def of_operator(tool, target, rules, operator, function):
    context = meta_schedule.TuneContext(
        mod=IRModule({"main": function}),
        target=target,
        space_generator=meta_schedule.space_generator.PostOrderApply(
            sch_rules=rules, postprocs=rules, mutator_probs=rules
        ),
        task_name=operator,
        rand_state=1,
    )
    text = context.mod.script()
    for number, schedule in enumerate(context.generate_design_space()):
        name = f"{operator} {target.kind.name} {number}"
        yield judge(tool, "space", name, text, schedule)
        after = all([p.apply(schedule) for p in context.space_generator.postprocs])
        if after and "sch.tensorize(" not in str(schedule.trace):  # the tool lacks these intrinsics
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
