#include <tilewright/dispatch/layout.hpp>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/verify/verify.hpp>

#include <doctest/doctest.h>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::dispatch;

namespace {

std::string class_of(const std::vector<std::int64_t>& extents,
                     const std::vector<std::int64_t>& strides) {
  return classify(extents.size(), extents.data(), strides.data()).text();
}

}  // namespace

TEST_CASE("classes of layouts") {
  CHECK(class_of({4, 5}, {5, 1}) == "r");
  CHECK(class_of({4, 5}, {1, 4}) == "d10");
  CHECK(class_of({4, 5}, {8, 1}) == "u1");
  CHECK(class_of({4, 5}, {1, 8}) == "u0");
  CHECK(class_of({4, 5}, {16, 2}) == "u-");
  CHECK(class_of({2, 3, 4}, {12, 1, 3}) == "d021");
  CHECK(class_of({1, 5}, {77, 1}) == "r");  // the stride of one element means nothing
  CHECK(class_of({4, 1}, {1, 77}) == "r");
  CHECK(class_of({4, 5}, {0, 1}) == "u1");  // broadcast
  CHECK(class_of({4, 5}, {-5, 1}) == "u1");
  CHECK(class_of({}, {}) == "r");
}

TEST_CASE("strides of a class describe memory of that class") {
  for (const char* name : {"r", "d10", "u1", "u0", "u-"}) {
    const std::vector<std::vector<std::int64_t>> all{{5, 1}, {1, 4}, {8, 1}, {1, 8}, {16, 2}};
    for (const auto& strides : all) {
      const std::vector<std::int64_t> extents{4, 5}, other{7, 9};
      const layout_class c = classify(2, extents.data(), strides.data());
      if (c.text() != name) continue;
      const auto made = c.strides(other);
      CHECK(classify(2, other.data(), made.data()).text() == name);
    }
  }
}

TEST_CASE("a column-major function computes the same on column-major memory") {
  const ir::function f = reify(kernels::matmul_relu, {{"M", 3}, {"N", 4}, {"K", 5}});
  layout_class column;
  column.order = {1, 0};
  const ir::function g = with_layouts(f, {column, layout_class{}, column});
  CHECK_NOTHROW(ir::verify(g));
  CHECK(ir::as_int(g.params[0].buffer->shape[0]) == 5);
  CHECK(ir::as_int(g.params[1].buffer->shape[0]) == 5);
  CHECK(ir::as_int(ir::root_block(g)->alloc_buffers[0]->shape[0]) == 4);  // the sum goes with C
  std::vector<float> a(15), at(15), b(20), c(12), ct(12);
  for (int i = 0; i < 15; ++i) a[static_cast<std::size_t>(i)] = static_cast<float>(i % 7) - 3;
  for (int i = 0; i < 20; ++i) b[static_cast<std::size_t>(i)] = static_cast<float>(i % 5) - 2;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 5; ++k) at[k * 3 + i] = a[i * 5 + k];
  ir::interpret(f, {{a.data(), {}}, {b.data(), {}}, {c.data(), {}}});
  ir::interpret(g, {{at.data(), {}}, {b.data(), {}}, {ct.data(), {}}});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(ct[j * 3 + i] == c[i * 4 + j]);
}

TEST_CASE("strides that are not known become variables") {
  const ir::function f = reify(kernels::matmul_relu, {{"M", 3}, {"N", 4}, {"K", 5}});
  layout_class padded;
  padded.dense = false;
  padded.unit = 1;
  const ir::function g = with_layouts(f, {padded, layout_class{}, layout_class{}});
  REQUIRE(g.params[0].buffer->strides.size() == 2);
  CHECK(ir::is_var(g.params[0].buffer->strides[0]));
  CHECK(ir::is_int(g.params[0].buffer->strides[1], 1));
  CHECK(g.params[1].buffer == f.params[1].buffer);
}
