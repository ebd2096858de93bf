// Comparisons of results so large that several threads share them.
#include <tilewright/search/check/verify.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/search/check/output_spans.hpp>
#include <tilewright/impl/search/measurement/element_parts.hpp>
#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/text/parse.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace tilewright;
using namespace tilewright::search;

namespace {

constexpr std::size_t many = 9 * search::detail::elements_of_part + 5;

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> out(values.size() * sizeof(float));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

operand output() {
  operand o;
  o.name = "Y";
  o.type = dtype::f32;
  o.extents = {static_cast<std::int64_t>(many)};
  o.strides = {1};
  o.written = true;
  return o;
}

}  // namespace

TEST_CASE("every element is in one part") {
  for (const std::size_t elements :
       {std::size_t{0}, std::size_t{1}, search::detail::elements_of_part, many}) {
    std::vector<std::atomic<int>> visits(elements);
    std::atomic<std::size_t> parts{0};
    search::detail::in_parts(elements, [&](std::size_t part, std::size_t first, std::size_t end) {
      CHECK(part < search::detail::parts_of(elements));
      ++parts;
      for (std::size_t i = first; i < end; ++i) ++visits[i];
    });
    CHECK(parts == search::detail::parts_of(elements));
    std::size_t once = 0;
    for (const std::atomic<int>& v : visits) once += v == 1;
    CHECK(once == elements);
  }
}

TEST_CASE("the first difference is named, in whatever part it lies") {
  const std::vector<operand> all{output()};
  std::vector<float> expected(many, 2), actual = expected;
  actual[7] = 2.000001f;  // within the tolerance
  const auto difference = [&] {
    return compare_outputs(all, {}, {bytes_of(expected)}, {bytes_of(actual)});
  };
  CHECK(difference().empty());
  for (const std::size_t at : {many - 1, 5 * search::detail::elements_of_part, std::size_t{3}}) {
    actual[at] = 2.5f;
    CHECK(difference().find("Y[" + std::to_string(at) + "] is 2.5 instead of 2 ") == 0);
  }
  actual = expected;
  expected[many - 2] = std::numeric_limits<float>::quiet_NaN();
  CHECK(difference().find("Y[" + std::to_string(many - 2) + "] is 2 instead of nan") == 0);
  actual[many - 2] = expected[many - 2];
  CHECK(difference().empty());
}

TEST_CASE("results may differ by what the function allows its algorithms") {
  ir::function f = ir::parse(
      "@T.prim_func\ndef main(X: T.Buffer((2,), \"float32\"), Y: T.Buffer((2,), "
      "\"float32\")):\n    T.func_attr({\"tilewright.error\": 0.001})\n"
      R"(    for i in range(2):
        with T.block("Y"):
            vi = T.axis.spatial(2, i)
            Y[vi] = X[vi]
)");
  operand few = output();
  few.extents = {2};
  const auto differ = [&](float actual) {
    return !compare_outputs({few}, needs_of(f), {bytes_of({4, 4})}, {bytes_of({4, actual})})
                .empty();
  };
  CHECK(needs_of(f).error == 0.001);
  CHECK_FALSE(differ(4.0039f));
  CHECK(differ(4.0041f));
  f.attrs.erase(ir::error_attribute);
  CHECK(differ(4.0039f));
}

TEST_CASE("an infinity is expected where it came out, and nowhere else") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  operand few = output();
  few.extents = {2};
  const auto differ = [&](float expected, float actual, non_finite kinds) {
    return !compare_outputs({few}, {}, {bytes_of({1, expected})}, {bytes_of({1, actual})}, kinds)
                .empty();
  };
  for (const non_finite kinds : {non_finite::apart, non_finite::alike}) {
    const bool apart = kinds == non_finite::apart;
    CHECK_FALSE(differ(infinity, infinity, kinds));
    CHECK(differ(infinity, 5, kinds) == apart);  // a sum in another order need not overflow
    CHECK(differ(infinity, -infinity, kinds) == apart);
    CHECK(differ(5, infinity, kinds));
  }
}

TEST_CASE("the root mean square of many elements leaves out what is not finite") {
  std::vector<float> values(many, 3);
  values[many / 2] = std::numeric_limits<float>::infinity();
  CHECK(search::detail::root_mean_square(dtype::f32, bytes_of(values)) == doctest::Approx(3));
}

TEST_CASE("results are compared where they lie, with gaps between them or without") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((3, 4), "int32"), B: T.Buffer((3, 4), "int32"), C: T.Buffer((3, 4), "int32")):
    for i, j in T.grid(3, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
            C[vi, vj] = A[vi, vj]
)");
  runner r(f, {{{4, 1}, {}}, {{8, 2}, {}}, {{4, 1}, {}}}, backend::serial_executor(), 1);
  for (const int k : {1, 2})
    for (int i = 0; i < 12; ++i) {
      const std::vector<std::int64_t>& s = r.layouts()[static_cast<std::size_t>(k)].strides;
      static_cast<std::int32_t*>(
          r.data()[static_cast<std::size_t>(k)])[i / 4 * s[0] + i % 4 * s[1]] = 100 * k + i;
    }
  const search::detail::outputs_in_place there(r);
  const std::vector<std::vector<std::byte>> copied = r.outputs();
  REQUIRE(there.spans().size() == 2);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(std::equal(copied[k].begin(), copied[k].end(), there.spans()[k].begin(),
                     there.spans()[k].end()));
    std::int32_t last = 0;
    std::memcpy(&last, &there.spans()[k][44], sizeof last);
    CHECK(last == 100 * static_cast<int>(k + 1) + 11);
  }
  CHECK(there.spans()[1].data() == static_cast<const std::byte*>(r.data()[2]));
  CHECK(search::detail::compare_spans(r.operands(), {}, search::detail::spans_of(copied),
                                      there.spans())
            .empty());
  ++static_cast<std::int32_t*>(r.data()[2])[6];
  CHECK(search::detail::compare_spans(r.operands(), {}, search::detail::spans_of(copied),
                                      there.spans()) == "C[1, 2] differs");
}
