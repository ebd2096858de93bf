"""Tensor intrinsics for `tensorize`: plain loops, so that the interpreter runs their results."""

from tvm import IRModule
from tvm.s_tir import TensorIntrin
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def increment(a: T.handle, b: T.handle):
    sa = T.int32()
    sb = T.int32()
    A = T.match_buffer(a, (8,), "int32", offset_factor=1, strides=[sa])
    B = T.match_buffer(b, (8,), "int32", offset_factor=1, strides=[sb])
    with T.sblock("root"):
        T.reads(A[0:8])
        T.writes(B[0:8])
        for i in range(8):
            with T.sblock("body"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + 1


@T.prim_func(s_tir=True)
def increment_at_once(a: T.handle, b: T.handle):
    sa = T.int32()
    sb = T.int32()
    A = T.match_buffer(a, (8,), "int32", offset_factor=1, strides=[sa])
    B = T.match_buffer(b, (8,), "int32", offset_factor=1, strides=[sb])
    with T.sblock("root"):
        T.reads(A[0:8])
        T.writes(B[0:8])
        for i in T.vectorized(8):
            B[i] = A[i] + 1


@T.prim_func(s_tir=True)
def multiply(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4, 4), "int32", offset_factor=1)
    B = T.match_buffer(b, (4, 4), "int32", offset_factor=1)
    C = T.match_buffer(c, (4, 4), "int32", offset_factor=1)
    with T.sblock("root"):
        T.reads(C[0:4, 0:4], A[0:4, 0:4], B[0:4, 0:4])
        T.writes(C[0:4, 0:4])
        for i, j, k in T.grid(4, 4, 4):
            with T.sblock("body"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


@T.prim_func(s_tir=True)
def multiply_by_columns(a: T.handle, b: T.handle, c: T.handle):
    sa = T.int32()
    sb = T.int32()
    sc = T.int32()
    A = T.match_buffer(a, (4, 4), "int32", offset_factor=1, strides=[sa, 1])
    B = T.match_buffer(b, (4, 4), "int32", offset_factor=1, strides=[sb, 1])
    C = T.match_buffer(c, (4, 4), "int32", offset_factor=1, strides=[sc, 1])
    with T.sblock("root"):
        T.reads(C[0:4, 0:4], A[0:4, 0:4], B[0:4, 0:4])
        T.writes(C[0:4, 0:4])
        for k, j, i in T.grid(4, 4, 4):
            C[i, j] = C[i, j] + A[i, k] * B[k, j]


INTRINSICS = {
    "increment_8": (increment, increment_at_once),
    "multiply_4x4x4": (multiply, multiply_by_columns),
}


def arguments(folder):
    """Registers them in TVM, and gives the options with which `apply` knows them."""
    options = []
    for name, pair in INTRINSICS.items():
        TensorIntrin.register(name, *pair, override=True)
        paths = []
        for part, function in zip(("description", "implementation"), pair):
            path = folder / f"{name}_{part}.py"
            module = IRModule({"main": function.with_attr("global_symbol", "main")})
            path.write_text(module.script())
            paths.append(str(path))
        options += ["--intrin", f"{name}={','.join(paths)}"]
    return options
