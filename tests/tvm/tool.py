"""Runs the command-line tool of Tilewright."""

import json
import re
import subprocess

import intrinsics
import numpy

DIMENSIONS = {"n": 5, "m": 3, "s": 2}  # values for the scalar parameters of programs


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = str(path.resolve()), folder
        folder.mkdir(parents=True, exist_ok=True)
        self.intrinsics = intrinsics.arguments(folder)

    def call(self, *arguments):
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=300)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def apply(self, program, trace, expected=None, as_tvm=False, intrinsics=None):
        """What `apply --json` says."""
        arguments = [self.write("program.py", program), self.write("step.trace", trace), "--json"]
        if expected is not None:
            arguments += ["--expect", self.write("expected.py", expected)]
        if "tensorize" in trace:
            arguments += self.intrinsics if intrinsics is None else intrinsics
        done = self.call("apply", *arguments, *(["--tvm"] if as_tvm else []))
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            return {"status": "crash", "message": f"exit {done.returncode}: {done.stderr}"}

    def describe(self, intrinsics):
        """The options with which `apply` knows them; each is a description and an implementation."""
        options = []
        for name, parts in intrinsics.items():
            paths = [self.write(f"{name}_{n}.py", text) for n, text in enumerate(parts)]
            options += ["--intrin", f"{name}={','.join(paths)}"]
        return options

    def run(self, function):
        """The results on fixed inputs and no complaint, or None and a complaint."""
        arguments = [self.write("run.py", function), "--engine", "interp"]
        signature = re.search(r"def \w+\((.*)\):", function).group(1)
        for name, value in DIMENSIONS.items():
            if re.search(rf"\b{name}: T.int32", signature):
                arguments += ["--dim", f"{name}={value}"]
        parameters = buffers(signature, function)
        for position, (name, shape, dtype) in enumerate(parameters):
            numpy.save(self.folder / f"in{position}.npy", values(position, shape, dtype))
            arguments += ["--in", f"{name}={self.folder}/in{position}.npy"]
        done = self.call("run", *arguments)
        if done.returncode != 0:
            return None, (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        written = [line.split()[0] for line in done.stdout.splitlines()]
        outputs = [p for p in parameters if p[0] in written]
        for name, _, _ in outputs:
            arguments += ["--out", f"{name}={self.folder}/out_{name}.npy"]
        self.call("run", *arguments)
        return [numpy.load(self.folder / f"out_{name}.npy") for name, _, _ in outputs], ""


def buffers(signature, function):
    """Name, shape and type of each buffer parameter, in their order."""
    declared = r'\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)(?:, "(\w+)")?'
    found = []
    for name, kind in re.findall(r"(\w+): T\.(Buffer|handle)", signature):
        if kind == "Buffer":
            text = re.search(rf"\b{name}: T\.Buffer{declared}", signature).groups()
        else:
            name, *text = re.search(
                rf"(\w+) = T\.match_buffer\({name}, {declared[2:]}", function
            ).groups()
        extents = text[0].replace('"', "").strip().rstrip(",")  # "n" stands in quotes
        shape = eval(f"({extents},)" if extents else "()", {}, dict(DIMENSIONS))
        found.append((name, shape, text[1] or "float32"))
    return found


def values(position, shape, dtype):
    random = numpy.random.default_rng(position)
    return random.integers(-4, 5, size=shape).astype(dtype)


def alike(one, other):
    """Integers are equal, floats nearly."""
    return len(one) == len(other) and all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and numpy.allclose(
            a.astype("float64"), b.astype("float64"), rtol=1e-2 if a.dtype == "float16" else 1e-4
        )
        for a, b in zip(one, other)
    )
