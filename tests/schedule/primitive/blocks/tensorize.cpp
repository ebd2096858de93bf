#include <tilewright/schedule/primitive/blocks/tensorize.hpp>

#include <tilewright/intrin/intrinsic.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

constexpr const char* bytes_product = R"(@T.prim_func
def main(X: T.Buffer((3, 8), "uint8"), W: T.Buffer((2, 2, 16, 4), "int8"), C: T.Buffer((3, 32), "int32")):
    for i, j, k in T.grid(3, 32, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(X[vi, vk], "int32") * T.cast(W[vj // 16, vk // 4, vj % 16, vk % 4], "int32")
)";

/// The product with tiles of 16 columns and groups of `group` in the reduction, ready to tensorize.
struct tiled {
  schedule s;
  block_rv block;
  loop_rv outer, inner;

  explicit tiled(const std::string& text, int group = 4) : s(ir::parse(text)), block(s.block("C")) {
    const std::vector<loop_rv> l = s.get_loops(block);
    const auto j = s.split(l[1], {infer, 16});
    const auto k = s.split(l[2], {infer, group});
    s.reorder(k[0], j[1], k[1]);
    s.decompose_reduction(block, k[0]);
    outer = k[0];
    inner = j[1];
  }
};

std::string changed(const std::string& from, const std::string& to) {
  std::string text = bytes_product;
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

constexpr const char* dot_description = R"(@T.prim_func
def desc(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((), "float32")):
    with T.block("root"):
        T.reads(C[()], A[0:4], B[0:4])
        T.writes(C[()])
        for i in range(0, 4):
            with T.block("update"):
                vi = T.axis.remap("R", [i])
                C[()] = C[()] + A[vi] * B[vi]
)";
constexpr const char* dot_implementation = R"(@T.prim_func
def impl(A: T.Buffer((4,), "float32", offset_factor=1), B: T.Buffer((4,), "float32", offset_factor=1), C: T.Buffer((), "float32", offset_factor=1)):
    with T.block("root"):
        T.reads(C[()], A[0:4], B[0:4])
        T.writes(C[()])
        T.block_attr({"pieces": 4})
        for i in range(2):
            with T.block("half"):
                vi = T.axis.spatial(2, i)
                C[()] = C[()] + (A[vi * 2] * B[vi * 2] + A[vi * 2 + 1] * B[vi * 2 + 1])
)";

constexpr const char* batch = R"(@T.prim_func
def main(A: T.Buffer((2, 3, 8), "float32"), B: T.Buffer((2, 5, 8), "float32"), C: T.Buffer((2, 3, 5), "float32")):
    for n, i, j in T.grid(2, 3, 5):
        with T.block("init"):
            vn, vi, vj = T.axis.remap("SSS", [n, i, j])
            C[vn, vi, vj] = T.float32(0)
    for n, i, j, k in T.grid(2, 3, 5, 8):
        with T.block("C"):
            vn, vi, vj, vk = T.axis.remap("SSSR", [n, i, j, k])
            C[vn, vi, vj] = C[vn, vi, vj] + A[vn, vi, vk] * B[vn, vj, vk]
)";

}  // namespace

TEST_CASE("tensorize: a dot product of bytes, at a loop and at a block") {
  for (const char* name : {"dot_16x4_vnni", "dot_16x4_avx512"})
    for (const bool at_block : {false, true}) {
      tiled t(bytes_product);
      if (at_block) {
        const block_rv o = t.s.blockize(t.inner);
        t.s.tensorize(o, name);
        CHECK(t.s.get(o).block->match_buffers.size() == 3);
      } else {
        t.s.tensorize(t.inner, name);
      }
      CHECK(t.s.get(t.s.block("C_update_o")).block->name == "C_update_o");
      const auto& matched = t.s.get(t.s.block("C_update_o")).block->match_buffers;
      CHECK(matched[1].source.box.size() == 4);
      CHECK(matched[1].buffer->shape.size() == 2);
      check_meaning(t.s, ir::parse(bytes_product));
    }
}

TEST_CASE("tensorize: a user's intrinsic; leading dimensions, rank 0, annotations") {
  intrin::add({"test_dot", ir::parse(dot_description), ir::parse(dot_implementation), nullptr});
  const ir::function f = ir::parse(batch);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto k = s.split(s.get_loops(c)[3], {infer, 4});
  s.tensorize(k[1], "test_dot");
  const block_rv o = s.block("C_o");
  CHECK(s.get(o).block->annotations.at("pieces") == ir::attr(4));
  CHECK(s.get(o).block->match_buffers[2].source.box.size() == 3);
  CHECK(s.get_loops(o).size() == 4);
  CHECK_NOTHROW(s.block("half"));
  check_meaning(s, f);
  intrin::remove("test_dot");
}

TEST_CASE("tensorize: the first difference is named") {
  const auto refused = [](const std::string& text, int requirement, const std::string& words,
                          int group = 4, const std::string& name = "dot_16x4_vnni") {
    INFO(text);
    tiled t(text, group);
    check_refusal(t.s, "tensorize", requirement, [&] { t.s.tensorize(t.inner, name); });
    try {
      t.s.tensorize(t.inner, name);
    } catch (const schedule_error& e) {
      CHECK_MESSAGE(std::string(e.what()).find(words) != std::string::npos, e.what());
    }
  };
  refused(bytes_product, 1, "no intrinsic is called \"dot_17x4\"", 4, "dot_17x4");
  refused(bytes_product, 3, "expected 4, found 2", 2);
  refused(changed("\"uint8\"", "\"int8\""), 3, "the type of \"X\", expected uint8, found int8");
  refused(changed("T.cast(X[vi, vk], \"int32\") * T.cast(W[vj // 16, vk // 4, vj % 16, vk % 4], "
                  "\"int32\")",
                  "T.cast(W[vj // 16, vk // 4, vj % 16, vk % 4], \"int32\") * T.cast(X[vi, vk], "
                  "\"int32\")"),
          3, "expected", 4);
  refused(changed("C[vi, vj] + T.cast(X", "C[vi, vj] - T.cast(X"), 3, "an expression, expected");
  tiled undecided(bytes_product);
  const loop_rv all = undecided.s.get_loops(undecided.block)[0];
  check_refusal(undecided.s, "tensorize", 2, [&] { undecided.s.tensorize(all, "x"); });
}

TEST_CASE("tensorize: 64-bit indices") {
  std::string text = bytes_product;
  const auto wide = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  wide("(3, 8)", "(T.int64(3), T.int64(8))");
  wide("(2, 2, 16, 4)", "(T.int64(2), T.int64(2), T.int64(16), T.int64(4))");
  wide("(3, 32)", "(T.int64(3), T.int64(32))");
  wide("T.grid(3, 32, 8)", "T.grid(T.int64(3), T.int64(32), T.int64(8))");
  wide("vj // 16, vk // 4, vj % 16, vk % 4",
       "vj // T.int64(16), vk // T.int64(4), vj % T.int64(16), vk % T.int64(4)");
  tiled t(text);
  t.s.tensorize(t.inner, "dot_16x4_vnni");
  const auto& matched = t.s.get(t.s.block("C_update_o")).block->match_buffers;
  CHECK(matched[0].buffer->shape[0].type() == dtype::i64);
  check_meaning(t.s, ir::parse(text));
}

TEST_CASE("tensorize: blocks inside an implementation follow 64-bit indices") {
  intrin::add({"test_dot", ir::parse(dot_description), ir::parse(dot_implementation), nullptr});
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((T.int64(3), T.int64(8)), "float32"), B: T.Buffer((T.int64(8),), "float32"), C: T.Buffer((T.int64(3),), "float32")):
    for i in range(T.int64(3)):
        with T.block("init"):
            vi = T.axis.spatial(T.int64(3), i)
            C[vi] = T.float32(0)
    for i, k in T.grid(T.int64(3), T.int64(8)):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + A[vi, vk] * B[vk]
)");
  schedule s(f);
  const auto k = s.split(s.get_loops(s.block("C"))[1], {infer, 4});
  s.tensorize(k[1], "test_dot");
  const ir::buffer_region& read = s.get(s.block("half")).block->reads.back();
  CHECK(read.box[0].extent.type() == dtype::i64);
  check_meaning(s, f);
  intrin::remove("test_dot");
}

TEST_CASE("tensorize: an operand that is also written") {
  intrin::add({"test_add", ir::parse(R"(@T.prim_func
def desc(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "int32", offset_factor=1)
    C = T.match_buffer(c, (4,), "int32", offset_factor=1)
    with T.block("root"):
        T.reads(A[0:4])
        T.writes(C[0:4])
        for i in range(4):
            with T.block("d"):
                vi = T.axis.spatial(4, i)
                C[vi] = A[vi] + 1
)"),
               ir::parse(R"(@T.prim_func
def impl(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "int32", offset_factor=1)
    C = T.match_buffer(c, (4,), "int32", offset_factor=1)
    with T.block("root"):
        T.reads(A[0:4])
        T.writes(C[0:4])
        for i in range(4):
            C[3 - i] = A[3 - i] + 1
)"),
               nullptr});
  const auto program = [](const char* to) {
    return ir::parse(R"(@T.prim_func
def main(X: T.Buffer((20,), "int32")):
    for o, i in T.grid(4, 4):
        with T.block("B"):
            vi = T.axis.spatial(16, o * 4 + i)
            X[vi + )" +
                     std::string(to) + R"(] = X[vi] + 1
)");
  };
  schedule s(program("1"));
  const loop_rv i = s.get_loops(s.block("B"))[1];
  check_refusal(s, "tensorize", 6, [&] { s.tensorize(i, "test_add"); });
  const ir::function apart = program("4");
  schedule t(apart);
  t.tensorize(t.get_loops(t.block("B"))[1], "test_add");
  check_meaning(t, apart);
  intrin::remove("test_add");
}

TEST_CASE("tensorize: what is noted of the blocks inside need not agree, but who copies must") {
  constexpr const char* copy = R"(@T.prim_func
def copy(From: T.Buffer((6,), "int32", offset_factor=1), To: T.Buffer((6,), "int32", scope="shared", offset_factor=1)):
    with T.block("root"):
        T.reads(From[0:6])
        T.writes(To[0:6])
        for i in range(6):
            with T.block("one"):
                vi = T.axis.spatial(6, i)
                To[vi] = From[vi]
)";
  intrin::add({"test_copy", ir::parse(copy), ir::parse(copy), nullptr});
  const auto program = [](std::string_view note) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((18,), "int32"), B: T.Buffer((18,), "int32")):
    S = T.alloc_buffer((18,), "int32", scope="shared")
    for o in range(3):
        for i in range(6):
            with T.block("S"):
                v = T.axis.spatial(18, o * 6 + i)
                T.reads(A[v])
                T.writes(S[v])
                T.block_attr({"<note>": 2})
                S[v] = A[v]
    for i in range(18):
        with T.block("B"):
            v = T.axis.spatial(18, i)
            B[v] = S[v] * 7
)",
                      {{"<note>", note}});
  };
  const ir::function noted = program("meta_schedule.tiling_structure");
  schedule s(noted);
  s.tensorize(s.get_loops(s.block("S"))[1], "test_copy");
  CHECK(s.get(s.block("S_o")).block->match_buffers.size() == 2);
  check_meaning(s, noted);
  schedule joint(program("auto_copy"));
  const loop_rv i = joint.get_loops(joint.block("S"))[1];
  check_refusal(joint, "tensorize", 3, [&] { joint.tensorize(i, "test_copy"); });
  intrin::remove("test_copy");
}
