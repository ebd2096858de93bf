#include <tilewright/ir/comm_reducer.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/stmt.hpp>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

/// Sum and product.
comm_reducer pair() {
  const auto at = [](std::size_t k) { return reducer_operand(dtype::f32, k); };
  return {{real(dtype::f32, 0), real(dtype::f32, 1)}, {at(0) + at(2), at(1) * at(3)}};
}

}  // namespace

TEST_CASE("a reducer reads back from its text") {
  const std::string text = print(pair());
  CHECK(text ==
        "T.comm_reducer(lambda x0, x1, y0, y1: (x0 + y0, x1 * y1), [T.float32(0.0), "
        "T.float32(1.0)])");
  const std::optional<comm_reducer> back = parse_reducer(text);
  REQUIRE(back);
  CHECK(print(*back) == text);
  CHECK(parse_reducer(text + "\n"));
}

TEST_CASE("combining puts values in the place of the operands") {
  const var a = make_var("a", dtype::f32), b = make_var("b", dtype::f32);
  const std::vector<expr> out = pair().combined({a, b}, {b, a});
  REQUIRE(out.size() == 2);
  CHECK(equal(out[0], a + b));
  CHECK(equal(out[1], b * a));
}

TEST_CASE("what is no reducer has no text and gives none") {
  comm_reducer open = pair();
  open.result[0] = make_var("free", dtype::f32);
  CHECK(print(open).empty());
  for (const char* text :
       {"", "x", "1 + 2", "T.comm_reducer(lambda x, y: x + y, [])", "T.comm_reducer(", "\x01",
        "T.comm_reducer(lambda x, y: x + z, [T.float32(0)])",
        "T.comm_reducer(lambda x, y: x + y, [T.float32(0)]) + 1"})
    CHECK_FALSE(parse_reducer(text));
}
