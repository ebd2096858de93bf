#include <tilewright/search/check/shrink.hpp>

#include <tilewright/dispatch/zero_extents.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

TEST_CASE("free extents shrink alone, tied ones together") {
  const auto big = shrink([](const extent_map& e) { return reify(kernels::matmul_relu, e); },
                          {{"M", 4096}, {"N", 4000}, {"K", 3}}, 1e5);
  REQUIRE(big);
  CHECK(ir::as_int(big->params[0].buffer->shape[0]) == 19);
  CHECK(ir::as_int(big->params[0].buffer->shape[1]) == 3);
  const auto image = shrink([](const extent_map& e) { return reify(kernels::window, e); },
                            {{"W", 5000}, {"Q", 4998}, {"S", 3}}, 1e3);
  REQUIRE(image);
  CHECK(work_of(*image) <= 1e3);
}

TEST_CASE("literal extents shrink with the buffers that they reach") {
  const auto shape = [](const ir::function& f, std::size_t param) {
    std::vector<std::int64_t> out;
    for (const ir::expr& e : f.params[param].buffer->shape) out.push_back(ir::as_int(e));
    return out;
  };
  using list = std::vector<std::int64_t>;
  const auto product =
      shrink(reify(kernels::matmul_relu, {{"M", 4096}, {"N", 4000}, {"K", 3}}), 1e5);
  REQUIRE(product);
  CHECK(shape(*product, 0) == list{19, 3});
  CHECK(shape(*product, 1) == list{3, 19});
  CHECK(shape(*product, 2) == list{19, 19});
  const auto image = shrink(reify(kernels::window, {{"W", 5000}, {"Q", 4998}, {"S", 3}}), 1e3);
  REQUIRE(image);
  CHECK(shape(*image, 0) == list{21});
  CHECK(shape(*image, 2) == list{19});
  const auto gather = shrink(reify(kernels::gather, {{"N", 5000}, {"C", 64}, {"M", 900}}), 1e3);
  REQUIRE(gather);
  CHECK(shape(*gather, 0) == list{5000, 19});  // who knows which rows are read
  CHECK(shape(*gather, 1) == list{19});
  const ir::function split = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):
    for i, j in T.grid(32, 32):
        with T.block("B"):
            vi = T.axis.spatial(1000, i * 32 + j)
            T.where(i * 32 + j < 1000)
            B[vi] = A[vi] + T.float32(1)
)");
  const auto small = shrink(split, 1e3);
  REQUIRE(small);
  CHECK(work_of(*small) <= 1e3);
}

TEST_CASE("a kernel that cannot shrink gives nothing") {
  const auto none = shrink(
      [](const extent_map& e) {
        if (e.at("M") != 4096) throw argument_error("M is 4096");
        return reify(kernels::matmul_relu, e);
      },
      {{"M", 4096}, {"N", 4096}, {"K", 4096}}, 1e3);
  CHECK_FALSE(none);
}

TEST_CASE("a reduction over nothing stores its identity") {
  const ir::function f = dispatch::without_iterations(
      reify(kernels::matmul_relu, {{"M", 2}, {"N", 3}, {"K", 97}}), 97);
  std::vector<float> c(6, 5.0f);
  float none = 0;
  ir::interpret(f, {{&none, {}}, {&none, {}}, {c.data(), {}}});
  for (const float v : c) CHECK(v == 0.0f);
}

TEST_CASE("definitions over nothing disappear") {
  const ir::function f = dispatch::without_iterations(
      reify(kernels::matmul_relu, {{"M", 97}, {"N", 3}, {"K", 2}}), 97);
  float none = 7;
  ir::interpret(f, {{&none, {}}, {&none, {}}, {&none, {}}});
  CHECK(none == 7);
}
