#!/usr/bin/env python3
"""Times PyTorch and Triton in turns with gpu_bench, and prints a table of what its stages found.

    gpu_peers.py --serve                                    asked by gpu_bench, line by line
    gpu_peers.py STAGE... --results FOLDER [--write benchmarks/results/gpu.md]

A stage is f32, tensor, attention or hopper. Serving, it says who is there, "peers pytorch=2.8 triton=3.4" or "peers none REASON",
and answers:

    prepare STAGE CASE PEER    "ready SECONDS" of one run and what is to be said of it, or "none REASON";
                               with "careful" behind it channels first alone, and cuDNN tries no algorithms
    round                      "seconds SECONDS": of one run, in a round of 20 ms or more of the case that is ready
    drop                       "dropped": the case's memory is free

Work is recorded in CUDA graphs and timed by events. For f32, TF32 is off; cuDNN tries its algorithms. Convolutions are
readied with channels first and with channels last, and the faster one counts. --write appends the table to a document,
with the device, the driver, the clocks and the date that the stages found.
"""
import argparse
import json
import math
import os
import sys

PAPER = ["C1D", "C2D", "C3D", "DEP", "DIL", "GMM", "GRP", "T2D", "CBR", "TBG", "NRM", "SFM"]


def f32_cases(torch):
    """[name] functions that make what is called, one for each layout of its operands."""
    f = torch.nn.functional

    def random(*shape):
        return torch.rand(*shape, device="cuda") * 2 - 1

    def convolution(dims, channels, filters, taps, stride, padding, dilation=1, groups=1, norm=False):
        function = {1: f.conv1d, 2: f.conv2d, 3: f.conv3d}[len(dims)]

        def make(last):
            x = random(1, channels, *dims)
            w = random(filters, channels // groups, *[taps] * len(dims))
            order = {2: torch.channels_last, 3: torch.channels_last_3d}.get(len(dims))
            if last and order is None:
                return None
            if last:
                x, w = x.contiguous(memory_format=order), w.contiguous(memory_format=order)
            if not norm:
                return lambda: function(x, w, None, stride, padding, dilation, groups)
            bias, scale, offset, mean, variance = random(filters), random(filters), random(filters), random(filters), random(filters).abs()
            return lambda: torch.relu(f.batch_norm(function(x, w, bias, stride, padding, dilation, groups), mean, variance, scale, offset))
        return [lambda: make(False), lambda: make(True)]

    def transposed():
        x, w = random(1, 512, 4, 4), random(512, 256, 4, 4)
        return lambda: f.conv_transpose2d(x, w, stride=2, padding=1)

    def product(batch, m, n, k):
        a, b = random(batch, m, k), random(batch, k, n)
        return lambda: torch.matmul(a, b)

    def scores():
        q, k = random(1, 128, 12, 64), random(1, 128, 12, 64)
        return lambda: torch.matmul(q.permute(0, 2, 1, 3), k.permute(0, 2, 3, 1))

    def on(shape, function):
        def make():
            x = random(*shape)
            return lambda: function(x)
        return [make]

    return {
        "C1D": convolution([256], 64, 128, 3, 2, 1), "C2D": convolution([224, 224], 3, 64, 7, 2, 3),
        "C3D": convolution([16, 224, 224], 3, 64, 7, 2, 3), "DEP": convolution([112, 112], 32, 32, 3, 1, 1, 1, 32),
        "DIL": convolution([224, 224], 3, 64, 7, 2, 3, 2), "GMM": [lambda: product(1, 128, 128, 128)],
        "GRP": convolution([56, 56], 64, 128, 3, 2, 1, 1, 4), "T2D": [transposed],
        "CBR": convolution([224, 224], 3, 64, 7, 2, 3, norm=True), "TBG": [scores],
        "NRM": on((1, 256, 256), lambda x: torch.linalg.vector_norm(x, dim=(1, 2))),
        "SFM": on((256, 256), lambda x: torch.softmax(x, 1)),
        "GEMM1024": [lambda: product(1, 1024, 1024, 1024)], "GEMM4096": [lambda: product(1, 4096, 4096, 4096)],
        "GEMM2048": [lambda: product(1, 2048, 2048, 2048)], "GEMM8192": [lambda: product(1, 8192, 8192, 8192)],
        "SPLITK": [lambda: product(1, 64, 64, 16384)],
        "CHAIN": on((8192, 4096), lambda x: torch.relu(torch.exp(x * 0.5) - x)),
        "SOFTMAX": on((16384, 2048), lambda x: torch.softmax(x, 1)),
        "LAYERNORM": on((16384, 2048), lambda x: f.layer_norm(x, (2048,), torch.ones_like(x[0]), torch.zeros_like(x[0]))),
        "ROWSUMS": on((16384, 4096), lambda x: x.sum(1)), "COLUMNSUMS": on((16384, 4096), lambda x: x.sum(0)),
    }


def tensor_cases(torch):
    f = torch.nn.functional

    def random(type_, *shape):
        return (torch.rand(*shape, device="cuda") * 2 - 1).to(type_)

    def product(type_, batch, m, n, k):
        def make():
            first = () if batch == 1 else (batch,)
            a, b = random(type_, *first, m, k), random(type_, *first, k, n)
            if type_ == torch.float32:
                return lambda: torch.matmul(a, b)
            multiply = torch.mm if batch == 1 else torch.bmm

            def wide():  # results in f32, as ours are
                return multiply(a, b, out_dtype=torch.float32)
            try:
                wide()
            except TypeError:  # an older PyTorch
                return Noted(lambda: torch.matmul(a, b), "its results have 16 bits")
            return wide
        return [make]

    def bytes_():
        a, b = (torch.randint(-128, 127, (4096, 4096), device="cuda", dtype=torch.int8) for _ in range(2))
        return lambda: torch._int_mm(a, b.t())

    def dense():
        x, w, bias = random(torch.float16, 1024, 1024), random(torch.float16, 4096, 1024), random(torch.float16, 4096)
        return lambda: f.gelu(f.linear(x, w, bias))

    half, brain = torch.float16, torch.bfloat16
    out = {f"F16_{n}": product(half, 1, n, n, n) for n in (1024, 4096, 8192)}
    out.update({"F16_M16": product(half, 1, 16, 4096, 4096), "F16_BATCH": product(half, 64, 512, 512, 64),
                "F16_SPLITK": product(half, 1, 64, 64, 16384), "BF16_4096": product(brain, 1, 4096, 4096, 4096),
                "TF32_4096": product(torch.float32, 1, 4096, 4096, 4096), "S8_4096": [bytes_]})
    out.update({f"DENSE_{step}": [dense] for step in ("naive", "tiling", "inline", "unroll", "tensor_cores")})
    return out


def attention_cases(torch):
    """FlashAttention-2 where it has the type, else the memory-efficient one; what the other backends need is a note."""
    def attention(type_, batch, heads, length, depth, causal=False):
        def make():
            from torch.nn.attention import SDPBackend, sdpa_kernel
            q, k, v = ((torch.rand(batch, heads, length, depth, device="cuda") * 2 - 1).to(type_) for _ in range(3))

            def by(backend):
                def work():
                    with sdpa_kernel(backend):
                        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
                return work
            flash = type_ != torch.float32
            notes = []
            for name in ("CUDNN_ATTENTION", "EFFICIENT_ATTENTION") if flash else ():
                try:
                    notes.append(f"{name} {Rounds(torch, by(getattr(SDPBackend, name))).seconds() * 1e6:.1f} us")
                except Exception as e:  # a backend that this device or version lacks
                    notes.append(f"{name}: {one_line(e)[:60]}")
            notes.append("its results have 16 bits" if flash else "EFFICIENT_ATTENTION")
            return Noted(by(SDPBackend.FLASH_ATTENTION if flash else SDPBackend.EFFICIENT_ATTENTION), "; ".join(notes))
        return [make]

    half = torch.float16
    out = {f"ATT{d}_{n}": attention(half, 128, 12, n, d) for d in (64, 128) for n in (1024, 2048, 4096)}
    out.update({"ATT64_CAUSAL": attention(half, 128, 12, 1024, 64, True), "ATT64_BF16": attention(torch.bfloat16, 128, 12, 1024, 64),
                "ATT64_1500": attention(half, 128, 12, 1500, 64), "ATT64_CAUSAL_4096": attention(half, 128, 12, 4096, 64, True),
                "ATT64_F32": attention(torch.float32, 1, 12, 1024, 64)})
    return out


def triton_cases(torch, triton, tl):
    """Triton's own tutorial programs: a tuned product, and softmax with a row in registers."""
    configs = [triton.Config({"BM": m, "BN": n, "BK": k, "G": 8}, num_stages=s, num_warps=w)
               for m, n, k, s, w in ((128, 256, 64, 3, 8), (128, 128, 64, 3, 4), (128, 128, 32, 4, 4), (64, 64, 32, 5, 2),
                                     (64, 256, 32, 4, 4), (16, 64, 128, 4, 4))]

    @triton.autotune(configs=configs, key=["M", "N", "K"])
    @triton.jit
    def multiply(a, b, c, M, N, K, TF32: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
        pid, rows, columns = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
        first = pid // (G * columns) * G
        size = min(rows - first, G)
        i, j = first + pid % (G * columns) % size, pid % (G * columns) // size
        am, bn, k = (i * BM + tl.arange(0, BM)) % M, (j * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
        x, y = a + am[:, None] * K + k[None, :], b + k[:, None] * N + bn[None, :]
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for _ in range(0, tl.cdiv(K, BK)):
            total = tl.dot(tl.load(x), tl.load(y), total, allow_tf32=TF32)
            x += BK
            y += BK * N
        m, n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
        tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))

    @triton.jit
    def rows(x, y, N, B: tl.constexpr):
        at = tl.arange(0, B)
        row = tl.load(x + tl.program_id(0) * N + at, mask=at < N, other=-float("inf"))
        e = tl.exp(row - tl.max(row, axis=0))
        tl.store(y + tl.program_id(0) * N + at, e / tl.sum(e, axis=0), mask=at < N)

    def product(type_, m, n, k, tf32=True):
        def make():
            a, b = ((torch.rand(*s, device="cuda") * 2 - 1).to(type_) for s in ((m, k), (k, n)))
            c = torch.empty(m, n, device="cuda", dtype=torch.float32)
            return lambda: multiply[lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)](a, b, c, m, n, k, tf32)
        return [make]

    def softmax(m, n):
        def make():
            x = torch.rand(m, n, device="cuda")
            y = torch.empty_like(x)
            return lambda: rows[(m,)](x, y, n, triton.next_power_of_2(n))
        return [make]

    half, single = torch.float16, torch.float32
    return {"f32": {"GMM": product(single, 128, 128, 128, False), "GEMM1024": product(single, 1024, 1024, 1024, False),
                    "GEMM4096": product(single, 4096, 4096, 4096, False), "SFM": softmax(256, 256), "SOFTMAX": softmax(16384, 2048)},
            "tensor": {"F16_1024": product(half, 1024, 1024, 1024), "F16_4096": product(half, 4096, 4096, 4096),
                       "F16_8192": product(half, 8192, 8192, 8192), "F16_M16": product(half, 16, 4096, 4096),
                       "BF16_4096": product(torch.bfloat16, 4096, 4096, 4096), "TF32_4096": product(single, 4096, 4096, 4096)}}


class Noted:
    """Work of which something is to be said."""

    def __init__(self, work, note):
        self.work, self.note = work, note

    def __call__(self):
        return self.work()


class Rounds:
    """Work in rounds that take `least` seconds, in a graph where it can be recorded."""

    def __init__(self, torch, work, least=0.02):
        self.torch = torch
        self.note = getattr(work, "note", "")
        for _ in range(3):
            work()
        torch.cuda.synchronize()
        self.count = max(1, min(1000, int(least / max(self.timed(work), 1e-6))))

        def all_of_it():
            for _ in range(self.count):
                work()

        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                all_of_it()
            self.run = graph.replay
        except RuntimeError:  # what waits or allocates
            torch.cuda.synchronize()
            self.run = all_of_it
        self.seconds()

    def timed(self, run):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        self.torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e-3

    def seconds(self):
        return self.timed(self.run) / self.count


def one_line(error):
    return str(error).split("\n")[0][:200] or type(error).__name__


class Server:
    """Answers to lines."""

    def __init__(self):
        self.ready = None
        self.torch, self.versions, self.missing = None, {}, ""
        try:
            import torch
            if not torch.cuda.is_available():
                raise ImportError("it finds no GPU")
            self.torch = torch
            self.versions["pytorch"] = torch.__version__
            torch.backends.cudnn.benchmark = True
        except (ImportError, OSError) as e:
            self.missing = f"PyTorch: {one_line(e)}"
            return
        try:
            import triton
            import triton.language as tl
            # its programs look for their names where they were written
            globals().update(triton=triton, tl=tl)
            self.versions["triton"] = triton.__version__
        except (ImportError, OSError):
            pass

    def greeting(self):
        return "peers " + (" ".join(f"{k}={v}" for k, v in self.versions.items()) or f"none {self.missing}")

    def answer(self, line):
        words = line.split()
        if words[:1] == ["prepare"] and (len(words) == 4 or words[4:] == ["careful"]):
            return self.prepare(*words[1:4], careful=len(words) > 4)
        if words == ["round"] and self.ready:
            return f"seconds {self.ready.seconds():.9g}"
        if words == ["drop"]:
            self.ready = None
            if self.torch:
                self.torch.cuda.empty_cache()
            return "dropped"
        return f"none not understood: {line}"

    def prepare(self, stage, name, peer, careful):
        self.ready = None
        stage = "tensor" if stage == "hopper" else stage  # the same products
        if peer not in self.versions:
            return f"none {peer} is not installed"
        if peer == "triton":
            cases = triton_cases(self.torch, triton, tl).get(stage, {})
        else:
            cases = {"f32": f32_cases, "tensor": tensor_cases, "attention": attention_cases}[stage](self.torch)
        backends = self.torch.backends
        backends.cuda.matmul.allow_tf32 = backends.cudnn.allow_tf32 = name.startswith("TF32")
        backends.cudnn.benchmark = not careful
        best, why = math.inf, f"{peer} has no program for it"
        for make in cases.get(name, [])[:1 if careful else None]:
            try:
                work = make()
                if work is None:
                    continue
                rounds = Rounds(self.torch, work)
                seconds = rounds.seconds()
            except Exception as e:  # a kernel that does not exist here: the next one
                why = one_line(e)
                continue
            if seconds < best:
                best, self.ready = seconds, rounds
        return f"ready {best:.9g} {self.ready.note}".rstrip() if self.ready else f"none {why}"


def serve():
    # libraries print what they like: that goes where errors go
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server()
    print(server.greeting(), file=out, flush=True)
    for line in sys.stdin:
        print(server.answer(line.strip()), file=out, flush=True)


def lines_of(path):
    if not os.path.exists(path):
        return []
    out = []
    with open(path) as text:
        for line in text:
            try:
                out.append(json.loads(line))
            except ValueError:  # cut off by a deadline
                pass
    return out


PEERS = ["cublas", "cudnn", "pytorch", "triton"]
HEAD = ["case", "us", "of cuBLAS", "of cuDNN", "of PyTorch", "of Triton"]


def joined(stages, results):
    """Rows of the table, how often ours fits into the time of each peer, and what there is to say of the paper's workloads."""
    rows, ratios = [], []
    for stage in stages:
        for line in lines_of(os.path.join(results, stage + ".jsonl")):
            name, ours = line.get("case"), line.get("seconds")
            if not ours:
                continue
            of = [line.get("of_" + peer) for peer in PEERS]
            rows.append([name, f"{ours * 1e6:.1f}"] + [f"{x:.3f}" if x else "" for x in of])
            if of[2] and name in PAPER:
                ratios.append(of[2])
    if not ratios:
        return rows, ""
    mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
    return rows, (f"PyTorch's time over ours, {len(ratios)} of the paper's {len(PAPER)} workloads: "
                  f"geometric mean {mean:.3f}, least {min(ratios):.3f}")


def table(rows, mean):
    print("\n" + "".join(f"{h:>14}" for h in HEAD))
    for row in rows:
        print("".join(f"{c:>14}" for c in row))
    if mean:
        print("\n" + mean)


def write(path, stages, results, rows, mean):
    for stage in stages:
        for line in lines_of(os.path.join(results, stage + ".jsonl")):
            if line.get("case") == "machine":
                machine = line
    with open(path, "a") as out:
        out.write(f"\n## On {machine['device']}\n\n`tools/gpu_bench.sh {' '.join(stages)}`, {machine['date']}, driver {machine['driver']:.0f}, "
                  f"NVRTC {machine['nvrtc']}, clocks and power {machine['clocks'] or 'unknown'}.\n\n")
        for row in (HEAD, ["---"] * len(HEAD), *rows):
            out.write("| " + " | ".join(row) + " |\n")
        if mean:
            out.write("\n" + mean + ".\n")


def main():
    say = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    say.add_argument("stages", nargs="*", choices=["f32", "tensor", "attention", "hopper", []])
    say.add_argument("--serve", action="store_true")
    say.add_argument("--results", default="results")
    say.add_argument("--write", metavar="DOCUMENT")
    asked = say.parse_args()
    if asked.serve:
        return serve()
    if not asked.stages:
        say.error("name a stage: f32, tensor, attention, hopper")
    rows, mean = joined(asked.stages, asked.results)
    table(rows, mean)
    if asked.write and rows:
        write(asked.write, asked.stages, asked.results, rows, mean)


if __name__ == "__main__":
    main()
