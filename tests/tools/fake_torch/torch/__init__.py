"""A PyTorch without a GPU: whatever is asked of it is there, and every measured second is a millisecond."""
import os
import sys
import types


class Anything:
    def __init__(self, *of, **options):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *of, **options):
        return Anything()

    def __enter__(self):
        return self

    def __exit__(self, *how):
        return False

    def __getitem__(self, at):
        return Anything()

    def _same(self, *other):
        return Anything()

    __mul__ = __rmul__ = __add__ = __sub__ = _same


class Event(Anything):
    def elapsed_time(self, later):
        return 1.0


class cuda(Anything):
    Event = Event
    CUDAGraph = Anything
    graph = staticmethod(lambda g: Anything())
    synchronize = empty_cache = staticmethod(lambda: None)
    is_available = staticmethod(lambda: os.environ.get("FAKE_TORCH_GPU", "1") == "1")


class matmul_options:
    allow_tf32 = None


class backends:
    class cuda:
        matmul = matmul_options

    class cudnn:
        benchmark = allow_tf32 = None


def note(text):
    with open(os.environ["FAKE_TORCH_LOG"], "a") as log:
        log.write(f"{text}\n")


def _int_mm(*of):
    raise RuntimeError("not on this device")


def rand(*shape, **options):
    return Anything()


def matmul(a, b):
    # products of f32 are not rounded, those of tf32 are asked for by name
    note(matmul_options.allow_tf32)
    return Anything()


def mm(a, b, out_dtype):
    if os.environ.get("FAKE_TORCH_OLD"):
        raise TypeError("out_dtype")
    note(f"results of {out_dtype}")
    return matmul(a, b)


bmm = mm


class functional(Anything):
    def conv3d(self, *of):
        note("tried" if backends.cudnn.benchmark else "careful")
        return Anything()


class nn:
    functional = functional()


float32, float16, bfloat16, int8 = "float32", "float16", "bfloat16", "int8"


__version__ = "0.0-fake"
if os.environ.get("FAKE_TORCH_PRINTS"):
    print("a word of a library")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()


attention = types.ModuleType("torch.nn.attention")
attention.SDPBackend = attention.sdpa_kernel = Anything()
sys.modules["torch.nn.attention"] = attention
