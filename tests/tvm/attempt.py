"""Runs a step in TVM, in a process of its own: some steps end the process."""

import json
import os
import signal


def attempt(schedule, text):
    """("fine", script of the result), ("refused", why), or ("fails", how TVM broke)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        with os.fdopen(writer, "w") as out:
            json.dump(outcome(schedule, text), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = answer.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) or not said:
        return "fails", (
            signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "exit"
        )
    return tuple(json.loads(said))


def outcome(schedule, text):
    from tvm.s_tir import ScheduleError

    copy = schedule.copy()
    try:
        exec(text, {"sch": copy})  # the text is made here, by steps.py
        return "fine", copy.mod.script()
    except ScheduleError as e:
        return "refused", str(e)
    except Exception as e:
        return (
            "fails",
            f"{type(e).__name__}: {str(e).strip().splitlines()[-1] if str(e).strip() else ''}",
        )
