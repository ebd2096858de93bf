"""Draws single steps. A step is text that is both a program for TVM and a trace for Tilewright."""

from intrinsics import INTRINSICS

SCOPES = ["global", "shared", "local"]
PARAMETER = "# the layout of a parameter"  # nothing to compare results with
THREADS = ["blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread.x"]


class Writer:
    """The lines of one step; look-ups of blocks and loops come before the call."""

    def __init__(self, random, scene):
        self.random, self.scene, self.lines = random, scene, []
        self.count = len(scene.trace)  # no line before has taken such a name

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def pick_block(self):
        return self.random.choice(self.scene.blocks)

    def block(self, block):
        name = self.fresh()
        self.lines.append(f'{name} = sch.get_sblock(name="{block.name}", func_name="main")')
        return name

    def loops(self, block):
        handle = self.block(block)
        names = [self.fresh() for _ in range(block.loops)]
        if names:
            targets = ", ".join(names) + ("," if len(names) == 1 else "")
            self.lines.append(f"{targets} = sch.get_loops(block={handle})")
        return names

    def any_loop(self):
        block = self.random.choice([b for b in self.scene.blocks if b.loops])
        return self.random.choice(self.loops(block))

    def call(self, name, *listed, **arguments):
        """The results get no names: how many there are is known only behind the call."""
        named = [f"{key}={value}" for key, value in arguments.items()]
        self.lines.append(f"sch.{name}({', '.join([*listed, *named])})")


def quoted(text):
    return f'"{text}"'


def split_like(name):
    def make(w):
        factors = [w.random.choice([1, 2, 3, 4, 5, 8]) for _ in range(w.random.choice([2, 2, 3]))]
        if w.random.random() < 0.8:
            factors[w.random.choice([0, 0, len(factors) - 1])] = None
        extra = {"disable_predication": w.random.random() < 0.1} if name == "split" else {}
        w.call(
            name,
            loop=w.any_loop(),
            factors=factors,
            preserve_unit_iters=w.random.random() < 0.7,
            **extra,
        )

    return make


def some_loops(name, **arguments):
    def make(w):
        block = w.random.choice([b for b in w.scene.blocks if b.loops])
        loops = w.loops(block)
        if name == "fuse":
            first = w.random.randrange(len(loops))
            loops = loops[first : first + w.random.choice([2, 2, 3])]
        elif name == "reorder":
            loops = w.random.sample(loops, w.random.randint(min(2, len(loops)), len(loops)))
        w.call(name, *loops, **arguments)

    return make


def merge(w):
    loops = []
    for block in w.random.sample(w.scene.blocks, min(2, len(w.scene.blocks))):
        loops += w.loops(block)[:1]
    w.call("merge", *loops)


def on_loop(name):
    return lambda w: w.call(name, loop=w.any_loop())


def bind(w):
    w.call("bind", loop=w.any_loop(), thread_axis=quoted(w.random.choice(THREADS)))


def add_unit_loop(w):
    at = w.any_loop() if w.random.random() < 0.5 else w.block(w.pick_block())
    w.call("add_unit_loop", block_or_loop=at)


def buffer_of(w, block, reads):
    """The index of a buffer, sometimes one too far."""
    buffers = block.reads if reads else block.writes
    return w.random.randrange(len(buffers) + (w.random.random() < 0.05)) if buffers else 0


def cached(name, reads, listed=True):
    def make(w):
        block = w.pick_block()
        others = []
        if listed and w.random.random() < 0.2:
            others = [w.block(b) for b in w.random.sample(w.scene.blocks, 1)]
        extra = {"consumer_blocks": "[" + ", ".join(others) + "]"} if others else {}
        w.call(
            name,
            block=w.block(block),
            **{f"{'read' if reads else 'write'}_buffer_index": buffer_of(w, block, reads)},
            storage_scope=quoted(w.random.choice(SCOPES)),
            **extra,
        )

    return make


def cache_index(w):
    w.call(
        "cache_index",
        block=w.block(w.pick_block()),
        storage_scope=quoted("global"),
        cse_thresh=w.random.choice([0, 1]),
    )


def at_loop(name, reads):
    def make(w):
        block = w.pick_block()
        nest = block if w.random.random() < 0.8 else w.pick_block()
        w.call(
            name,
            loop=w.random.choice(w.loops(nest)),
            block=w.block(block),
            **{f"{'read' if reads else 'write'}_buffer_index": buffer_of(w, block, reads)},
            storage_scope=quoted(w.random.choice(["shared", "local"])),
        )

    return make


def moved(name):
    def make(w):
        w.call(
            name,
            block=w.block(w.pick_block()),
            loop=w.any_loop(),
            preserve_unit_loops=w.random.random() < 0.5,
            index=w.random.choice([-1, -1, -2, 0]),
        )

    return make


def on_block(name):
    return lambda w: w.call(name, block=w.block(w.pick_block()))


def on_block_and_loop(name):
    def make(w):
        block = w.random.choice([b for b in w.scene.blocks if b.loops])
        loop = w.random.choice(w.loops(block))
        w.call(name, block=w.block(block), loop=loop)

    return make


def rfactor(w):
    w.call("rfactor", loop=w.any_loop(), factor_axis=w.random.choice([0, 0, 1, -1]))


def fuse_reduction_epilogue(w):
    first, second = w.block(w.pick_block()), w.block(w.pick_block())
    w.call("fuse_reduction_epilogue", reduction_block=first, epilogue_block=second)


def blockize(w):
    if w.random.random() < 0.8:
        w.call("blockize", target=w.any_loop(), preserve_unit_iters=w.random.random() < 0.7)
        return
    blocks = w.random.sample(w.scene.blocks, min(2, len(w.scene.blocks)))
    handles = ", ".join([w.block(b) for b in blocks])
    w.call("blockize", target=f"[{handles}]", preserve_unit_iters=w.random.random() < 0.7)


def storage_align(w):
    block = w.pick_block()
    w.call(
        "storage_align",
        block=w.block(block),
        buffer_index=buffer_of(w, block, False),
        axis=w.random.choice([0, -2, 1]),
        factor=w.random.choice([8, 16]),
        offset=4,
    )


def set_scope(w):
    block = w.pick_block()
    w.call(
        "set_scope",
        block=w.block(block),
        buffer_index=buffer_of(w, block, False),
        storage_scope=quoted(w.random.choice(SCOPES)),
    )


def unsafe_set_dtype(w):
    block = w.pick_block()
    w.call(
        "unsafe_set_dtype",
        block=w.block(block),
        buffer_index=buffer_of(w, block, False),
        dtype=quoted(w.random.choice(["int64", "int16", "float32"])),
    )


def side_and_buffer(w, block):
    reads = w.random.random() < 0.5
    index = buffer_of(w, block, reads)
    buffers = block.reads if reads else block.writes
    return (
        quoted("read" if reads else "write"),
        index,
        buffers[index] if index < len(buffers) else 1,
    )


def reindex(w):
    block = w.pick_block()
    side, index, _ = side_and_buffer(w, block)
    w.call("reindex", block=w.block(block), buffer=f"({side}, {index})")


def index_map(w, count):
    """A map of that many indices, of a random shape."""
    names = [f"i{n}" for n in range(count)]
    results = list(names)
    shape = w.random.choice(["same", "permuted", "tiled", "fused", "padded", "mirrored", "fewer"])
    if names and shape == "permuted":
        w.random.shuffle(results)
    elif names and shape in ("tiled", "padded"):
        factor = w.random.choice([2, 4]) if shape == "tiled" else 5
        at = w.random.randrange(count)
        results[at : at + 1] = [f"{names[at]} // {factor}"]
        results.append(f"{names[at]} % {factor}")
    elif count > 1 and shape == "fused":
        results[:2] = [f"{names[0]} * 16 + {names[1]}"]
    elif names and shape == "mirrored":
        results[-1] = f"15 - {names[-1]}"
    elif names and shape == "fewer":
        results = results[1:]
    return f"lambda {', '.join(names)}: ({', '.join(results)}{',' if len(results) == 1 else ''})"


def transform_layout(w):
    block = w.pick_block()
    side, index, rank = side_and_buffer(w, block)
    if (side, index) in block.parameters:
        w.lines.append(PARAMETER)
    w.call(
        "transform_layout",
        block=w.block(block),
        buffer=f"({side}, {index})",
        index_map=index_map(w, rank),
        pad_value=w.random.choice(["None", "None", "0"]),
        assume_injective_transform=w.random.random() < 0.2,
    )


def transform_block_layout(w):
    block = w.pick_block()
    w.call("transform_block_layout", block=w.block(block), index_map=index_map(w, block.variables))


def reindex_cache(name, reads):
    def make(w):
        block = w.pick_block()
        w.call(
            name,
            block=w.block(block),
            **{f"{'read' if reads else 'write'}_buffer_index": buffer_of(w, block, reads)},
            storage_scope=quoted(w.random.choice(SCOPES)),
            index_map=index_map(w, block.variables),
        )

    return make


def reorder_block_iter_var(w):
    block = w.pick_block()
    order = list(range(block.variables))
    w.random.shuffle(order)
    w.call("reorder_block_iter_var", block=w.block(block), new_order=order)


def annotate(w):
    at = w.any_loop() if w.random.random() < 0.5 else w.block(w.pick_block())
    key, value = w.random.choice(
        [
            ("key", 1),
            ("key", 2),
            ("pragma_auto_unroll_max_step", 16),
            ("other", '"text"'),
            ("list", "[1, 2]"),
        ]
    )
    w.call("annotate", block_or_loop=at, ann_key=quoted(key), ann_val=value)


def unannotate(w):
    at = w.any_loop() if w.random.random() < 0.5 else w.block(w.pick_block())
    w.call(
        "unannotate",
        block_or_loop=at,
        ann_key=quoted(w.random.choice(["key", "key", "buffer_dim_align", "other"])),
    )


def pad_einsum(w):
    block = w.pick_block()
    w.call(
        "pad_einsum",
        block=w.block(block),
        padding=[w.random.choice([1, 1, 4, 5, 8]) for _ in range(block.variables)],
    )


def rolling_buffer(w):
    block = w.pick_block()
    w.call("rolling_buffer", block=w.block(block), write_buffer_index=buffer_of(w, block, False))


def unsafe_hide_buffer_access(w):
    block = w.pick_block()
    side, index, _ = side_and_buffer(w, block)
    w.call(
        "unsafe_hide_buffer_access", block=w.block(block), buf_type=side, buf_index_array=[index]
    )


def annotate_buffer_access(w):
    block = w.pick_block()
    side, index, rank = side_and_buffer(w, block)
    names = [f"i{n}" for n in range(block.variables)]
    ranges = ", ".join(["(0, 16)"] * rank)
    w.call(
        "annotate_buffer_access",
        block=w.block(block),
        buffer_index=index,
        buf_type=side,
        gen_new_ranges=f"lambda {', '.join(names)}: [{ranges}]",
    )


def tensorize(w):
    block = w.pick_block()
    loops = w.loops(block)
    inner = loops[-1:] + loops[-3:-2]  # where tiles mostly begin
    at = w.random.choice(inner + loops + [w.block(block)])
    w.call(
        "tensorize",
        block_or_loop=at,
        tensor_intrin=quoted(w.random.choice(list(INTRINSICS))),
        preserve_unit_iters=w.random.random() < 0.7,
    )


PRIMITIVES = {
    "split": split_like("split"),
    "loop_partition": split_like("loop_partition"),
    "fuse": some_loops("fuse", preserve_unit_iters=True),
    "merge": merge,
    "reorder": some_loops("reorder"),
    "parallel": on_loop("parallel"),
    "vectorize": on_loop("vectorize"),
    "unroll": on_loop("unroll"),
    "bind": bind,
    "add_unit_loop": add_unit_loop,
    "cache_read": cached("cache_read", True),
    "cache_write": cached("cache_write", False),
    "cache_inplace": cached("cache_inplace", True, listed=False),
    "cache_index": cache_index,
    "reindex": reindex,
    "reindex_cache_read": reindex_cache("reindex_cache_read", True),
    "reindex_cache_write": reindex_cache("reindex_cache_write", False),
    "read_at": at_loop("read_at", True),
    "write_at": at_loop("write_at", False),
    "compute_at": moved("compute_at"),
    "reverse_compute_at": moved("reverse_compute_at"),
    "compute_inline": on_block("compute_inline"),
    "reverse_compute_inline": on_block("reverse_compute_inline"),
    "decompose_reduction": on_block_and_loop("decompose_reduction"),
    "decompose_padding": on_block_and_loop("decompose_padding"),
    "rfactor": rfactor,
    "fuse_reduction_epilogue": fuse_reduction_epilogue,
    "blockize": blockize,
    "tensorize": tensorize,
    "storage_align": storage_align,
    "set_scope": set_scope,
    "unsafe_set_dtype": unsafe_set_dtype,
    "transform_layout": transform_layout,
    "transform_block_layout": transform_block_layout,
    "reorder_block_iter_var": reorder_block_iter_var,
    "annotate": annotate,
    "unannotate": unannotate,
    "pad_einsum": pad_einsum,
    "rolling_buffer": rolling_buffer,
    "unsafe_hide_buffer_access": unsafe_hide_buffer_access,
    "annotate_buffer_access": annotate_buffer_access,
}


def draw(random, scene, primitive):
    """The text of one step of that primitive, or None where the scene has nothing for it."""
    writer = Writer(random, scene)
    try:
        PRIMITIVES[primitive](writer)
    except (IndexError, ValueError):  # nothing to choose from
        return None
    return "\n".join(writer.lines) + "\n"
