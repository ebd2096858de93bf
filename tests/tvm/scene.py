"""What a step can name: the blocks of a scheduled function, their loops, buffers and variables."""

from tvm import IRModule
from tvm.s_tir import Schedule


class Block:
    """One block that its name alone finds."""

    def __init__(self, schedule, name):
        handle = schedule.get_sblock(name)
        node = schedule.get(handle)
        self.name = name
        self.loops = len(schedule.get_loops(handle))
        self.variables = len(node.iter_vars)
        self.reads = [len(r.source.shape) for r in node.reads]  # dimensions of each
        self.writes = [len(r.source.shape) for r in node.writes]
        given = list(schedule.mod["main"].params)
        self.parameters = {
            (f'"{side}"', index)
            for side, regions in (("read", node.reads), ("write", node.writes))
            for index, region in enumerate(regions)
            if any(region.source.same_as(buffer) for buffer in given)
        }


class Scene:
    """A schedule after the steps of a trace, and the text of that trace."""

    def __init__(self, name, schedule, trace=""):
        self.name, self.schedule, self.trace = name, schedule, trace
        self.blocks = blocks_of(schedule)


def blocks_of(schedule):
    """The blocks below the root whose names are unambiguous, in the order of the program."""
    schedule, names = schedule.copy(), []  # look-ups below leave no mark on the original

    def visit(block):
        for child in schedule.get_child_blocks(block):
            names.append(schedule.get(child).name_hint)
            visit(child)

    visit(schedule.get_sblock("root"))
    return [Block(schedule, name) for name in dict.fromkeys(names) if names.count(name) == 1]


def scene_of(program):
    """The program as it is written, called `main`."""
    name = program.attrs["global_symbol"]
    return Scene(name, Schedule(IRModule({"main": program.with_attr("global_symbol", "main")})))
