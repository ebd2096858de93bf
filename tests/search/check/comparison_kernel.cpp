// The kernel that compares outputs on a device against the comparison on the host, by the interpreter.
#include <tilewright/search/check/comparison_kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/support/error.hpp>

#include "search/comparisons.hpp"

using namespace tilewright;
using namespace tilewright::search;

TEST_CASE("a comparison kernel counts what the host's comparison finds, and names the first") {
  for (const dtype type : comparisons::types)
    for (const non_finite kinds : {non_finite::apart, non_finite::alike})
      for (const std::int64_t elements : {1, 300}) {
        CAPTURE(std::string(name(type)));
        CAPTURE(elements);
        const ir::function f = comparison_kernel(type, elements, kinds);
        ir::verify(f);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          comparisons::problem p(type, elements, seed);
          const comparisons::differences right = p.on_host(kinds);
          ir::interpret(f, p.views());
          CHECK(p.found() == right);
        }
      }
}

TEST_CASE("a comparison kernel has parts, and the first difference may lie in any of them") {
  constexpr std::int64_t elements = 2 * 4096 + 7;
  CHECK(comparison_parts(elements) == 3);
  CHECK(comparison_parts(4096) == 1);
  const ir::function f = comparison_kernel(dtype::i32, elements);
  for (const std::int64_t at :
       {std::int64_t{0}, std::int64_t{4095}, std::int64_t{4096}, elements - 1}) {
    comparisons::problem p(dtype::i32, elements, 1);
    p.actual = p.expected;
    p.actual[static_cast<std::size_t>(4 * at)] ^= std::byte{1};
    p.actual[static_cast<std::size_t>(4 * (elements - 1))] ^= std::byte{2};
    ir::interpret(f, p.views());
    CHECK(p.found() == comparisons::differences{at == elements - 1 ? 1 : 2, at});
  }
}

TEST_CASE("a comparison kernel is refused for types and numbers that it does not know") {
  CHECK_FALSE(has_comparison_kernel(dtype::f32, 0));
  CHECK_FALSE(has_comparison_kernel(dtype::f32, std::int64_t{1} << 31));
  CHECK_FALSE(has_comparison_kernel(dtype_from_name("float8_e4m3").value(), 8));
  CHECK(has_comparison_kernel(dtype::boolean, 8));
  CHECK_THROWS_WITH_AS(comparison_kernel(dtype::f32, 0), doctest::Contains("requirement 1"),
                       argument_error);
}
