#!/usr/bin/env python3
"""Times PyTorch on a network of tools/models.py on a GPU, for stage models of tools/gpu_bench.sh.

    gpu_networks.py FOLDER      one JSON object: seconds of a run, and how far its result is from ONNX Runtime's

The nodes run one after another with the weights of the file, batch norms folded by nobody, as eager PyTorch does; and
recorded as one CUDA graph. TF32 is off, cudnn.benchmark on.
"""
import json
import sys
from pathlib import Path

import numpy
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper


def run(graph, known, x):
    values = dict(known)
    values[graph.input[0].name] = x
    for n in graph.node:
        a = {p.name: onnx.helper.get_attribute_value(p) for p in n.attribute}
        v = [values[i] for i in n.input]
        if n.op_type == "Conv":
            assert a["pads"][:2] == a["pads"][2:]
            y = F.conv2d(v[0], v[1], v[2] if len(v) > 2 else None, a["strides"], a["pads"][:2], 1, a.get("group", 1))
        elif n.op_type == "BatchNormalization":
            y = F.batch_norm(v[0], v[3], v[4], v[1], v[2], eps=a.get("epsilon", 1e-5))
        elif n.op_type == "MaxPool":
            y = F.max_pool2d(v[0], a["kernel_shape"], a["strides"], a["pads"][:2])
        elif n.op_type == "Gemm":
            y = F.linear(v[0], v[1], v[2])
        else:
            y = {"Relu": torch.relu, "Add": torch.add, "Identity": lambda t: t,
                 "GlobalAveragePool": lambda t: t.mean((2, 3), keepdim=True),
                 "Flatten": lambda t: t.flatten(1)}[n.op_type](*v)
        values[n.output[0]] = y
    return values[graph.output[0].name]


def seconds_of(call, runs=20, in_a_row=10):
    times = []
    for _ in range(runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(in_a_row):
            call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / in_a_row * 1e-3)
    return sorted(times)[len(times) // 2]


def main():
    folder = Path(sys.argv[1])
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    graph = onnx.load(str(next(folder.glob("*.onnx")))).graph
    out = {"pytorch": torch.__version__}
    with torch.no_grad():
        for layout in ["channels_first", "channels_last"]:
            form = {"memory_format": torch.channels_last} if layout == "channels_last" else {}
            known = {}
            for i in graph.initializer:
                t = torch.from_numpy(numpy_helper.to_array(i).copy()).cuda()
                known[i.name] = t.contiguous(**form) if t.dim() == 4 else t
            x = torch.from_numpy(numpy.load(folder / "in" / "x.npy")).cuda().contiguous(**form)
            expected = numpy.load(folder / "out" / "y.npy")
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    y = run(graph, known, x)
            torch.cuda.synchronize()
            recorded = torch.cuda.CUDAGraph()
            with torch.cuda.graph(recorded):
                y = run(graph, known, x)
            recorded.replay()
            torch.cuda.synchronize()
            out[layout] = {
                "eager_seconds": seconds_of(lambda: run(graph, known, x)),
                "graph_seconds": seconds_of(recorded.replay),
                "difference": float(numpy.abs(y.cpu().numpy() - expected).max() / numpy.abs(expected).max())}
    print(json.dumps(out))


if __name__ == "__main__":
    main()
