"""A pytest plugin that records what TVM's own tests schedule, for `compare.py --recorded`; see README.md.

Each line of the file named by TILEWRIGHT_RECORD is a case: a function, a trace, and what became of it in TVM. The schedules of a
test are cases as they are at its end, and so is every step that was refused.
"""

import functools
import inspect
import json
import os

import pytest
from tvm.s_tir import Schedule, ScheduleError, TensorIntrin
from tvm.s_tir.meta_schedule.space_generator import SpaceGenerator
from tvm.s_tir.schedule import Instruction, InstructionKind, LoopRV, SBlockRV, Trace
from tvm.tirx import IndexMap

# Methods of a schedule that are no steps of a trace.
NO_STEPS = {"copy", "get", "get_sref", "remove_rv", "seed", "fork_seed", "show", "work_on"}


class Unprintable(Exception):
    """An argument has no text."""


class Recorder:
    def __init__(self, path):
        self.path, self.test, self.cases, self.depth = path, "", [], 0

    def begin(self, test):
        self.test, self.cases = test, []

    def start_of(self, schedule):
        return next((text for s, text in self.cases if s.same_as(schedule)), None)

    def write(self, program, trace, outcome, result):
        case = {
            "test": self.test,
            "program": program,
            "trace": trace,
            "outcome": outcome,
            "result": result,
            "intrinsics": intrinsics_of(trace),
        }
        with open(self.path, "a") as out:
            out.write(json.dumps(case) + "\n")

    def refused(self, schedule, name, bound, error):
        program = self.start_of(schedule)
        if program is None:
            return
        try:
            trace = printed(schedule.trace) + step(schedule, name, bound)
        except Unprintable:
            return
        self.write(program, "\n".join(trace) + "\n", "refused", str(error))

    def end(self):
        for schedule, program in self.cases:
            trace = "\n".join(printed(schedule.trace)) if schedule.trace is not None else ""
            if trace and is_python(trace):
                self.write(program, trace + "\n", "fine", schedule.mod.script())


def printed(trace):
    """The lines of a trace. TVM cannot print decompose_padding, whose arguments are those of
    decompose_reduction."""
    padding = [i.kind.name == "DecomposePadding" for i in trace.insts]
    if not any(padding):
        return list(trace.as_python())
    like = InstructionKind.get("DecomposeReduction")
    insts = [
        Instruction(like, i.inputs, i.attrs, i.outputs) if p else i
        for i, p in zip(trace.insts, padding)
    ]
    return [
        line.replace("decompose_reduction", "decompose_padding") if p else line
        for line, p in zip(Trace(insts, trace.decisions).as_python(), padding)
    ]


def is_python(text):
    """TVM prints strings with quotes inside as they are."""
    try:
        compile(text, "trace", "exec")
    except SyntaxError:
        return False
    return True


def step(schedule, name, bound):
    """The lines of a call."""
    lines, arguments = [], []
    names = names_of(schedule.trace)
    for p in list(bound.signature.parameters.values())[1:]:
        if p.name not in bound.arguments:
            continue
        value = bound.arguments[p.name]
        if p.kind == p.VAR_POSITIONAL:
            arguments += [argument(v, names) for v in value]
            continue
        if "block" in p.name and isinstance(value, str):
            lines.append(f'named{len(lines)} = sch.get_sblock(name="{value}", func_name="main")')
            arguments.append(f"{p.name}=named{len(lines) - 1}")
        elif p.name in ("buffer", "buffer_index") and isinstance(value, str):
            raise Unprintable  # traces name buffers by their place
        else:
            arguments.append(f"{p.name}={argument(value, names)}")
    return [*lines, f"sch.{name}({', '.join(arguments)})"]


def names_of(trace):
    """What the text of a trace calls its random variables."""
    outputs = [o for i in trace.insts for o in i.outputs]
    letter = {SBlockRV: "b", LoopRV: "l"}
    return [(o, f"{letter.get(type(o), 'v')}{n}") for n, o in enumerate(outputs)]


def argument(value, names):
    for variable, name in names:
        if hasattr(value, "same_as") and variable.same_as(value):
            return name
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(argument(v, names) for v in value) + "]"
    if isinstance(value, IndexMap) or callable(value):
        m = value if isinstance(value, IndexMap) else IndexMap.from_func(value)
        inputs, outputs = map(str, m.initial_indices), map(str, m.final_indices)
        return f"lambda {', '.join(inputs)}: ({', '.join(outputs)},)"
    raise Unprintable


def intrinsics_of(trace):
    """Description and implementation of each intrinsic that the trace names."""
    found = {}
    for line in trace.splitlines():
        if "sch.tensorize(" in line and 'tensor_intrin="' in line:
            name = line.split('tensor_intrin="')[1].split('"')[0]
            known = TensorIntrin.get(name, allow_missing=True)
            if known is not None:
                found[name] = [known.desc.script(), known.impl.script()]
    return found


recorder = Recorder(os.environ["TILEWRIGHT_RECORD"])


def record_refusals(name, method):
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        recorder.depth += 1  # some call others
        try:
            return method(self, *args, **kwargs)
        except ScheduleError as e:
            if recorder.depth == 1:
                recorder.refused(self, name, signature.bind(self, *args, **kwargs), e)
            raise
        finally:
            recorder.depth -= 1

    return call


def record_start(method, schedules_of):
    """Schedules that the method makes are followed from here on, with the function they begin with."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        made = method(self, *args, **kwargs)
        recorder.cases += schedules_of(self, made, *args, **kwargs)
        return made

    return call


def began(self, made, mod, **options):
    # without the checks everything goes
    return [(self, self.mod.script())] if options.get("enable_check", True) else []


def copied(self, made):
    start = recorder.start_of(self)
    return [(made, start)] if start is not None else []


def generated(self, made, mod, *rest):
    start = Schedule(mod).mod.script() if made else ""
    return [(schedule, start) for schedule in made or []]


for method_name, function in inspect.getmembers(Schedule, inspect.isfunction):
    if not method_name.startswith("_") and method_name not in NO_STEPS:
        setattr(Schedule, method_name, record_refusals(method_name, function))
SpaceGenerator.generate_design_space = record_start(SpaceGenerator.generate_design_space, generated)
Schedule.copy = record_start(Schedule.copy, copied)
Schedule.__init__ = record_start(Schedule.__init__, began)


@pytest.fixture(autouse=True)
def _recorded(request):
    recorder.begin(request.node.nodeid)
    yield
    recorder.end()
