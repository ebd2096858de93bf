// Every form of the dialect that the programs of others use: each is read, printed and read again,
// and forms that mean the same give equal functions.
#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

function read(const std::string& text) {
  CAPTURE(text);
  const function f = parse(text);
  const std::string printed = print(f);
  CAPTURE(printed);
  const function again = parse(printed);
  CHECK(print(again) == printed);
  CHECK(equal(f, again));
  return f;
}

void same(const std::string& a, const std::string& b) {
  const function f = read(a), g = read(b);
  CHECK_MESSAGE(equal(f, g), print(f), print(g));
}

/// A function of 16 x 16 float32 A and B, 16 float32 C, 16 int32 I and a scalar n.
std::string around(std::string body) {
  std::string out =
      "@T.prim_func\n"
      "def f(A: T.Buffer((16, 16)), B: T.Buffer((16, 16)), C: T.Buffer(16), I: T.Buffer((16,), "
      "\"int32\"), n: T.int32):\n";
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    out += "    " + body.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

void same_body(const std::string& a, const std::string& b) { same(around(a), around(b)); }

/// The printed right side of `C[0] = text`.
std::string value_of(const std::string& text) {
  const std::string printed = print(read(around("C[0] = " + text)));
  const std::size_t at = printed.find("C[0] = ") + 7;
  return printed.substr(at, printed.find('\n', at) - at);
}

}  // namespace

TEST_CASE("dialect: what stands around a function") {
  const std::string plain =
      "@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n    A[0] = 1.0\n";
  same(plain,
       "# from tvm.script import tir as T\n\n@T.prim_func(private=True, check_well_formed=False)\n"
       "def main(a: T.handle) -> None:\n    \"\"\"A docstring.\"\"\"\n"
       "    A = T.match_buffer(a, (4,), \"float32\")\n    A[0] = 1.0  # fmt: skip\n");
  same(plain,
       "import tvm\nfrom tvm.script import ir as I, tirx as X\n\n@I.ir_module\nclass Module:\n"
       "    I.module_attrs({\"a\": 1})\n    @X.prim_func\n    def other(n: X.int32):\n        "
       "X.evaluate(n)\n\n"
       "    @X.prim_func(s_tir=True)\n    def main(A: X.Buffer((4,), \"float32\")):\n        A[0] "
       "= 1.0\n\n"
       "    @R.function\n    def graph(x: R.Tensor((4,))):\n        return x\n");
  same(plain,
       "N = 4\nshape = (N,)\n@Ts.function\ndef main(A: T.Tensor(shape, \"float32\")):\n    A[N - "
       "4] = 1.0\n");
  same(plain,
       "    @T.prim_func\n    def main(A: T.Buffer[(4,), \"float32\"]):\n        A[0] = 1.0\n");
  same(plain,
       "@tvm.script.ir_module\nclass M:\n  @T.prim_func\n  def main(A: T.Buffer(shape=4, "
       "dtype=\"float32\")): A[0] = 1.0\n");
  same(plain,
       "@T.prim_func\ndef main(A: tir.Buffer([4])):\n    A[\n        0\n    ] = \\\n        1.0; "
       "pass\n");
}

TEST_CASE("dialect: symbolic shapes") {
  const std::string handle =
      "@T.prim_func\ndef f(a: T.handle, b: T.handle):\n    n = T.int32()\n    m = T.int64()\n"
      "    A = T.match_buffer(a, (n, 8))\n    B = T.match_buffer(b, (m * T.int64(2), 8))\n    A[0, "
      "0] = 1.0\n";
  same(handle,
       "@T.prim_func\ndef f(A: T.Buffer((\"n\", 8)), B: T.Buffer((\"m * T.int64(2)\", 8))):\n"
       "    n = T.int32()\n    m = T.int64()\n    A[0, 0] = 1.0\n");
  same(handle,
       "m = TypeVar(\"m\")\n@T.prim_func\ndef f(A: T.Buffer((\"n\", 8)), B: T.Buffer((\"m * "
       "T.int64(2)\", 8))):\n"
       "    n = T.int32()\n    A[0, 0] = 1.0\n");
  same("@T.prim_func\ndef f(A: T.Buffer((\"n\",)), n: T.int32):\n    A[0] = 1.0\n",
       "@T.prim_func\ndef f(a: T.handle, n: T.int32):\n    A = T.match_buffer(a, (n,))\n    A[0] = "
       "1.0\n");
  same(
      "@T.prim_func\ndef f(a: T.handle):\n    n, m = T.int32(), T.var(\"int32\")\n"
      "    A = T.match_buffer(a, (n, m))\n    A[0, 0] = 1.0\n",
      "@T.prim_func\ndef f(a: T.handle):\n    n = T.int32(is_size_var=True)\n    m = "
      "T.SizeVar(\"m\", \"int32\")\n"
      "    A = T.match_buffer(a, [n, m], \"float32\", None)\n    A[0, 0] = 1.0\n");
}

TEST_CASE("dialect: a shape names a scalar that a later parameter declares") {
  same("@T.prim_func\ndef f(A: T.Buffer((8, n)), n: T.int32):\n    A[0, n - 1] = 1.0\n",
       "@T.prim_func\ndef f(A: T.Buffer((8, \"n\")), n: T.int32):\n    A[0, n - 1] = 1.0\n");
}

TEST_CASE("dialect: layouts of buffers") {
  same(
      "@T.prim_func\ndef f(a: T.handle):\n    s = T.int32()\n    o = T.int32()\n"
      "    A = T.match_buffer(a, (8, 8), \"float16\", strides=[s, 1], elem_offset=o, "
      "scope=\"shared\", "
      "align=16, offset_factor=8, buffer_type=\"auto\", axis_separators=[1])\n    A[0, 0] = 1.0\n",
      "@T.prim_func\ndef f(a: T.handle):\n    s = T.int32()\n    o = T.int32()\n"
      "    A = T.match_buffer(a, (8, 8), \"float16\", None, (s, 1), o, \"shared\", 16, 8, "
      "\"auto\", [1])\n"
      "    A[0, 0] = 1.0\n");
  const function f = read(
      "@T.prim_func\ndef f(A: T.Buffer((8, 8), strides=(\"s\", 1), offset_factor=4)):\n"
      "    T.evaluate(A.elem_offset // A.strides[0])\n");
  REQUIRE(f.params[0].buffer->elem_offset);
  CHECK(is_var(f.params[0].buffer->elem_offset));
  const function wide = read(
      "@T.prim_func\ndef f(A: T.Buffer((T.int64(8),), offset_factor=4)):\n"
      "    T.evaluate(A.elem_offset // T.int64(4))\n");
  CHECK(wide.params[0].buffer->elem_offset.type() == dtype::i64);
  same_body(
      "n_bytes = T.meta_var(A.shape[0] * len(A.shape))\nC[n_bytes - 17] = T.Cast(A.dtype, I[0])",
      "C[15] = T.Cast(\"float32\", I[0])");
  same_body("D = T.decl_buffer((256,), data=A.data)\nD[0] = 1.0",
            "D = T.Buffer(256, \"float32\", data=A.data)\nD[0] = 1.0");
  same_body("D = T.allocate([16], \"float32\", \"shared\")\nD[0] = 1.0",
            "with T.decl_buffer((16,), scope=\"shared\") as D:\n    D[0] = 1.0");
  same_body("D = T.allocate_const([[1, 2], [3, 4]], \"int32\", [2, 2])\nD[0, 1] = D[1, 0]",
            "D = T.decl_buffer((2, 2), \"int32\")\nD[0, 0] = 1\nD[0, 1] = 2\nD[1, 0] = 3\n"
            "D[1, 1] = 4\nD[0, 1] = D[1, 0]");
  same_body(
      "with T.allocate_const(data=[1.5, -2], dtype=\"float16\", extents=[2]) as D:\n"
      "    D[0] = D[1]",
      "D = T.decl_buffer((2,), \"float16\")\nD[0] = T.float16(1.5)\n"
      "D[1] = T.float16(-2)\nD[0] = D[1]");
}

TEST_CASE("dialect: a unit stride alone where a block allocates") {
  const auto with = [](const std::string& layout) {
    return "@T.prim_func\ndef main(A: T.Buffer((4, 4), \"int32\")):\n    B = "
           "T.sblock_alloc_buffer(" +
           layout +
           ", \"int32\"LAYOUT)\n    for i, j in T.grid(4, 4):\n        with T.sblock(\"A\"):\n"
           "            vi, vj = T.axis.remap(\"SS\", [i, j])\n            A[vi, vj] = B[ACCESS]\n";
  };
  const auto fill = [&](const std::string& shape, const std::string& access,
                        const std::string& layout) {
    std::string text = with(shape);
    text.replace(text.find("LAYOUT"), 6, layout);
    text.replace(text.find("ACCESS"), 6, access);
    return text;
  };
  same(fill("(4, 4)", "vi, vj", ", strides=(1,)"), fill("(4, 4)", "vi, vj", ""));
  same(fill("(4,)", "vi", ", strides=[1]"), fill("(4,)", "vi", ""));
  CHECK_THROWS_AS(parse(fill("(4, 4)", "vi, vj", ", strides=(2,)")), parse_error);
}

TEST_CASE("dialect: symbolic extents declared together, behind the strings that name them") {
  const std::string apart = R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    m = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    for i in range(n):
        for j in range(m):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.spatial(m, j)
                B[vi, vj] = A[vi, vj]
)";
  const std::string together = R"(
@T.prim_func(s_tir=True)
def main(A: T.Buffer(("n", "m"), "float32"), B: T.Buffer((n, m), "float32")):
    n, m = T.int32(), T.int64()
    for i in range(n):
        for j in range(m):
            with T.sblock("B"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.spatial(m, j)
                B[vi, vj] = A[vi, vj]
)";
  same(apart, together);
}

TEST_CASE("dialect: loops") {
  same_body("for i, j in T.grid(16, 4):\n    C[i] = 0",
            "for i in T.serial(0, 16):\n    for j in range(4):\n        C[i] = 0");
  same_body("for i in T.grid(16):\n    C[i] = 0",
            "for i in T.serial(start=0, stop=16):\n    C[i] = 0.0");
  same_body("for ij in T.grid(*A.shape):\n    A[ij] = 0",
            "for (i, j) in T.grid(16, 16):\n    A[i, j] = 0");
  same_body(
      "for *i, k in T.grid(4, 4, 2):\n    A[i] = A[(*i,)] + B[i] * k",
      "for i, j, k in T.grid(4, 4, 2):\n    A[i, j] = A[i, j] + B[i, j] * T.Cast(\"float32\", k)");
  same_body("for i in range(2, 16, 3):\n    C[i] = 0", "for i in range(5):\n    C[2 + i * 3] = 0");
  same_body("for i in T.thread_binding(16, \"threadIdx.x\"):\n    C[i] = 0",
            "with T.launch_thread(\"threadIdx.x\", 16) as i:\n    C[i] = 0");
  same_body("for i in T.thread_binding(0, 16, thread=\"threadIdx.x\"):\n    C[i] = 0",
            "tx = T.env_thread(\"threadIdx.x\")\nT.launch_thread(tx, 16)\nC[tx] = 0");
  same_body(
      "for i in T.unroll(16, annotations={\"a\": [1, 2.0, \"x\"], \"b\": True}):\n    C[i] = 0",
      "for i in T.unroll(16, annotations={\"a\": (1, T.float64(2), \"x\"), \"b\": "
      "T.bool(True)}):\n    C[i] = 0");
  read(around("for i in T.vectorized(n, n + 4):\n    C[i] = 0"));
  read(around("while C[0] < 1.0:\n    C[0] += 1.0"));
}

TEST_CASE("dialect: blocks") {
  const std::string plain =
      "for i, j in T.grid(16, 16):\n    with T.block(\"x\"):\n        vi, vj = "
      "T.axis.remap(\"SR\", [i, j])\n"
      "        T.where(i < 8)\n        T.reads(A[vi, vj])\n        T.writes(C[vi])\n"
      "        T.block_attr({\"k\": {\"z\": [1]}})\n        with T.init():\n            C[vi] = "
      "T.float32(0)\n"
      "        C[vi] = C[vi] + A[vi, vj]";
  same_body(
      plain,
      "for i, j in T.grid(16, 16):\n    with T.sblock(\"y\"):\n        vi = T.axis.S(16, i)\n"
      "        vj = T.axis.R((0, 16), j)\n        T.where(i < 8)\n        T.reads([A[vi, vj]])\n"
      "        T.writes([C[vi:vi + 1]])\n        T.sblock_attr({\"k\": {\"z\": [1]}})\n        "
      "with T.init():\n"
      "            C[vi] = 0\n        C[vi] += A[vi, vj]");
  same_body(
      "for i in range(16):\n    with T.block():\n        vi = T.axis.spatial(16, i)\n        C[vi] "
      "= A[vi, 0]",
      "for i in range(16):\n    with T.sblock(\"\"):\n        vi = T.axis.spatial(16, i)\n        "
      "T.reads(A[vi, 0])\n"
      "        T.writes(C[vi])\n        C[vi] = A[vi, 0]");
  same_body(
      "with T.block(\"root\"):\n    T.reads()\n    T.writes()\n    D = T.alloc_buffer((16,), "
      "\"float32\", scope=\"local\")\n"
      "    for i in range(16):\n        with T.block(\"x\"):\n            vi = T.axis.scan(16, "
      "i)\n            D[vi] = 0",
      "D = T.sblock_alloc_buffer([16], scope=\"local\")\nfor i in range(16):\n    with "
      "T.block(\"x\"):\n"
      "        vi = T.axis.scan(16, i)\n        D[vi] = 0");
  same_body(
      "with T.block(\"x\"):\n    T.reads(A[:, 2:4], B)\n    T.writes(C[:8])\n    D = "
      "T.match_buffer(A[:, 2:4])\n    C[0] = D[0, 0]",
      "with T.block(\"x\"):\n    T.reads(A[0:16, 2:4], B[0:16, 0:16])\n    T.writes(C[0:8])\n"
      "    D = T.match_buffer(A[0:16, 2:4], (16, 2), dtype=\"float32\")\n    C[0] = D[0, 0]");
}

TEST_CASE("dialect: values") {
  CHECK(value_of("1 << 3 | 2") == "T.float32(10.0)");
  CHECK(value_of("T.float32(I[0] & 3 ^ 1 << 2)") ==
        "T.Cast(\"float32\", T.bitwise_xor(T.bitwise_and(I[0], 3), 4))");
  CHECK(value_of("I[0] * 2.0") == "T.Cast(\"float32\", I[0]) * T.float32(2.0)");
  CHECK(value_of("I[0]") == "T.Cast(\"float32\", I[0])");
  CHECK(value_of("I[0].astype(\"float32\")") == "T.Cast(\"float32\", I[0])");
  CHECK(value_of("T.cast(I[0], \"float32\")") == "T.Cast(\"float32\", I[0])");
  CHECK(value_of("T.cast(I[0], \"float32\",)") == "T.Cast(\"float32\", I[0])");
  CHECK(value_of("2 ** 3 / 4") == "T.float32(2.0)");
  CHECK(value_of("A[0, 0] ** 2.0") == "T.pow(A[0, 0], T.float32(2.0))");
  CHECK(value_of("A[0, 0] if 0 <= n < 4 else 1") ==
        "T.if_then_else(0 <= n and n < 4, A[0, 0], T.float32(1.0))");
  CHECK(value_of("T.max(A[0, 0], min(1.0, C[0]))") ==
        "T.max(A[0, 0], T.min(T.float32(1.0), C[0]))");
  CHECK(value_of("T.Select(T.all(n > 1, n < 3, n != 2), T.fabs(C[0]), T.power(C[0], 2.0))") ==
        "T.Select(n > 1 and n < 3 and n != 2, T.abs(C[0]), T.pow(C[0], T.float32(2.0)))");
  CHECK(value_of("T.reinterpret(\"float32\", I[0])") == "T.reinterpret(\"float32\", I[0])");
  CHECK(value_of("T.reinterpret(I[0], dtype=\"float32\")") == "T.reinterpret(\"float32\", I[0])");
  CHECK(value_of("T.tvm_thread_invariant(C[0])") == "T.tvm_thread_invariant(C[0])");
  CHECK(value_of("T.call_extern(\"g\", C[0], dtype=\"float32\")") ==
        "T.call_extern(\"float32\", \"g\", C[0])");
  CHECK(value_of("T.call_intrin(\"float32\", \"tirx.exp\", C[0])") == "T.exp(C[0])");
  CHECK(value_of("T.exp(C[0], dtype=\"float32\")") == "T.exp(C[0])");
  CHECK(value_of("T.Let(C[x] + 1.0, where={x: n + 1})") ==
        "T.Let(C[x] + T.float32(1.0), where={x: n + 1})");
  CHECK(value_of("T.min_value(\"float32\")") == "T.float32(-3.4028234663852886e+38)");
  CHECK(value_of("T.if_then_else(n < 2, A[0, 0], 0.0, dtype=\"float32\",)") ==
        "T.if_then_else(n < 2, A[0, 0], T.float32(0.0))");
  CHECK(value_of("T.cast(n, \"float32\",)") == "T.Cast(\"float32\", n)");
  CHECK(value_of("T.q_multiply_shift_per_axis(n, n, n, 1, 31, False, True) + n") ==
        "T.Cast(\"float32\", T.q_multiply_shift_per_axis(n, n, n, 1, 31, T.bool(False), "
        "T.bool(True)) + n)");
  CHECK(value_of("float(\"inf\")") == "T.float32(\"inf\")");
  CHECK(value_of("~n + T.clz(n)") == "T.Cast(\"float32\", T.bitwise_not(n) + T.clz(n))");
  CHECK(value_of("T.truncdiv(n, 2) + T.ceildiv(n, 4)") ==
        "T.Cast(\"float32\", T.Div(n, 2) + (n + 3) // 4)");
}

TEST_CASE("dialect: calls with an effect, pointers, attributes") {
  same_body("T.call_extern(\"g\", A.data, A.shape[0], dtype=\"\")",
            "T.evaluate(T.call_extern(\"handle\", \"g\", A.data, 16))");
  same_body(
      "T.evaluate(T.tvm_load_matrix_sync(A.data, 16, "
      "T.tvm_access_ptr(T.type_annotation(dtype=\"float32\"), "
      "B.data, 0, 256, 1, dtype=\"handle\"), \"row_major\", dtype=\"handle\"))",
      "T.tvm_load_matrix_sync(A.data, 16, B.access_ptr(\"r\"), \"row_major\")");
  same_body("T.assume(I[0] == 5)\nC[T.Ramp(0, 1, 4)] = T.Broadcast(1.0, 4)",
            "T.evaluate(T.assume(I[0] == 5))\nC[0:4] = T.broadcast(T.float32(1), 4)");
  same_body("with T.attr(0, \"key\", \"value\"):\n    C[0] = 1",
            "T.attr({\"key\": \"value\"})\nC[0] = 1");
  same_body("with T.attr(0, \"a\", 1):\n    with T.attr(0, \"b\", 2):\n        C[0] = 1",
            "T.attr({\"a\": 1, \"b\": 2,})\nC[0] = 1");
  same_body("x: T.int32 = n + 1\nC[x] = 1", "with T.LetStmt(n + 1) as x:\n    C[x] = 1");
  same_body("x = n + 1\nC[x] = 1", "x = T.int32()\nT.LetStmt(n + 1, var=x)\nC[x] = 1");
  same_body("x: T.let[T.int32] = n + 1\nC[x] = 1",
            "x = T.int32()\nwith T.let(x, n + 1):\n    C[x] = 1");
  same_body("a, b = T.meta_var((n, 2))\nC[a] = b", "C[n] = 2");
  read(
      around("m: T.uint32 = T.tvm_warp_activemask()\nC[0] = T.tvm_warp_shuffle_down(m, C[1], 16, "
             "32, 32)"));
  read(around("T.evaluate(T.address_of(A[0, 0]))\nT.tvm_storage_sync(\"shared\")"));
  read(around(
      "assert n > 1, \"too small\"\nT.evaluate(T.ptx_mma(\"float16\", \"m8n8k4\", A.data, 0))"));
  read(
      around("x: T.uint8x4 = T.reinterpret(\"uint8x4\", n)\nT.evaluate(T.Cast(\"int32x4\", "
             "I[T.Ramp(0, 1, 4)]))"));
  read(
      "@T.prim_func\ndef f(x: T.handle(\"int32\"), y: T.handle) -> T.int32:\n    "
      "T.evaluate(T.tvm_struct_get(y, 0, 12, dtype=\"int32\"))\n    T.ret(T.int32(1))\n");
}

TEST_CASE("dialect: scalars that change, views, memory of threads") {
  same_body("x: T.int32 = 0\nfor i in range(16):\n    x = x + I[i]\n    x += 1\nI[0] = x",
            "x = T.local_scalar(\"int32\")\nx = 0\nfor i in range(16):\n    x = x + I[i]\n"
            "    x += 1\nI[0] = x");
  same_body(
      "x: T.float32\nx = 1.0\nC[0] = x * x",
      "x = T.decl_buffer((1,), \"float32\", scope=\"local\")\nx[0] = 1.0\nC[0] = x[0] * x[0]");
  // what is never assigned again stays a let
  same_body("for i in range(4):\n    x: T.int32 = I[i]\n    C[i] = x\nx: T.int32 = 3\nC[0] = x",
            "for i in range(4):\n    with T.LetStmt(I[i]) as x:\n        C[i] = x\n"
            "with T.LetStmt(3) as x:\n    C[0] = x");
  same_body(
      "D = T.alloc_shared((16,), \"float32\")\nE = T.alloc_local([4], \"int32\")\nD[0] = E[0]",
      "D = T.decl_buffer((16,), scope=\"shared\")\n"
      "E = T.decl_buffer((4,), \"int32\", scope=\"local\")\nD[0] = E[0]");
  same_body("D = A.view(256)\nE = A.view(4, 64)\nD[3] = E[1, 2]",
            "D = T.decl_buffer((256,), data=A.data)\nE = T.decl_buffer((4, 64), data=A.data)\n"
            "D[3] = E[1, 2]");
  CHECK_THROWS_AS(parse(around("D = A.view(\"int8\")\nD[0] = 1")), parse_error);
  const function f = read(
      "@T.prim_func\ndef f(C: T.Buffer((4,), \"int32\")):\n    x: T.int32 = 1\n"
      "    for i in range(4):\n        x = x * 2\n        C[i] = x\n");
  std::int32_t out[4] = {};
  interpret(f, {{out, {}}});
  CHECK(out[3] == 16);
}

TEST_CASE("dialect: macros") {
  const std::string head = "@T.prim_func\ndef f(A: T.Buffer(16), B: T.Buffer(16)):\n";
  same("@T.macro\ndef copy(X, Y, i, by=2.0):\n    Y[i] = X[i] * by\n\n" + head +
           "    for k in range(16):\n        copy(A, B, k)\n    copy(B, i=3, Y=A, "
           "by=T.float32(3))\n",
       head + "    for k in range(16):\n        B[k] = A[k] * 2.0\n    A[3] = B[3] * 3.0\n");
  // hygiene: the names of the module, or those of the caller
  const std::string plain =
      "def put(X):\n    X[n] = 1.0\n\n" + head + "    for n in range(4):\n        put(A)\n";
  same("n = 5\n@T.macro(hygienic=True)\n" + plain,
       head + "    for n in range(4):\n        A[5] = 1.0\n");
  same("n = 5\n@T.macro(hygienic=False)\n" + plain,
       head + "    for n in range(4):\n        A[n] = 1.0\n");
  same(head +
           "    @T.inline\n    def block(i):\n        with T.block(\"B\"):\n"
           "            vi = T.axis.spatial(16, i)\n            B[vi] = A[vi]\n"
           "    for i in range(16):\n        block(i)\n",
       head +
           "    for i in range(16):\n        with T.block(\"B\"):\n"
           "            vi = T.axis.spatial(16, i)\n            B[vi] = A[vi]\n");
  CHECK_THROWS_AS(parse("@T.macro\ndef m(X, i):\n    X[i] = 1.0\n" + head + "    m(A)\n"),
                  parse_error);
  CHECK_THROWS_AS(parse("@T.macro\ndef m(X):\n    m(X)\n    m(X)\n" + head + "    m(A)\n"),
                  parse_error);
}

TEST_CASE("dialect: while, attributes and lets run") {
  const function f = read(
      "@T.prim_func\n"
      "def f(C: T.Buffer((4,), \"int32\")):\n"
      "    with T.attr(0, \"k\", 1):\n"
      "        C[0] = 0\n"
      "        while C[0] < 5:\n"
      "            C[0] += 2\n"
      "        C[1] = T.Let(x * x, where={x: C[0]})\n"
      "        y = C[1] - 1\n"
      "        C[2] = y\n"
      "        for i in range(1, 8, 3):\n"
      "            C[3] = i\n"
      "        C[0] = T.reinterpret(\"int32\", T.Cast(\"float32\", C[0]))\n");
  std::int32_t out[4] = {9, 9, 9, 9};
  interpret(f, {{out, {}}});
  CHECK(out[0] == 0x40c00000);  // the bits of 6.0f
  CHECK(out[1] == 36);
  CHECK(out[2] == 35);
  CHECK(out[3] == 7);
}

TEST_CASE("dialect: what nobody defines is declared first, and regions have one type") {
  read(around("m = T.int64()\nC[m + 1] = 1.0\nm = T.int32()\nx: T.int32 = m\nC[x] = 2.0"));
  read(
      around("with T.block(\"x\"):\n    T.reads(A[0:4000000000, 0:2])\n    T.writes()\n    "
             "T.evaluate(0)"));
}

TEST_CASE("dialect: regions that a script leaves out") {
  same_body(
      "for i in range(16):\n    with T.block(\"x\"):\n        vi = T.axis.S(T.int64(16), "
      "T.int64(i))\n"
      "        for j in range(4):\n            C[vi] = A[vi, vi] + A[vi + T.int64(j), 3]",
      "for i in range(16):\n    with T.block(\"x\"):\n        vi = T.axis.S(T.int64(16), "
      "T.int64(i))\n"
      "        T.reads(A[vi:vi + T.int64(4), T.min(vi, T.int64(3)):T.min(vi, T.int64(3)) + "
      "(T.max(vi + T.int64(1), T.int64(4)) - T.min(vi, T.int64(3)))])\n        T.writes(C[vi])\n"
      "        for j in range(4):\n            C[vi] = A[vi, vi] + A[vi + T.int64(j), 3]");
  same_body(
      "for i in range(16):\n    with T.block(\"x\"):\n        vi = T.axis.S(16, i)\n"
      "        for j, u in T.grid(4, 1):\n            C[vi] = A[vi + u, j * 2] + "
      "B[T.if_then_else(vi < 3, vi, 0), I[vi]]",
      "for i in range(16):\n    with T.block(\"x\"):\n        vi = T.axis.S(16, i)\n"
      "        T.reads(A[vi, 0:7], B[0:16, 0:16], I[vi])\n        T.writes(C[vi])\n"
      "        for j, u in T.grid(4, 1):\n            C[vi] = A[vi + u, j * 2] + "
      "B[T.if_then_else(vi < 3, vi, 0), I[vi]]");
}

TEST_CASE("dialect: reducers are read and printed as lambdas") {
  const std::string sum = "T.evaluate(T.comm_reducer(lambda a, b: a + b, [T.float32(0)]))",
                    largest =
                        "with T.attr(T.comm_reducer(lambda i, v, j, w: (T.Select(v >= w, i, j), "
                        "T.Select(v >= w, v, w)), [T.int32(-1), T.min_value(\"float32\")]), "
                        "\"reduce_scope\", T.int32(0)):\n    C[0] = 1.0";
  CHECK(print(read(around(sum))).find("T.comm_reducer(lambda x0, y0: x0 + y0, [") !=
        std::string::npos);
  CHECK(
      print(read(around(largest)))
          .find(
              "lambda x0, x1, y0, y1: (T.Select(x1 >= y1, x0, y0), T.Select(x1 >= y1, x1, y1))") !=
      std::string::npos);
  same_body(sum, "T.evaluate(T.comm_reducer(lambda x, y: x + y, [T.float32(0.0),],))");
  CHECK_THROWS_WITH_AS(
      parse(around("T.evaluate(T.comm_reducer(lambda a, b: a + n, [T.float32(0)]))")),
      doctest::Contains("a reducer of its parameters and literals alone"), parse_error);
  CHECK_THROWS_WITH_AS(parse(around("T.evaluate(T.comm_reducer(lambda a: a, [T.float32(0)]))")),
                       doctest::Contains("one identity for every two parameters"), parse_error);
}

TEST_CASE("dialect: commas at the end, targets with a host, buffers in attributes, pointer types") {
  same_body(
      "for i in range(4):\n    with T.block(\"x\"):\n        vi = T.axis.remap(\"S\", [i,],)\n"
      "        T.block_attr({\"free\": [A, B]})\n        C[vi] = 1.0",
      "for i in range(4):\n    with T.block(\"x\"):\n        vi = T.axis.remap(\"S\", [i])\n"
      "        T.block_attr({\"free\": [\"A\", \"B\"]})\n        C[vi] = 1.0");
  const function f = read(
      "@T.prim_func\ndef f(x: T.handle):\n"
      "    T.func_attr({\"target\": T.target(\"nvidia/nvidia-a100\", host=\"llvm\")})\n"
      "    p: T.let[T.handle(\"float32\")] = T.reinterpret(T.handle(\"float32\").ty, "
      "T.tvm_struct_get(x, 0, 1, dtype=\"handle\"))\n    T.evaluate(p)\n");
  CHECK(std::get<attr::dict>(f.attrs.at("target").value).at("host") == attr("llvm"));
  CHECK_THROWS_AS(
      parse(around("with T.block(\"x\"):\n    T.block_attr({\"free\": [Z]})\n    C[0] = 1.0")),
      parse_error);
}

TEST_CASE("dialect: notes about memory, steps of any value, slices that count in T.vscale") {
  same_body("D = T.alloc_buffer((4,), annotations={\"k\": 1})\nD[0] = C[0]",
            "D = T.alloc_buffer((4,))\nD[0] = C[0]");
  same_body("for i in T.serial(2, 16, step=n):\n    C[i] = 1.0",
            "for i in range((14 + (n - 1)) // n):\n    C[2 + i * n] = 1.0");
  same_body("C[0:T.vscale() * 4] = C[4:4 + T.vscale() * 4]",
            "C[T.Ramp(0, 1, T.vscale() * 4)] = C[T.Ramp(4, 1, T.vscale() * 4)]");
}
