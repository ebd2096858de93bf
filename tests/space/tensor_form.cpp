#include <tilewright/space/tensor_form.hpp>

#include <doctest/doctest.h>

#include <tilewright/space/modules/multi_level_tiling_with_intrinsic.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/space/postproc/rewrite_tensorize.hpp>

#include "kernels.hpp"
#include "members.hpp"
#include "trace_text.hpp"

using namespace tilewright;

namespace {

/// C[4, 4] += A[4, 4] B[4, 4], the synthetic intrinsic of the TensorIR notes.
struct synthetic {
  synthetic() {
    const std::string head = R"(@T.prim_func
def product(A: T.Buffer((4, 4), "float32", offset_factor=1), B: T.Buffer((4, 4), "float32", offset_factor=1), C: T.Buffer((4, 4), "float32", offset_factor=1)):
    with T.block("root"):
        T.reads(C[0:4, 0:4], A[0:4, 0:4], B[0:4, 0:4])
        T.writes(C[0:4, 0:4])
)";
    intrin::add({"test_4x4x4", ir::parse(head + R"(        for i, j, k in T.grid(4, 4, 4):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"),
                 ir::parse(head + R"(        for k in T.unroll(4):
            for i in T.unroll(4):
                for j in T.vectorized(4):
                    C[i, j] = C[i, j] + A[i, k] * B[k, j]
)"),
                 nullptr});
  }
  ~synthetic() { intrin::remove("test_4x4x4"); }
};

/// A convolution with a border in a block of its own, in the types of a dot product.
ir::function conv(const std::string& x, const std::string& f, const std::string& y, int channels,
                  int filters) {
  const std::string c = std::to_string(channels), k = std::to_string(filters);
  const auto typed = [](const std::string& t) { return "\"" + t + "\""; };
  const std::string zero = y == "int32" ? "0" : "T.float32(0)";
  return ir::parse("@T.prim_func\ndef main(X: T.Buffer((1, 5, 6, " + c + "), " + typed(x) +
                   "), F: T.Buffer((3, 3, " + c + ", " + k + "), " + typed(f) +
                   "), Y: T.Buffer((1, 5, 6, " + k + "), " + typed(y) + ")):\n" +
                   "    P = T.alloc_buffer((1, 7, 8, " + c + "), " + typed(x) + ")\n" +
                   "    for n, h, w, c in T.grid(1, 7, 8, " + c + "):\n" +
                   "        with T.block(\"P\"):\n"
                   "            vn, vh, vw, vc = T.axis.remap(\"SSSS\", [n, h, w, c])\n"
                   "            P[vn, vh, vw, vc] = T.if_then_else(1 <= vh and vh < 6 and 1 <= vw "
                   "and vw < 7, X[vn, vh - 1, vw - 1, vc], T.cast(0, " +
                   typed(x) + "))\n" + "    for n, p, q, k, r, s, c in T.grid(1, 5, 6, " + k +
                   ", 3, 3, " + c + "):\n" +
                   "        with T.block(\"Y\"):\n"
                   "            vn, vp, vq, vk, vr, vs, vc = T.axis.remap(\"SSSSRRR\", [n, p, q, "
                   "k, r, s, c])\n"
                   "            with T.init():\n"
                   "                Y[vn, vp, vq, vk] = " +
                   zero +
                   "\n            Y[vn, vp, vq, vk] = Y[vn, vp, vq, vk] + T.cast(P[vn, vp + "
                   "vr, vq + vs, vc], " +
                   typed(y) + ") * T.cast(F[vr, vs, vc, vk], " + typed(y) + ")\n");
}

/// A product with max(., 0) behind it.
ir::function product_relu(int m, int n, int k) {
  const auto t = [](int x) { return std::to_string(x); };
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + t(m) + ", " + t(k) +
                   "), \"float32\"), B: T.Buffer((" + t(k) + ", " + t(n) +
                   "), \"float32\"), C: T.Buffer((" + t(m) + ", " + t(n) + "), \"float32\")):\n" +
                   "    P = T.alloc_buffer((" + t(m) + ", " + t(n) + "), \"float32\")\n" +
                   "    for i, j, k in T.grid(" + t(m) + ", " + t(n) + ", " + t(k) +
                   "):\n"
                   "        with T.block(\"P\"):\n"
                   "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                   "            with T.init():\n"
                   "                P[vi, vj] = T.float32(0)\n"
                   "            P[vi, vj] = P[vi, vj] + A[vi, vk] * B[vk, vj]\n"
                   "    for i, j in T.grid(" +
                   t(m) + ", " + t(n) +
                   "):\n"
                   "        with T.block(\"C\"):\n"
                   "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                   "            C[vi, vj] = T.max(P[vi, vj], T.float32(0))\n");
}

/// A batched product; both operands have the batch.
ir::function batched(int b, int m, int n, int k) {
  const auto t = [](int x) { return std::to_string(x); };
  return ir::parse("@T.prim_func\ndef main(A: T.Buffer((" + t(b) + ", " + t(m) + ", " + t(k) +
                   "), \"float32\"), B: T.Buffer((" + t(b) + ", " + t(n) + ", " + t(k) +
                   "), \"float32\"), C: T.Buffer((" + t(b) + ", " + t(m) + ", " + t(n) +
                   "), \"float32\")):\n    for b, i, j, k in T.grid(" + t(b) + ", " + t(m) + ", " +
                   t(n) + ", " + t(k) +
                   "):\n"
                   "        with T.block(\"C\"):\n"
                   "            vb, vi, vj, vk = T.axis.remap(\"SSSR\", [b, i, j, k])\n"
                   "            with T.init():\n"
                   "                C[vb, vi, vj] = T.float32(0)\n"
                   "            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vj, vk]\n");
}

/// What the form leaves, tensorized, computes what the function computes, interpreted and compiled.
void check_form(const ir::function& f, const std::string& block, const std::string& intrinsic,
                space::tensor_form form) {
  INFO(intrinsic);
  schedule s(f);
  const auto outer = space::give_tensor_form(s, block, *intrin::find(intrinsic), form);
  REQUIRE(outer);
  INFO(s.show());
  const auto expected = members::interpreted(f, false);
  members::check_equal(members::interpreted(s.function(), false), expected, 1e-5);
  space::rewrite_reduction_block{}(s, members::machine());
  space::rewrite_tensorize{}(s, members::machine());
  CHECK(traces::mentions(s, "sch.tensorize("));
  members::check_equal(members::interpreted(s.function(), false), expected, 1e-5);
  members::check_compiled(s.function(), expected, 1e-5);
  check_schedule(s, f);
}

/// Members of what the rule makes, finished, compute the same.
void check_rule(const ir::function& f, const std::string& intrinsic, int count) {
  space::multi_level_tiling_with_intrinsic rule;
  rule.intrinsic = intrinsic;
  const std::vector<schedule> all = members::sketches(f, {rule});
  REQUIRE_FALSE(all.empty());
  const auto finish = [](schedule& s) {
    space::rewrite_reduction_block{}(s, members::machine());
    space::rewrite_tensorize{}(s, members::machine());
    CHECK(traces::mentions(s, "sch.tensorize("));
  };
  members::check(f, all, [](schedule&) {}, {.count = count, .finish = finish});
}

}  // namespace

TEST_CASE("tensor_form: variables correspond when they index the same operands") {
  const auto what = intrin::find("dot_16x4_vnni");
  const ir::function f = conv("uint8", "int8", "int32", 4, 16);
  const schedule s(f);
  const auto mapping = space::propose_mapping(*space::named_block(s, "Y").block, *what);
  REQUIRE(mapping);
  using list = std::vector<std::size_t>;
  CHECK(mapping->fused == std::vector<list>{{3}, {4, 5, 6}});  // columns, then steps
  CHECK(mapping->outer == list{0, 1, 2});
  CHECK_FALSE(space::propose_mapping(*space::named_block(s, "P").block, *what));
  const schedule floats(kernels::conv2d());
  CHECK_FALSE(space::propose_mapping(*space::named_block(floats, "Y").block, *what));
}

TEST_CASE("tensor_form: a synthetic 4 x 4 x 4 product in 64 x 64 x 64 with max(., 0) behind it") {
  const synthetic known;
  const ir::function f = product_relu(64, 64, 64);
  for (const space::tensor_form form :
       {space::tensor_form::as_is, space::tensor_form::packed, space::tensor_form::reindexed,
        space::tensor_form::reindexed_packed})
    check_form(f, "P", "test_4x4x4", form);
  check_rule(f, "test_4x4x4", 4);
}

TEST_CASE("tensor_form: extents that are no multiples are padded; batches stay outside") {
  const synthetic known;
  check_form(product_relu(9, 7, 10), "P", "test_4x4x4", space::tensor_form::reindexed);
  check_form(product_relu(9, 7, 10), "P", "test_4x4x4", space::tensor_form::reindexed_packed);
  check_rule(product_relu(9, 7, 10), "test_4x4x4", 20);
  check_form(batched(3, 8, 4, 8), "C", "test_4x4x4", space::tensor_form::reindexed);
  check_form(batched(3, 6, 4, 9), "C", "test_4x4x4", space::tensor_form::reindexed_packed);
  schedule s(product_relu(9, 7, 10));
  const std::string before = s.show();
  for (const space::tensor_form form : {space::tensor_form::as_is, space::tensor_form::packed})
    CHECK_FALSE(space::give_tensor_form(s, "P", *intrin::find("test_4x4x4"), form));
  CHECK(s.show() == before);
  CHECK(s.trace().empty());
  // one row is no matrix: three of four would be padding
  schedule row(product_relu(1, 8, 8));
  CHECK_FALSE(space::give_tensor_form(row, "P", *intrin::find("test_4x4x4"),
                                      space::tensor_form::reindexed));
}

TEST_CASE("tensor_form: convolutions of bytes and of brain floats become dot products") {
  const ir::function bytes = conv("uint8", "int8", "int32", 8, 32),
                     brain = conv("bfloat16", "bfloat16", "float32", 6, 16);
  for (const space::tensor_form form : {space::tensor_form::packed, space::tensor_form::reindexed,
                                        space::tensor_form::reindexed_packed}) {
    check_form(bytes, "Y", "dot_16x4_vnni", form);
    check_form(brain, "Y", "dot_16x2_bf16", form);
  }
  // three channels: a row of taps is as long as a multiple of four once it is padded
  check_form(conv("uint8", "int8", "int32", 3, 20), "Y", "dot_16x4_vnni",
             space::tensor_form::reindexed_packed);
  for (const int channels : {3, 8, 30})
    check_form(conv("uint8", "int8", "int32", channels, 20), "Y", "dot_16x4_vnni",
               space::tensor_form::windowed);
  check_rule(bytes, "dot_16x4_vnni", 8);
  check_rule(brain, "dot_16x2_bf16", 8);
}

TEST_CASE("tensor_form: windows of images with channels first, in groups and strides") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((1, 12, 7, 8), "uint8"), F: T.Buffer((40, 6, 3, 3), "int8"), Y: T.Buffer((1, 40, 4, 4), "int32")):
    P = T.alloc_buffer((1, 12, 9, 10), "uint8")
    for n, c, h, w in T.grid(1, 12, 9, 10):
        with T.block("P"):
            vn, vc, vh, vw = T.axis.remap("SSSS", [n, c, h, w])
            P[vn, vc, vh, vw] = T.if_then_else(1 <= vh and vh < 8 and 1 <= vw and vw < 9, X[vn, vc, vh - 1, vw - 1], T.uint8(0))
    for n, g, k, p, q, c, r, s in T.grid(1, 2, 20, 4, 4, 6, 3, 3):
        with T.block("Y"):
            vn, vg, vk, vp, vq, vc, vr, vs = T.axis.remap("SSSSSRRR", [n, g, k, p, q, c, r, s])
            with T.init():
                Y[vn, vg * 20 + vk, vp, vq] = 0
            Y[vn, vg * 20 + vk, vp, vq] = Y[vn, vg * 20 + vk, vp, vq] + T.cast(P[vn, vg * 6 + vc, vp * 2 + vr, vq * 2 + vs], "int32") * T.cast(F[vg * 20 + vk, vc, vr, vs], "int32")
)");
  check_form(f, "Y", "dot_16x4_vnni", space::tensor_form::windowed);
  schedule s(f);
  REQUIRE(space::give_tensor_form(s, "Y", *intrin::find("dot_16x4_vnni"),
                                  space::tensor_form::windowed));
  CHECK_FALSE(space::has_block(s, "P"));  // the border is made by the copy
  // one channel would be three quarters padding
  schedule thin(conv("uint8", "int8", "int32", 1, 16));
  CHECK_FALSE(space::give_tensor_form(thin, "Y", *intrin::find("dot_16x4_vnni"),
                                      space::tensor_form::windowed));
}
