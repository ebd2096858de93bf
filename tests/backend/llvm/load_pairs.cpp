#include <tilewright/backend/llvm/load_pairs.hpp>

#include "../harness.hpp"

using namespace harness;
using backend::llvm::load_pairs;

namespace {

const buffer table = make_buffer("T", dtype::f32, {4, 300});
const var lane = make_var("l");

/// Vectors of `lanes` of what `value` makes of a computed place in a row of 300, and of the lane.
template <class F>
function looked_up(dtype t, int lanes, F value) {
  const buffer row = make_buffer("R", t, {300}), places = make_buffer("I", dtype::i32, {3, lanes}),
               y = make_buffer("Y", t, {3, lanes});
  const var p = make_var("p"), l = make_var("l");
  const expr at = load(places, {p, l}) * 7 + 100;
  const auto element = [&](const expr& place) { return load(row, {place}); };
  return make("looked_up", {row, places, y},
              make_loop(p, 0, 3,
                        make_loop(l, 0, lanes, make_store(y, {p, l}, value(element, at, expr(l))),
                                  loop_kind::vectorized)));
}

expr clamped(const expr& place, std::int64_t low, std::int64_t high) {
  return min(max(place, expr(low)), expr(high));
}

int count_of(const std::string& text, const char* word) {
  int out = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++out;
  return out;
}

}  // namespace

TEST_CASE(
    "loads are pairs where one is an element in front of the other, however their places are "
    "written") {
  const expr place = load(make_buffer("I", dtype::i32, {16}), {lane});
  const auto at = [&](const expr& index) { return load(table, {lane, index}); };
  const auto seats = [](const expr& x, const expr& y) {
    const load_pairs pairs({x + y});
    const auto one = pairs.of(x), other = pairs.of(y);
    if (!one || !other) return 0;
    CHECK(one->pair == other->pair);
    CHECK(one->behind != other->behind);
    CHECK(pairs.both(one->pair).first.same(one->behind ? y : x));
    return one->behind ? -1 : 1;
  };
  CHECK(seats(at(place), at(place + 1)) == 1);
  CHECK(seats(at(place + 1), at(place)) == -1);
  CHECK(seats(at(place * 2 - 3), at(place * 2 - 2)) == 1);
  CHECK(seats(at(clamped(place, 0, 298)), at(clamped(place, 0, 298) + 1)) == 1);
  CHECK(seats(at(clamped(place, 0, 298)), at(clamped(place + 1, 1, 299))) == 1);
  CHECK(seats(at(clamped(place, 0, 298)), at(clamped(place + 1, 1, 298))) == 0);
  CHECK(seats(at(place), at(place + 2)) == 0);
  CHECK(seats(at(place), at(place * 2 + 1)) == 0);
  CHECK(seats(at(place), load(table, {lane + 1, place + 1})) == 0);
}

TEST_CASE(
    "an element of three in a row is in one pair, and what a condition may leave out in none") {
  const expr place = load(make_buffer("I", dtype::i32, {16}), {lane});
  const auto at = [&](const expr& index) { return load(table, {lane, index}); };
  const expr x = at(place), y = at(place + 1), z = at(place + 2), again = at(place + 1);
  const load_pairs pairs({x + y * z + again});
  CHECK((pairs.of(x) && pairs.of(y) && pairs.of(again)));
  CHECK(pairs.of(again)->behind);
  CHECK_FALSE(pairs.of(z));
  const load_pairs chosen({x + if_then_else(lt(lane, 3), y, real(dtype::f32, 0))});
  CHECK_FALSE(chosen.of(x));
}

TEST_CASE("interpolation and other uses of pairs, of all types, lanes and machines") {
  for (const dtype t : {dtype::f32, dtype::i32, dtype::f64, dtype::u8})
    for (const int lanes : {4, 8, 16, 32}) {
      CAPTURE(std::string(name(t)));
      CAPTURE(lanes);
      check_agrees(looked_up(t, lanes, [](auto element, const expr& at, const expr&) {
        return element(at) + (element(at + 1) - element(at));
      }));
      check_agrees(looked_up(t, lanes, [](auto element, const expr& at, const expr&) {
        return element(clamped(at + 1, 1, 200)) + element(clamped(at, 0, 199)) * element(at + 2);
      }));
      check_agrees(looked_up(t, lanes, [t](auto element, const expr& at, const expr& l) {
        const expr zero = is_float(t) ? real(t, 0) : integer(t, 0);
        return element(at) + if_then_else(lt(l, 3), element(at + 1), zero);
      }));
    }
}

TEST_CASE("a pair at a place that lanes compute is gathered once, with the element behind it") {
  if (!have_compiler()) return;
  const function f = looked_up(dtype::f32, 16, [](auto element, const expr& at, const expr&) {
    const expr first = clamped(at, 0, 298);
    return element(first) +
           (element(first + 1) - element(first)) * element(clamped(at + 1, 1, 299));
  });
  const std::string code =
      backend::inspect(f, target::named("skylake-avx512"), backend::stage::assembly);
  CHECK(count_of(code, "vpgatherqq") + count_of(code, "vpgatherdq") == 2);
  CHECK(count_of(code, "gather") == 2);
}

TEST_CASE("channels at a place of a table are pairs of the statement that stores them all") {
  for (const dtype t : {dtype::f32, dtype::i32, dtype::f64})
    for (const std::int64_t channels : {2, 3, 4}) {
      CAPTURE(channels);
      const buffer rows = make_buffer("E", t, {40, channels}),
                   places = make_buffer("I", dtype::i32, {64}),
                   y = make_buffer("Y", t, {64, channels});
      const var o = make_var("o"), c = make_var("c"), l = make_var("l");
      const expr n = o * expr(16) + l;
      const stmt store = make_store(y, {n, c}, load(rows, {load(places, {n}) + 12, c}));
      const function f = make("rows", {rows, places, y},
                              make_loop(o, 0, 4,
                                        make_loop(c, 0, expr(channels),
                                                  make_loop(l, 0, 16, store, loop_kind::vectorized),
                                                  loop_kind::unrolled)));
      check_agrees(f);
      if (!have_compiler() || t != dtype::f32 || channels != 2) continue;
      const std::string code =
          backend::inspect(f, target::named("skylake-avx512"), backend::stage::optimized_ir);
      CHECK(code.find("load float") == std::string::npos);
      CHECK(code.find("gather.v16f32") == std::string::npos);
    }
}
