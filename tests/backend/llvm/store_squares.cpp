#include <tilewright/backend/llvm/emit.hpp>

#include "../harness.hpp"

using namespace harness;

namespace {

stmt vector_loop(const var& v, int from, int n, const stmt& body) {
  return make_loop(v, from, n, body, loop_kind::vectorized);
}

/// Y[w, c + 1] = X[c, w] for `rows` c and 70 w, in vectors of `lanes`, the rest one by one.
function transposition(dtype t, int rows, int lanes) {
  const buffer x = make_buffer("X", t, {rows, 70}), y = make_buffer("Y", t, {70, rows + 2});
  const var c = make_var("c"), w = make_var("w"), r = make_var("r");
  const auto copy = [&](const expr& at) { return make_store(y, {at, c + 1}, load(x, {c, at})); };
  return make("transposition", {x, y},
              make_loop(c, 0, rows,
                        make_seq({vector_loop(w, 0, lanes, copy(w)),
                                  make_loop(r, lanes, 70 - lanes, copy(r))})));
}

int count_of(const std::string& what, const std::string& text) {
  int out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++out;
  return out;
}

}  // namespace

TEST_CASE("narrow elements that are stored apart are transposed, whatever is left behind squares") {
  for (const dtype t :
       {dtype::i8, dtype::u8, dtype::boolean, dtype::i16, dtype::f16, dtype::bf16, dtype::i32})
    for (const int rows : {5, 8, 16, 30, 33, 48})
      for (const int lanes : {8, 16, 32, 64}) {
        CAPTURE(std::string(name(t)));
        CAPTURE(rows);
        CAPTURE(lanes);
        check_agrees(transposition(t, rows, lanes));
      }
}

TEST_CASE("squares of bytes take no store for each byte") {
  if (!have_compiler()) return;
  const auto code = [](int rows) {
    return backend::inspect(transposition(dtype::i8, rows, 32), target::named("haswell"),
                            backend::stage::assembly);
  };
  CHECK(count_of("punpck", code(32)) >= 64);
  CHECK(count_of("pextrb", code(32)) == 0);
  CHECK(count_of("punpck", code(15)) == 0);
}

TEST_CASE("what squares store may be chosen, computed, and begin anywhere") {
  const buffer x = make_buffer("X", dtype::i8, {40, 70}), y = make_buffer("Y", dtype::i8, {70, 48}),
               s = make_buffer("S", dtype::i8, {40});
  const var h = make_var("h"), c = make_var("c"), w = make_var("w"), g = make_var("g");
  const expr inside = logical_and(ge(h, 1), logical_and(ge(w, 3), lt(c, 37)));
  const expr value =
      if_then_else(inside, load(x, {c, w - 3}) + load(s, {c}), integer(dtype::i8, -1));
  check_agrees(make(
      "chosen", {x, s, y},
      make_loop(
          h, 0, 2,
          make_loop(c, 3, 37, vector_loop(w, 3, 32, make_store(y, {w * 2 + h, c + 5}, value))))));
  // channels in groups of 16: the loop along them does not see the groups
  const buffer z = make_buffer("Z", dtype::i8, {3, 70, 16});
  const buffer all = make_buffer("A", dtype::i8, {48, 70});
  check_agrees(make(
      "groups", {all, z},
      make_loop(
          g, 0, 3,
          make_loop(c, 0, 16,
                    vector_loop(w, 6, 64, make_store(z, {g, w, c}, load(all, {g * 16 + c, w})))))));
}

TEST_CASE("statements that see each other's elements stay in their order") {
  const buffer x = make_buffer("X", dtype::i8, {32, 64}), y = make_buffer("Y", dtype::i8, {64, 40});
  const var c = make_var("c"), w = make_var("w"), r = make_var("r");
  const stmt copy = vector_loop(w, 0, 32, make_store(y, {w, c}, load(x, {c, w})));
  const auto with = [&](const stmt& other) {
    check_agrees(make("both", {x, y}, make_loop(c, 0, 32, make_seq({copy, other}))));
  };
  // elements of other iterations, which the loop changes later or before
  with(make_loop(r, 0, 32, make_store(y, {r, c + 1}, integer(dtype::i8, 1))));
  with(make_loop(r, 0, 32, make_store(y, {r, expr(3)}, integer(dtype::i8, 1))));
  // what the vectors have stored
  with(make_loop(r, 0, 32, make_store(y, {r + 32, c}, load(y, {r, expr(4)}))));
  // the same elements once more
  with(make_loop(r, 0, 20, make_store(y, {r, c}, integer(dtype::i8, 1))));
}
