// Steps of scans as vectors (impl/backend/llvm/lanes/running_lanes.hpp).
#include <functional>

#include <tilewright/ir/scan_notes.hpp>

#include "../harness.hpp"

using namespace harness;

namespace {

using combination = std::function<expr(const expr&, const expr&)>;

/// Y[r, at(k)] of Y[r, at(k) before] and X[r, at(k)], in steps of `lanes`, from one end of a row to the other.
function scan(dtype t, int lanes, int vectors, bool rises, const combination& combine) {
  const int n = lanes * vectors + 1;
  const buffer x = make_buffer("X", t, {2, n}), y = make_buffer("Y", t, {2, n});
  const var r = make_var("r"), v = make_var("v"), l = make_var("l");
  const auto at = [&](const expr& k) { return rises ? k : integer(dtype::i32, n - 1) - k; };
  const expr k = v * lanes + l;
  const stmt step =
      make_store(y, {r, at(k + 1)}, combine(load(y, {r, at(k)}), load(x, {r, at(k + 1)})));
  const stmt row = make_seq(
      {make_store(y, {r, at(integer(dtype::i32, 0))}, load(x, {r, at(integer(dtype::i32, 0))})),
       make_loop(v, 0, vectors,
                 make_loop(l, 0, lanes, step, loop_kind::serial, {{running_note, 1}}))});
  return make("scan", {x, y}, make_loop(r, 0, 2, row));
}

}  // namespace

TEST_CASE("steps of a scan are vectors that compute what the steps do") {
  const combination sum = [](const expr&a, const expr&x) { return a + x; },
                    turned = [](const expr&a, const expr&x) { return x + a; },
                    product = [](const expr&a, const expr&x) { return a * x; },
                    most = [](const expr&a, const expr&x) { return max(a, x); },
                    least = [](const expr&a, const expr&x) { return min(a, x * x); };
  for (const dtype t : {dtype::f32, dtype::f64, dtype::i32, dtype::i64, dtype::u8})
    for (const int lanes : {4, 8, 16, 32})
      for (const bool rises : {true, false}) {
        CAPTURE(std::string(name(t)));
        CAPTURE(lanes);
        CAPTURE(rises);
        for (const combination& c : {sum, turned, most, least})
          check_agrees(scan(t, lanes, 3, rises, c));
        if (!is_float(t)) check_agrees(scan(t, lanes, 2, rises, product));
      }
}

TEST_CASE("what is no scan by steps of one stays as it is written") {
  const combination apart = [](const expr&a, const expr&x) { return x - a; },
                    twice = [](const expr&a, const expr&x) { return a * a + x; };
  for (const int lanes : {4, 16}) {
    check_agrees(scan(dtype::i32, lanes, 2, true, apart));
    check_agrees(scan(dtype::i32, lanes, 2, true, twice));
  }
  for (const int lanes : {3, 6, 20})  // no powers of two
    check_agrees(
        scan(dtype::i32, lanes, 2, true, [](const expr& a, const expr& x) { return a + x; }));
}
