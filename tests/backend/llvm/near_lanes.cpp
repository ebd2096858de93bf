// Lanes at known places near each other (impl/backend/llvm/lanes/near_lanes.ipp), or a few elements apart (impl/backend/llvm/memory.ipp).
#include <tilewright/backend/compile.hpp>
#include <tilewright/pass/vector/vectorize_reductions.hpp>
#include <tilewright/pass/walk.hpp>

#include "../harness.hpp"

using namespace harness;

namespace {

stmt vector_loop(const var& v, int n, const stmt& body) {
  return make_loop(v, 0, n, body, loop_kind::vectorized);
}

/// Y[p, l // group, l % group] = X[p, l // group * step + first, l % group] for all whole groups of lanes; X
/// ends with the last element that is read.
function grouped(dtype t, int lanes, int group, int step, int first, int vectors) {
  const int groups = (vectors * lanes + group - 1) / group;
  const buffer x = make_buffer("X", t, {2, (groups - 1) * step + first + 1, group}),
               y = make_buffer("Y", t, {2, groups, group});
  const var p = make_var("p"), u = make_var("u"), l = make_var("l");
  const expr at = u * lanes + l, pixel = floordiv(at, group), channel = floormod(at, group);
  const stmt body = vector_loop(
      l, lanes,
      make_if(lt(at, groups * group),
              make_store(y, {p, pixel, channel}, load(x, {p, pixel * step + first, channel}))));
  return make("grouped", {x, y},
              make_loop(p, 0, 2, make_loop(u, 0, vectors, body, loop_kind::unrolled)));
}

}  // namespace

TEST_CASE("groups of lanes that stand some steps apart, up to the last element of the buffer") {
  int drawn = 0;  // of the four types, two begin at the edge and two inside
  for (const dtype t : {dtype::f32, dtype::f64, dtype::i8, dtype::f16})
    for (const int lanes : {2, 4, 8, 16})
      for (const int group : {1, 2, 3, 5})
        for (const int step : {1, 2, 3}) {
          CAPTURE(std::string(name(t)));
          CAPTURE(lanes);
          CAPTURE(group);
          CAPTURE(step);
          const bool edge = (drawn++ / 48 + lanes / 2 + group + step) % 2 == 0;
          check_agrees(edge ? grouped(t, lanes, group, step, 0, 3)
                            : grouped(t, lanes, group, step, 1, 2));
        }
}

TEST_CASE("lanes that share elements, that fall, and that lie within less than a vector") {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::i32})
    for (const int lanes : {4, 8, 16}) {
      CAPTURE(std::string(name(t)));
      CAPTURE(lanes);
      const buffer few = make_buffer("X", t, {3}), y = make_buffer("Y", t, {lanes}),
                   row = make_buffer("R", t, {3 * lanes});
      const var l = make_var("l");
      const auto check = [&](const buffer& from, const expr& at) {
        check_agrees(
            make("read", {from, y}, vector_loop(l, lanes, make_store(y, {l}, load(from, {at})))));
        check_agrees(make(
            "some", {from, y},
            vector_loop(l, lanes,
                        make_if(ne(floormod(l, 4), 1), make_store(y, {l}, load(from, {at}))))));
      };
      check(few, floormod(l, 3));
      check(few, floormod(l + 1, 2));
      check(few, expr(2) - floormod(l, 3));
      check(row, floordiv(l, 2) * 3);
      check(row, expr(2 * lanes) - l * 2);
      check(row, floordiv(l, 3) * 5 + floormod(l, 3));
      check(row, expr(lanes) - floordiv(l, 2) * 2 + floormod(l, 2));
    }
}

TEST_CASE("vectors that overlap, of which the first and the last hold the others") {
  for (const dtype t : {dtype::f32, dtype::f64})
    for (const int lanes : {8, 16})
      for (const int taps : {4, 5, 9, 30}) {
        CAPTURE(std::string(name(t)));
        CAPTURE(lanes);
        CAPTURE(taps);
        // the last tap of the last lane reads the last element; a row further is no neighbour, or is one
        for (const int row : {2 * lanes + taps - 1, 3 * lanes + 40}) {
          const buffer x = make_buffer("X", t, {3, row}), y = make_buffer("Y", t, {2, 2, lanes});
          const var r = make_var("r"), u = make_var("u"), l = make_var("l");
          const auto tap = [&](int k) { return load(x, {r, u * lanes + l + k}); };
          const auto sum = [&](int last, const expr& of_last) {
            expr out = of_last + load(x, {r + 1, u * lanes + l});
            for (int k = 0; k < last; ++k) out = out + tap((k * 7) % last) * cast(t, k + 1);
            return out;
          };
          const auto check = [&](const expr& value) {
            check_agrees(make(
                "taps", {x, y},
                make_loop(
                    r, 0, 2,
                    make_loop(u, 0, 2, vector_loop(l, lanes, make_store(y, {r, u, l}, value))))));
          };
          check(sum(taps, cast(t, 1)));
          // where a tap may be read, and where it may not
          check(sum(taps - 1,
                    if_then_else(lt(u * lanes + l + taps + 3, row), tap(taps + 3), cast(t, 2))));
          check(sum(taps - 1, if_then_else(ge(u * lanes + l, 5), tap(-5), cast(t, 2))));
        }
      }
}

TEST_CASE("pixels of three channels in steps of two take whole vectors and shuffles") {
  if (!have_compiler()) return;
  const target::cpu cpu = target::named("skylake-avx512");
  const std::string text =
      backend::inspect(grouped(dtype::f32, 16, 3, 2, 0, 3), cpu, backend::stage::assembly);
  CAPTURE(text);
  CHECK(text.find("vpermt2ps") != std::string::npos);
  CHECK(text.find("vinsertps") == std::string::npos);
}

TEST_CASE("coordinates of points come out of the same whole vectors") {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::i8})
    for (const int step : {2, 3, 4})
      for (const int more : {0, 1}) {  // points behind the last one that is read
        CAPTURE(std::string(name(t)));
        CAPTURE(step);
        const int lanes = 16, vectors = 3, points = lanes * vectors + more;
        const buffer x = make_buffer("X", t, {points, step}),
                     y = make_buffer("Y", t, {step, points});
        const var u = make_var("u"), c = make_var("c"), l = make_var("l");
        const expr at = u * lanes + l;
        check_agrees(make(
            "points", {x, y},
            make_loop(u, 0, vectors,
                      make_loop(c, 0, step,
                                vector_loop(l, lanes, make_store(y, {c, at}, load(x, {at, c}))),
                                loop_kind::unrolled))));
      }
  if (!have_compiler()) return;
  const buffer x = make_buffer("X", dtype::f32, {64, 3}), y = make_buffer("Y", dtype::f32, {64});
  const var u = make_var("u"), l = make_var("l");
  const expr at = u * 16 + l;
  const expr sum = load(x, {at, 0}) + load(x, {at, 1}) * load(x, {at, 2});
  const function f =
      make("sums", {x, y}, make_loop(u, 0, 4, vector_loop(l, 16, make_store(y, {at}, sum))));
  const std::string code =
      backend::inspect(f, target::named("skylake-avx512"), backend::stage::assembly);
  int moves = 0;
  for (std::size_t i = code.find("vmovups"); i != std::string::npos;
       i = code.find("vmovups", i + 1))
    ++moves;
  CHECK(moves <= 4);  // three loads, and the store
}

TEST_CASE(
    "sums of elements a few apart, whose last vector is under a mask and ends with the buffer") {
  for (const int columns : {2, 3, 4})
    for (const int n : {32, 37, 100}) {
      CAPTURE(columns);
      CAPTURE(n);
      const buffer x = make_buffer("X", dtype::i32, {n, columns}),
                   z = make_buffer("Z", dtype::i32, {n}), y = make_buffer("Y", dtype::i32, {1});
      const var k = make_var("k");
      const expr term = load(x, {k, columns - 1}) * load(z, {k});
      const function sum = make("sum", {x, z, y},
                                make_loop(k, 0, n, make_store(y, {0}, load(y, {0}) + term),
                                          loop_kind::serial, {{pass::reduction_note, 1}}));
      for (const target::cpu& cpu : runnable_targets())
        check_agrees(pass::vectorize_reductions(sum, cpu));
    }
}

TEST_CASE("lanes two to eight elements apart, up to the last element of the buffer") {
  for (dtype t : {dtype::i8, dtype::i32, dtype::f32, dtype::f64})
    for (const int lanes : {2, 4, 8, 16})
      for (const int step : {2, 3, 4, 5, 6, 7, 8}) {
        CAPTURE(std::string(name(t)));
        CAPTURE(lanes);
        CAPTURE(step);
        const buffer x = make_buffer("X", t, {(lanes - 1) * step + 2}),
                     y = make_buffer("Y", t, {lanes});
        const var v = make_var("v");
        check_agrees(make("spread", {x, y},
                          vector_loop(v, lanes, make_store(y, {v}, load(x, {v * step + 1})))));
        // all but the last lane; what that one would read does not exist
        const buffer less = make_buffer("L", t, {(lanes - 2) * step + 2});
        check_agrees(make("some", {less, y},
                          vector_loop(v, lanes,
                                      make_if(lt(v, lanes - 1),
                                              make_store(y, {v}, load(less, {v * step + 1}))))));
      }
}

TEST_CASE("lanes a few elements apart: at the buffer's ends, and all taps of a window") {
  for (dtype t : {dtype::i8, dtype::f32, dtype::f64})
    for (const int step : {2, 3, 4, 6, 8})
      for (const int size : {16 * step, 16 * step + 1, 16 * step + 5}) {
        CAPTURE(step);
        CAPTURE(size);
        const buffer x = make_buffer("X", t, {integer(dtype::i32, size)}),
                     y = make_buffer("Y", t, {16});
        const var v = make_var("v");
        const int last = size - 15 * step - 1;
        for (int from = 0; from <= last; ++from) {
          if (t != dtype::f32 && from > 1 && from < last) continue;  // places between the ends once
          check_agrees(make("one", {x, y},
                            vector_loop(v, 16, make_store(y, {v}, load(x, {v * step + from})))));
        }
        expr sum = load(x, {v * step});
        for (int tap = 1; tap <= last; ++tap) sum = sum + load(x, {v * step + tap});
        check_agrees(make("all", {x, y}, vector_loop(v, 16, make_store(y, {v}, sum))));
      }
}

TEST_CASE("elements of even steps are shuffled by pairs, which both of a pair share") {
  const auto shuffles = [](int step) {
    const buffer x = make_buffer("X", dtype::f32, {integer(dtype::i32, 16 * step)}),
                 y = make_buffer("Y", dtype::f32, {16});
    const var v = make_var("v");
    expr sum = load(x, {v * step});
    for (int at = 1; at < step; ++at) sum = sum + load(x, {v * step + at});
    const function f = make("all", {x, y}, vector_loop(v, 16, make_store(y, {v}, sum)));
    check_agrees(f);
    const std::string text =
        backend::inspect(f, target::named("znver4"), backend::stage::optimized_ir);
    std::size_t out = 0;
    for (std::size_t p = text.find("shufflevector"); p != std::string::npos;
         p = text.find("shufflevector", p + 1))
      ++out;
    return out;
  };
  CHECK(shuffles(3) == 6);
  CHECK(shuffles(4) == 8);
  CHECK(shuffles(6) == 18);
  CHECK(shuffles(8) == 24);
}

namespace {

/// Y[o, l] = the sum of X[l * step + o * moves + tap] for all taps, o counted or written out.
function taps(dtype t, int lanes, int step, int moves, const std::vector<int>& offsets,
              loop_kind outer) {
  const int rows = 4;
  const buffer x = make_buffer("X", t, {lanes * step + rows * moves + 16}),
               y = make_buffer("Y", t, {rows, lanes});
  const var o = make_var("o"), l = make_var("l");
  expr sum = load(x, {l * step + o * moves + offsets[0]});
  for (std::size_t i = 1; i < offsets.size(); ++i)
    sum = sum + load(x, {l * step + o * moves + offsets[i]});
  return make("taps", {x, y},
              make_loop(o, 0, rows, vector_loop(l, lanes, make_store(y, {o, l}, sum)), outer));
}

std::size_t found(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++out;
  return out;
}

}  // namespace

TEST_CASE("taps side by side in steps share vectors from wherever the first one lies") {
  for (const loop_kind outer : {loop_kind::serial, loop_kind::unrolled})
    for (const int step : {2, 3, 8})
      for (const std::vector<int>& offsets :
           {std::vector<int>{1, 2}, {0, 1, 2, 3}, {5, 1, 2}, {7}, {3, 4, 3}, {0, 9, 10}})
        for (const dtype t : {dtype::f32, dtype::f64}) {
          CAPTURE(step);
          CAPTURE(offsets.size());
          check_agrees(taps(t, 8, step, 2, offsets, outer));
          check_agrees(taps(t, 8, step, 0, offsets, outer));
        }
  if (!have_compiler()) return;
  const auto loads = [](const std::vector<int>& offsets) {
    return found(backend::inspect(taps(dtype::f64, 8, 2, 2, offsets, loop_kind::serial),
                                  target::named("skylake-avx512"), backend::stage::optimized_ir),
                 "load <8 x double>");
  };
  CHECK(loads({0, 1}) == 2);
  CHECK(loads({1, 2}) == 2);
  CHECK(loads({0, 1, 2, 3}) == 4);
  CHECK(loads({1, 4}) == 4);
}

TEST_CASE("the lesser of two indices of which one is known to be it is an index like any other") {
  const auto columns = [](bool clamped) {
    const buffer x = make_buffer("X", dtype::f32, {64, 8}),
                 y = make_buffer("Y", dtype::f32, {8, 64});
    const var n = make_var("n"), i = make_var("i"), l = make_var("l");
    const expr column = clamped ? max(min(i, 7), 0) : expr(i);
    return make(
        "columns", {x, y},
        make_loop(
            n, 0, 4,
            make_loop(
                i, 0, 8,
                vector_loop(l, 16, make_store(y, {i, n * 16 + l}, load(x, {n * 16 + l, column}))),
                loop_kind::unrolled)));
  };
  check_agrees(columns(true));
  if (!have_compiler()) return;
  const auto text = [&](bool clamped) {
    return backend::inspect(columns(clamped), target::named("skylake-avx512"),
                            backend::stage::assembly);
  };
  CHECK(text(true) == text(false));
}
