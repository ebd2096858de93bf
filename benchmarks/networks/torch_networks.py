"""The networks of tools/models.py in PyTorch: convolutional ones from their ONNX files, with the same weights and
batch norms of their own, transformers as they were exported."""
import functools
import importlib.util
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F


def maker():
    """tools/models.py as a module."""
    path = Path(__file__).resolve().parents[2] / "tools" / "models.py"
    spec = importlib.util.spec_from_file_location("models", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class GraphModule(torch.nn.Module):
    """Runs the nodes of a convolutional network one after another."""

    def __init__(self, file):
        super().__init__()
        import onnx
        graph = onnx.load(str(file)).graph
        known = {i.name: torch.from_numpy(onnx.numpy_helper.to_array(i).copy()) for i in graph.initializer}
        self.result = graph.output[0].name
        self.weights = torch.nn.ParameterList()
        self.places, self.numbers = {}, {}
        for name, tensor in known.items():
            if tensor.dim() == 0:
                self.numbers[name] = float(tensor)
                continue
            self.places[name] = len(self.weights)
            self.weights.append(torch.nn.Parameter(tensor, requires_grad=False))
        self.nodes = [(n.op_type, list(n.input), n.output[0],
                       {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}) for n in graph.node]

    def forward(self, **arrays):
        values = dict(arrays)
        for op, inputs, output, about in self.nodes:
            x = [self.weights[self.places[n]] if n in self.places else
                 self.numbers[n] if n in self.numbers else values[n] for n in inputs]
            values[output] = self.compute(op, x, about)
        return values[self.result]

    @staticmethod
    def compute(op, x, about):
        pads = about.get("pads", [0, 0, 0, 0])
        if op in ("Conv", "MaxPool") and pads[:2] != pads[2:]:
            raise ValueError(f"{op}: PyTorch takes the same padding on both sides")
        if op == "Conv":
            return F.conv2d(x[0], x[1], x[2] if len(x) > 2 else None, about["strides"], pads[:2],
                            groups=about.get("group", 1))
        if op == "BatchNormalization":
            return F.batch_norm(x[0], x[3], x[4], x[1], x[2], eps=about.get("epsilon", 1e-5))
        if op == "MaxPool":
            return F.max_pool2d(x[0], about["kernel_shape"], about["strides"], pads[:2],
                                ceil_mode=bool(about.get("ceil_mode", 0)))
        if op == "Gemm":
            return F.linear(x[0], x[1] if about.get("transB") else x[1].t(), x[2])
        simple = {"Relu": lambda: F.relu(x[0]), "Clip": lambda: torch.clamp(x[0], x[1], x[2]),
                  "Add": lambda: x[0] + x[1], "Concat": lambda: torch.cat(x, about["axis"]),
                  "GlobalAveragePool": lambda: x[0].mean((2, 3), keepdim=True),
                  "Flatten": lambda: x[0].flatten(about["axis"]), "Identity": lambda: x[0]}
        return simple[op]()


def is_image(array):
    return array.ndim == 4


def network(file, name, feeds):
    """The module, and its inputs by name."""
    made = maker()
    if name in made.TRANSFORMERS:
        module, _, _ = made.TRANSFORMERS[name]()
        return module.eval(), {k: torch.from_numpy(v) for k, v in feeds.items()}
    return GraphModule(file).eval(), {k: torch.from_numpy(v) for k, v in feeds.items()}


def results(out):
    return [o.detach().numpy() for o in (out if isinstance(out, (tuple, list)) else [out])]


def peers(file, name, feeds, kinds):
    """Functions that run the network, by kind: eager, channels_last, compile."""
    out = {}
    for kind in kinds:
        module, inputs = network(file, name, feeds)
        image = all(is_image(a) for a in feeds.values())
        if kind == "channels_last":
            if not image:
                continue
            module = module.to(memory_format=torch.channels_last)
            inputs = {k: v.to(memory_format=torch.channels_last) for k, v in inputs.items()}
        if kind == "compile":
            import torch._inductor.config as config
            config.freezing = True
            if image:
                module = module.to(memory_format=torch.channels_last)
                inputs = {k: v.to(memory_format=torch.channels_last) for k, v in inputs.items()}
            module = torch.compile(module)
        out[kind] = functools.partial(module, **inputs)
    return out


def difference(expected, actual):
    return max(float(numpy.abs(e - a).max() / numpy.abs(e).max()) for e, a in zip(expected, actual))
