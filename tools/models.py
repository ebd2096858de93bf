#!/usr/bin/env python3
"""Makes the networks that benchmarks and checks use, with seeded random weights.

    tools/models.py --out build/models resnet50 mobilenet_v2

Convolutional networks are written node by node, transformers (bert_base, bert_large, gpt2) come from
PyTorch's exporter. Each gets a folder: NAME/NAME.onnx with external weights, NAME/in/INPUT.npy, and NAME/out/OUTPUT.npy as
ONNX Runtime computes it. Weights and the statistics of batch norms are random, so that folding them
shows. What is there already is kept (--force makes it again). Packages (numpy, onnx, onnxruntime; torch,
transformers and onnxscript for transformers) come from PyPI into a virtual environment in the output
folder where this Python lacks them.
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

PACKAGES = ["numpy", "onnx", "onnxruntime"]
EXPORTERS = ["torch", "transformers", "onnxscript"]  # of transformers, besides
VERSION = 1  # of what this script makes


def ensure_packages(out, packages):
    """Goes on in a virtual environment when a package is missing."""
    if all(importlib.util.find_spec(p) for p in packages):
        return
    venv = out / "venv"
    python = venv / "bin" / "python"
    if Path(sys.prefix).resolve() == venv.resolve():
        sys.exit("models.py: the virtual environment " + str(venv) + " lacks " + ", ".join(packages))
    if not python.exists():
        subprocess.check_call([sys.executable, "-m", "venv", str(venv)])
    subprocess.check_call([str(python), "-m", "pip", "install", "-q", *packages])
    os.execv(str(python), [str(python), *sys.argv])


class Network:
    """A graph under construction; every method adds a node and returns the name of its output."""
    batch = 1  # the first extent of inputs

    def __init__(self, name, seed, opset=20):
        import numpy
        self.np = numpy
        self.random = numpy.random.default_rng(seed)
        self.name, self.opset = name, opset
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.count = 0

    def weight(self, shape, scale=None, low=None, high=None):
        from onnx import numpy_helper
        if low is not None:
            data = self.random.uniform(low, high, shape)
        else:
            data = self.random.standard_normal(shape) * scale
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(data.astype(self.np.float32), name))
        return name

    def constant(self, data):
        from onnx import numpy_helper
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(self.np.asarray(data), name))
        return name

    def input(self, name, shape):
        from onnx import TensorProto, helper
        shape = [self.batch, *shape[1:]]
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.shape = list(shape)
        return name

    def output(self, x, name, shape):
        from onnx import TensorProto, helper
        self.nodes.append(helper.make_node("Identity", [x], [name], name="output"))
        shape = [self.batch, *shape[1:]]
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def node(self, op, inputs, label=None, **attributes):
        from onnx import helper
        self.count += 1
        label = label or f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [label], name=label, **attributes))
        return label

    def conv(self, x, cin, cout, kernel, stride=1, pad=0, group=1, bias=False):
        fan = cin // group * kernel * kernel
        inputs = [x, self.weight([cout, cin // group, kernel, kernel], (2.0 / fan) ** 0.5)]
        if bias:
            inputs.append(self.weight([cout], 0.1))
        return self.node("Conv", inputs, kernel_shape=[kernel, kernel], strides=[stride, stride],
                         pads=[pad] * 4, group=group)

    def batch_norm(self, x, channels, scale=1.0):
        return self.node("BatchNormalization", [
            x, self.weight([channels], low=0.8 * scale, high=1.2 * scale), self.weight([channels], 0.1),
            self.weight([channels], 0.1), self.weight([channels], low=0.7, high=1.3)])

    def conv_norm_relu(self, x, cin, cout, kernel, stride=1, group=1):
        x = self.conv(x, cin, cout, kernel, stride, kernel // 2, group)
        return self.node("Relu", [self.batch_norm(x, cout)])

    def pool(self, op, x, kernel, stride, pad, **more):
        return self.node(op, [x], kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad] * 4, **more)

    def dense(self, x, cin, cout):
        return self.node("Gemm", [x, self.weight([cout, cin], cin ** -0.5), self.weight([cout], 0.1)], transB=1)

    def model(self):
        from onnx import helper
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)


def resnet50():
    n = Network("resnet50", 42)
    x = n.input("x", [1, 3, 224, 224])
    x = n.conv_norm_relu(x, 3, 64, 7, 2)
    x = n.pool("MaxPool", x, 3, 2, 1)
    cin = 64
    for width, blocks, first in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for b in range(blocks):
            stride = first if b == 0 else 1
            y = n.conv_norm_relu(x, cin, width, 1)
            y = n.conv_norm_relu(y, width, width, 3, stride)
            y = n.batch_norm(n.conv(y, width, 4 * width, 1), 4 * width, 0.5)
            if b == 0:
                x = n.batch_norm(n.conv(x, cin, 4 * width, 1, stride), 4 * width, 0.7)
            x = n.node("Relu", [n.node("Add", [y, x])])
            cin = 4 * width
    x = n.node("Flatten", [n.node("GlobalAveragePool", [x])], axis=1)
    n.output(n.dense(x, 2048, 1000), "y", [1, 1000])
    return n


def mobilenet_v2():
    n = Network("mobilenet_v2", 42)
    low, high = n.constant(n.np.float32(0)), n.constant(n.np.float32(6))

    def conv(x, cin, cout, kernel, stride=1, group=1):
        x = n.batch_norm(n.conv(x, cin, cout, kernel, stride, kernel // 2, group), cout)
        return n.node("Clip", [x, low, high])

    x = n.input("x", [1, 3, 224, 224])
    x = conv(x, 3, 32, 3, 2)
    cin = 32
    for expand, cout, repeat, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                        (6, 160, 3, 2), (6, 320, 1, 1)]:
        for b in range(repeat):
            stride = first if b == 0 else 1
            wide = cin * expand
            y = conv(x, cin, wide, 1) if expand != 1 else x
            y = conv(y, wide, wide, 3, stride, wide)
            y = n.batch_norm(n.conv(y, wide, cout, 1), cout, 0.7)
            x = n.node("Add", [x, y]) if stride == 1 and cin == cout else y
            cin = cout
    x = conv(x, cin, 1280, 1)
    x = n.node("Flatten", [n.node("GlobalAveragePool", [x])], axis=1)
    n.output(n.dense(x, 1280, 1000), "y", [1, 1000])
    return n


def inception_v1():
    n = Network("inception_v1", 42)
    conv = n.conv_norm_relu
    x = n.input("x", [1, 3, 224, 224])
    x = conv(x, 3, 64, 7, 2)
    x = n.pool("MaxPool", x, 3, 2, 0, ceil_mode=1)
    x = conv(conv(x, 64, 64, 1), 64, 192, 3)
    x = n.pool("MaxPool", x, 3, 2, 0, ceil_mode=1)
    cin = 192
    blocks = [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), "pool", (192, 96, 208, 16, 48, 64),
              (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
              (256, 160, 320, 32, 128, 128), "pool2", (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)]
    for b in blocks:
        if isinstance(b, str):
            x = n.pool("MaxPool", x, 3 if b == "pool" else 2, 2, 0, ceil_mode=1)
            continue
        c1, r3, c3, r5, c5, proj = b
        parts = [conv(x, cin, c1, 1), conv(conv(x, cin, r3, 1), r3, c3, 3), conv(conv(x, cin, r5, 1), r5, c5, 3),
                 conv(n.pool("MaxPool", x, 3, 1, 1, ceil_mode=1), cin, proj, 1)]
        x = n.node("Concat", parts, axis=1)
        cin = c1 + c3 + c5 + proj
    x = n.node("Flatten", [n.node("GlobalAveragePool", [x])], axis=1)
    n.output(n.dense(x, 1024, 1000), "y", [1, 1000])
    return n


def tiny_cnn():
    """A few KB: every kind of node that the large ones have."""
    n = Network("tiny_cnn", 7)
    x = n.input("x", [1, 3, 13, 11])
    x = n.conv_norm_relu(x, 3, 8, 3, 2)
    y = n.batch_norm(n.conv(x, 8, 8, 3, 1, 1), 8)
    x = n.node("Relu", [n.node("Add", [y, x])])
    low, high = n.constant(n.np.float32(0)), n.constant(n.np.float32(0.5))
    d = n.node("Clip", [n.batch_norm(n.conv(x, 8, 8, 3, 1, 1, 8), 8), low, high])
    p = n.pool("MaxPool", x, 3, 1, 1)
    a = n.pool("AveragePool", x, 3, 1, 1)
    x = n.node("Concat", [d, p, n.conv(a, 8, 4, 1, bias=True)], axis=1)
    x = n.pool("MaxPool", x, 3, 2, 0, ceil_mode=1)
    x = n.node("LRN", [x], size=3)
    x = n.node("Flatten", [n.node("GlobalAveragePool", [x])], axis=1)
    n.output(n.node("Softmax", [n.dense(n.node("Dropout", [x]), 20, 5)]), "y", [1, 5])
    return n


NETWORKS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "inception_v1": inception_v1, "tiny_cnn": tiny_cnn}


def random_state(model, seed=42):
    """Seeded weights; those of norms, and biases, too, so that folding them shows."""
    import torch
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            is_norm = "norm" in name.lower() or "ln_" in name
            if is_norm and name.endswith("weight"):
                p.uniform_(0.8, 1.2)
            elif p.dim() < 2:
                p.normal_(0, 0.1)
            else:
                p.normal_(0, 0.02 if "emb" in name or "wte" in name or "wpe" in name
                          else p.shape[-1] ** -0.5)
    return model.eval()


def bert(layers, width, heads):
    """The encoder with its pooler: ids and mask [batch, seq] to states and pooled state."""
    import torch
    from transformers import BertConfig, BertModel
    model = random_state(BertModel(BertConfig(num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
                                              intermediate_size=4 * width, attn_implementation="sdpa")))

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask):
            out = self.model(input_ids=input_ids, attention_mask=attention_mask)
            return out.last_hidden_state, out.pooler_output

    ids = torch.randint(0, 30000, (1, 128), generator=torch.Generator().manual_seed(1))
    mask = torch.ones(1, 128, dtype=torch.int64)
    mask[:, 120:] = 0
    return Encoder(), {"input_ids": ids, "attention_mask": mask}, ["states", "pooled"]


def gpt2():
    """Prefill: ids [batch, seq] to the logits of all positions."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel
    model = random_state(GPT2LMHeadModel(GPT2Config(attn_implementation="sdpa", use_cache=False)))

    class Prefill(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids):
            return self.model(input_ids=input_ids, use_cache=False).logits

    ids = torch.randint(0, 50000, (1, 128), generator=torch.Generator().manual_seed(1))
    return Prefill(), {"input_ids": ids}, ["logits"]


TRANSFORMERS = {"bert_base": lambda: bert(12, 768, 12), "bert_large": lambda: bert(24, 1024, 16), "gpt2": gpt2}


def export(name, file, dynamic):
    """PyTorch's exporter; returns the inputs."""
    import torch
    module, feeds, outputs = TRANSFORMERS[name]()
    axes = {"batch": torch.export.Dim("batch", max=64), "seq": torch.export.Dim("seq", max=512)}
    shapes = {k: {0: axes["batch"], 1: axes["seq"]} for k in feeds} if dynamic else None
    # an extent of 1 would be taken for a constant
    traced = {k: v.repeat(2, 1) for k, v in feeds.items()} if dynamic else feeds
    program = torch.onnx.export(module.eval(), (), kwargs=traced, dynamo=True, opset_version=20,
                                input_names=list(feeds), output_names=outputs, dynamic_shapes=shapes)
    program.save(str(file), external_data=True)
    return {k: v.numpy() for k, v in feeds.items()}


def make(name, folder, inline, dynamic):
    import numpy
    import onnx
    import onnxruntime
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (name + ".onnx")
    data = folder / (name + ".data")
    if name in TRANSFORMERS:
        feeds = export(name, file, dynamic)
        model = onnx.load(str(file), load_external_data=False)
    else:
        model = NETWORKS[name]().model()
        onnx.checker.check_model(model)
        data.unlink(missing_ok=True)
        if inline:
            onnx.save_model(model, str(file))
        else:
            onnx.save_model(model, str(file), save_as_external_data=True, all_tensors_to_one_file=True,
                            location=data.name, size_threshold=0)
        random = numpy.random.default_rng(1)
        feeds = {}
        for i in model.graph.input:
            shape = [d.dim_value for d in i.type.tensor_type.shape.dim]
            feeds[i.name] = random.standard_normal(shape).astype(numpy.float32)
    outputs = [o.name for o in model.graph.output]
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    for kind, arrays in [("in", feeds), ("out", dict(zip(outputs, session.run(outputs, feeds))))]:
        (folder / kind).mkdir(exist_ok=True)
        for array_name, array in arrays.items():
            numpy.save(folder / kind / (array_name + ".npy"), array)
    (folder / "about.json").write_text(json.dumps({
        "version": VERSION, "inline": inline, "dynamic": dynamic, "onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__}))


def is_there(folder, inline, dynamic):
    try:
        about = json.loads((folder / "about.json").read_text())
        return (about["version"] == VERSION and about["inline"] == inline and
                about.get("dynamic", False) == dynamic)
    except (OSError, ValueError, KeyError):
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *NETWORKS, *TRANSFORMERS], default=[],
                        help="all that need no PyTorch where none is named")
    parser.add_argument("--out", type=Path, default=Path("build/models"))
    parser.add_argument("--force", action="store_true", help="make what is there again")
    parser.add_argument("--dynamic", action="store_true",
                        help="transformers with open extents batch and seq, in a folder NAME_dynamic")
    parser.add_argument("--inline", action="store_true", help="weights in the file itself")
    parser.add_argument("--batch", type=int, default=1,
                        help="of convolutional networks, in a folder NAME_batchN where it is not 1")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    names = options.names or list(NETWORKS)
    ensure_packages(out, PACKAGES + (EXPORTERS if any(n in TRANSFORMERS for n in names) else []))
    for name in names:
        dynamic = options.dynamic and name in TRANSFORMERS
        batched = options.batch != 1 and name in NETWORKS
        Network.batch = options.batch if batched else 1
        folder = out / (name + "_dynamic" if dynamic else f"{name}_batch{options.batch}" if batched else name)
        if options.force or not is_there(folder, options.inline, dynamic):
            make(name, folder, options.inline, dynamic)
        print(folder / (name + ".onnx"))


if __name__ == "__main__":
    main()
