#!/usr/bin/env python3
"""Times PyTorch, and Halide, on the workloads of bench_workloads, and writes what bench_workloads --benchmark_out writes.

  tools/bench_peers.sh --torch --halide
  build/peers/bin/python benchmarks/peers/python_kernels.py --out torch.json [--sets twelve,nchw,beyond] [--only GMM,SFM]
                                                            [--threads 1] [--rounds 15] [--engines torch_eager,halide]

PyTorch runs eager, channels first as it has them; with channels last (torch_channels_last: images and filters are converted
beforehand, whatever the layout of the workload); and compiled with its weights known (torch_compile, in the layout of the
workload). Results are compared with PyTorch's in double
precision before they are timed. results/workload_table.py joins the file with those of bench_workloads.
"""
import argparse
import json
import math
import os
import sys
import time

CONVOLUTIONS = {  # input, channels, filters, window, stride, padding, dilation, groups
    "C1D": ([256], 64, 128, 3, 2, 1, 1, 1), "C2D": ([224, 224], 3, 64, 7, 2, 3, 1, 1),
    "C3D": ([16, 224, 224], 3, 64, 7, 2, 3, 1, 1), "DEP": ([112, 112], 32, 32, 3, 1, 1, 1, 32),
    "DIL": ([224, 224], 3, 64, 7, 2, 3, 2, 1), "GRP": ([56, 56], 64, 128, 3, 2, 1, 1, 4),
    "T2D": ([4, 4], 512, 256, 4, 2, 1, 1, 1), "CBR": ([224, 224], 3, 64, 7, 2, 3, 1, 1),
    "R50_1x1_56": ([56, 56], 64, 256, 1, 1, 0, 1, 1), "R50_3x3_56": ([56, 56], 64, 64, 3, 1, 1, 1, 1),
    "R50_1x1_14": ([14, 14], 256, 1024, 1, 1, 0, 1, 1), "R50_3x3_14": ([14, 14], 256, 256, 3, 1, 1, 1, 1)}
PRODUCTS = {"GMM": (128, 128, 128), "GEMM256": (256, 256, 256), "GEMM512": (512, 512, 512), "GEMM1024": (1024, 1024, 1024),
            "GEMM2048": (2048, 2048, 2048), "M1": (1, 1024, 1024), "M4": (4, 1024, 1024), "M16": (16, 1024, 1024),
            "GEMM1000": (1000, 1000, 1000), "GEMM127x129x131": (127, 129, 131), "F64_512": (512, 512, 512)}
TWELVE = ["C1D", "C2D", "C3D", "DEP", "DIL", "GRP", "T2D", "CBR", "GMM", "TBG", "NRM", "SFM"]
TAPS = [0.02, 0.06, 0.12, 0.18, 0.24, 0.18, 0.12, 0.06, 0.02]


def set_of(name):
    head = name.removesuffix("_nhwc").removesuffix("_nchw")
    if head not in TWELVE:
        return "beyond"
    return "nchw" if name.endswith("_nchw") else "twelve"


def names():
    out = [*PRODUCTS, "TBG", "NRM", "SFM", "DENSE_GELU", "LAYERNORM", "ATTENTION", "STENCIL5", "BLUR9", "CHAIN5", "ADDRELU",
           "ROWSUM", "COLSUM"]
    return out + [f"{c}_{layout}" for layout in ("nhwc", "nchw") for c in CONVOLUTIONS]


def random(*shape, double=False):
    import torch
    return torch.rand(*shape, dtype=torch.float64 if double else torch.float32) * 2 - 1


def convolution(name):
    """A function of the image, its other arguments and the image; channels are first, as PyTorch has them."""
    import torch
    f = torch.nn.functional
    inputs, channels, filters, window, stride, padding, dilation, groups = CONVOLUTIONS[name]
    x = random(1, channels, *inputs)
    taps = [window] * len(inputs)
    if name == "T2D":
        w = random(channels, filters, *taps)
        return lambda x, w: f.conv_transpose2d(x, w, None, stride, padding), [x, w]
    w = random(filters, channels // groups, *taps)
    function = {1: f.conv1d, 2: f.conv2d, 3: f.conv3d}[len(inputs)]
    if name != "CBR":
        return lambda x, w: function(x, w, None, stride, padding, dilation, groups), [x, w]
    scale, shift = random(filters), random(filters)
    zero, one = torch.zeros(filters), torch.ones(filters)

    def cbr(x, w, scale, shift, zero, one):
        return torch.relu(f.batch_norm(f.conv2d(x, w, None, stride, padding), zero, one, scale, shift, eps=0.0))
    return cbr, [x, w, scale, shift, zero, one]


def computation(name):
    """A function and its arguments."""
    import torch
    f = torch.nn.functional
    if name in PRODUCTS:
        m, n, k = PRODUCTS[name]
        double = name.startswith("F64")
        return torch.matmul, [random(m, k, double=double), random(k, n, double=double)]
    head = name.removesuffix("_nhwc").removesuffix("_nchw")
    if head in CONVOLUTIONS:
        return convolution(head)
    if name == "TBG":
        return (lambda q, v: torch.matmul(q.transpose(0, 1), v.permute(1, 2, 0))), [random(128, 12, 64), random(128, 12, 64)]
    if name == "NRM":
        return torch.linalg.vector_norm, [random(256, 256)]
    if name == "SFM":
        return (lambda x: torch.softmax(x, 1)), [random(256, 256)]
    if name == "DENSE_GELU":
        return (lambda x, w, b: f.gelu(f.linear(x, w, b))), [random(512, 768), random(3072, 768), random(3072)]
    if name == "LAYERNORM":
        return (lambda x, g, b: f.layer_norm(x, [768], g, b, 1e-5)), [random(512, 768), random(768), random(768)]
    if name == "ATTENTION":
        return (lambda q, k, v: f.scaled_dot_product_attention(q, k, v)), [random(1, 12, 128, 64) for _ in range(3)]
    if name == "STENCIL5":
        return (lambda x: 0.2 * (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])), [random(2050, 2050)]
    if name == "BLUR9":
        def blur(x, w):
            rows = f.conv2d(x[None, None], w.reshape(1, 1, 1, 9))
            return f.conv2d(rows, w.reshape(1, 1, 9, 1))[0, 0]
        return blur, [random(2056, 2056), torch.tensor(TAPS)]
    if name == "CHAIN5":
        return (lambda x: torch.relu(x * 1.5 + 0.5) ** 2 - 1), [random(1 << 20)]
    if name == "ADDRELU":
        return (lambda a, b: torch.relu(a + b)), [random(1 << 20), random(1 << 20)]
    return (lambda x: x.sum(1)) if name == "ROWSUM" else (lambda x: x.sum(0)), [random(4096, 4096)]


def last(argument):
    import torch
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return argument.contiguous(memory_format=formats[argument.dim()]) if argument.dim() in formats else argument


def torch_engines(name, wanted):
    """(engine, function without arguments, largest relative error)"""
    import torch
    function, arguments = computation(name)
    if name.startswith("F64"):  # what computes in double is compared with what computes in more
        import numpy
        wide = [a.numpy().astype(numpy.longdouble) for a in arguments]
        exact = torch.from_numpy(numpy.matmul(*wide).astype(numpy.float64))
    else:
        exact = function(*[a.double() for a in arguments])
    image = name.removesuffix("_nhwc").removesuffix("_nchw") in CONVOLUTIONS

    def engine(kind):
        data = arguments
        if image and (kind == "torch_channels_last" or (kind == "torch_compile" and name.endswith("_nhwc"))):
            data = [last(a) for a in arguments]
        if kind == "torch_compile":
            import torch._inductor.config as config
            config.freezing = True

            class Module(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.weights = torch.nn.ParameterList(torch.nn.Parameter(w, requires_grad=False) for w in data[1:])

                def forward(self, x):
                    return function(x, *self.weights)
            one = torch.compile(Module().eval()) if len(data) > 1 and (image or name in PRODUCTS or name == "DENSE_GELU") else None
            if one is not None:
                return lambda: one(data[0])
            compiled = torch.compile(function)
            return lambda: compiled(*data)
        return lambda: function(*data)

    kinds = ["torch_eager", "torch_compile"] + (["torch_channels_last"] if image else [])
    for kind in kinds:
        if wanted and kind not in wanted:
            continue
        call = engine(kind)
        try:
            result = call()
        except Exception as failure:  # its compiler does not take every convolution
            print(f"missing: {kind} of {name}: {type(failure).__name__}: {str(failure).splitlines()[0]}")
            continue
        error = float((result.double() - exact).abs().max() / exact.abs().max())
        yield kind, call, error


def halide_engines(name, wanted):
    """The blur and the stencil with the schedule that Mullapudi2016 finds for one core."""
    if name not in ("BLUR9", "STENCIL5") or (wanted and "halide" not in wanted):
        return
    try:
        import glob
        import halide as hl
        import numpy as np
    except ImportError as missing:
        print("missing: halide:", missing)
        return
    hl.load_plugin(glob.glob(os.path.dirname(hl.__file__) + "/**/*autoschedule_mullapudi*", recursive=True)[0])
    x, y = hl.Var("x"), hl.Var("y")
    border = 8 if name == "BLUR9" else 2
    source = hl.ImageParam(hl.Float(32), 2, "source")
    weights = hl.ImageParam(hl.Float(32), 1, "weights")
    data = np.random.default_rng(1).uniform(-1, 1, (2048 + border, 2048 + border)).astype(np.float32)
    taps = np.array(TAPS, np.float32)
    result = hl.Func("result")
    wide = data.astype(np.float64)
    if name == "BLUR9":
        rows = hl.Func("rows")
        rows[x, y] = sum(source[x + k, y] * weights[k] for k in range(9))
        result[x, y] = sum(rows[x, y + k] * weights[k] for k in range(9))
        weights.set_estimates([(0, 9)])
        weights.set(hl.Buffer(taps))
        across = sum(float(taps[k]) * wide[:, k:k + 2048] for k in range(9))
        exact = sum(float(taps[k]) * across[k:k + 2048] for k in range(9))
    else:
        result[x, y] = hl.f32(0.2) * (source[x + 1, y + 1] + source[x + 1, y] + source[x + 1, y + 2] + source[x, y + 1] + source[x + 2, y + 1])
        exact = float(np.float32(0.2)) * (wide[1:-1, 1:-1] + wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:])
    source.set_estimates([(0, 2048 + border)] * 2)
    result.set_estimates([(0, 2048)] * 2)
    pipeline = hl.Pipeline(result)
    target = hl.get_host_target()
    pipeline.apply_autoscheduler(target, hl.AutoschedulerParams(
        "Mullapudi2016", {"parallelism": os.environ["HL_NUM_THREADS"], "last_level_cache_size": str(32 << 20), "balance": "40"}))
    source.set(hl.Buffer(data))
    out = np.zeros((2048, 2048), np.float32)
    buffer = hl.Buffer(out)
    pipeline.compile_jit(target)
    pipeline.realize(buffer)
    error = float(abs(np.array(buffer, copy=False).astype(np.float64) - exact).max() / abs(exact).max())
    yield "halide", lambda: pipeline.realize(buffer), error


def timed(call, rounds):
    """Shortest call and the median of rounds of 10 ms; s"""
    best, means = math.inf, []
    for done in range(rounds):
        if best * done > 0.6:
            break
        spent, calls = 0.0, 0
        while calls < 3 or spent < 0.01:
            start = time.perf_counter()
            call()
            took = time.perf_counter() - start
            best, spent, calls = min(best, took), spent + took, calls + 1
            if spent > 0.3:
                break
        means.append(spent / calls)
    return best, sorted(means)[len(means) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--sets", default="twelve,nchw,beyond")
    parser.add_argument("--only", default="")
    parser.add_argument("--engines", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    os.environ["HL_NUM_THREADS"] = str(options.threads)
    only, wanted = [n for n in options.only.split(",") if n], [e for e in options.engines.split(",") if e]
    sources = [halide_engines]
    try:
        import torch
        torch.set_num_threads(options.threads)
        torch.set_grad_enabled(False)
        torch.manual_seed(7)
        sources.insert(0, torch_engines)
        print("PyTorch", torch.__version__)
    except ImportError as missing:
        print("missing: torch:", missing)
    written = []
    for name in names():
        if set_of(name) not in options.sets.split(",") or (only and name not in only):
            continue
        for source in sources:
            for engine, call, error in source(name, wanted):
                record = {"name": f"{name}/{engine}/threads:{options.threads}", "run_type": "iteration", "time_unit": "us",
                          "label": set_of(name), "max_rel_err": error}
                if error > (1e-13 if name.startswith("F64") else 1e-4):
                    record.update(error_occurred=True, error_message=f"wrong result: relative error {error:.2g}")
                else:
                    best, median = timed(call, options.rounds)
                    record.update(real_time=best * 1e6, median_us=median * 1e6)
                written.append(record)
                print(f"{record['name']:48} {record.get('real_time', math.nan):12.2f} us  {error:.1e}", flush=True)
                with open(options.out, "w") as file:
                    json.dump({"benchmarks": written}, file)


if __name__ == "__main__":
    sys.exit(main())
