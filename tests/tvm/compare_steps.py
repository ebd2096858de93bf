"""Single steps on many programs: as they are written, and after a few steps."""

import random

from attempt import attempt
from programs import PROGRAMS
from scene import Scene, scene_of
from steps import PRIMITIVES, draw
from verdict import Judge

# What schedules begin with.
FIRST = (
    "split fuse reorder cache_read cache_write compute_at reverse_compute_at blockize bind".split()
)


def verdicts(tool, seed, only=None):
    """Judges one step of every primitive on every program, and some behind other steps."""
    judge = Judge(tool)
    for program in PROGRAMS:
        scene = scene_of(program)
        if only and scene.name not in only:
            continue
        text = scene.schedule.mod.script()
        chance = random.Random(f"{seed} {scene.name}")
        agreed = []
        for primitive in PRIMITIVES:
            yield from one(judge, chance, scene, text, primitive, agreed)
        # The parts of a partition declare nothing in TVM, which changes what can follow.
        agreed = [step for step in agreed if "loop_partition" not in step]
        for depth in (1, 1, 2):
            deeper = yield from behind(judge, chance, scene, text, agreed, depth)
            for primitive in chance.sample(sorted(PRIMITIVES), 8):
                yield from one(judge, chance, deeper, text, primitive, [])


def one(judge, chance, scene, text, primitive, agreed):
    step, outcome = likely(chance, scene, primitive)
    if step is None:
        return
    verdict = judge.judge(scene, text, primitive, step, outcome)
    if verdict.kind == "same" and verdict.ours == "right":
        agreed.append(step)
    yield verdict


def likely(chance, scene, primitive):
    """A step and what TVM makes of it; mostly one that TVM takes, where some draws find one."""
    for _ in range(chance.choice([1, 6, 6])):
        step = draw(chance, scene, primitive)
        outcome = step and attempt(scene.schedule, step)
        if step is None or outcome[0] == "fine":
            break
    return step, outcome


def behind(judge, chance, scene, text, agreed, depth):
    """Judges steps until that many stand behind each other which both sides agree on."""
    for _ in range(depth):
        step = chance.choice(agreed)
        schedule = scene.schedule.copy()
        exec(step, {"sch": schedule})
        scene = Scene(scene.name, schedule, scene.trace + step)
        agreed = []
        for _ in range(12):
            primitive = chance.choice(FIRST)
            yield from one(judge, chance, scene, text, primitive, agreed)
            if agreed:
                break
        if not agreed:
            break
    return scene
