// Indices that are quotient and remainder of one number (impl/backend/llvm/memory.ipp).
#include "backend/harness.hpp"

using namespace harness;

namespace {

/// `to`[1, g // n, g % n] = `from` at the same place, where g runs over all of `size` in vectors of 16.
function copied(const buffer& from, const buffer& to, std::int64_t n, std::int64_t size) {
  const var u = make_var("u"), v = make_var("v");
  const expr g = u * 16 + v;
  const std::vector<expr> at{1, floordiv(g, n), floormod(g, n)};
  const stmt store = make_if(lt(g, size), make_store(to, at, load(from, at) + load(from, at)));
  return make("copied", {from, to},
              make_loop(u, 0, (size + 15) / 16, make_loop(v, 0, 16, store, loop_kind::vectorized)));
}

}  // namespace

TEST_CASE("lanes along quotient and remainder of one number, with and without room behind rows") {
  for (const std::int64_t n : {3, 7, 14, 20})
    for (const std::int64_t room : {0, 1})
      for (const dtype t : {dtype::i8, dtype::f32, dtype::f64}) {
        CAPTURE(n);
        CAPTURE(room);
        CAPTURE(std::string(name(t)));
        const std::int64_t rows = 9;
        const std::vector<expr> shape{2, rows, n + room};
        check_agrees(copied(make_buffer("X", t, shape), make_buffer("Y", t, shape), n, rows * n));
      }
}

TEST_CASE("lanes along both digits are loaded side by side") {
  if (!have_compiler()) return;
  const target::cpu cpu = target::named("skylake-avx512");
  const auto assembly = [&](std::int64_t room) {
    const std::vector<expr> shape{2, 16, 56 + room};
    return backend::inspect(copied(make_buffer("X", dtype::f32, shape),
                                   make_buffer("Y", dtype::f32, shape), 56, 16 * 56),
                            cpu, backend::stage::assembly);
  };
  CHECK(assembly(0).find("vinsertps") == std::string::npos);
  CHECK(assembly(0).find("gather") == std::string::npos);
}

namespace {

/// `to` = `from` at each of three digits of g, the last two below `middle` and `last`, where g runs over `periods` times nine vectors of 16.
function copied_digits(const buffer& from, const buffer& to, std::int64_t middle, std::int64_t last,
                       std::int64_t periods) {
  const var w = make_var("w"), u = make_var("u"), v = make_var("v");
  const expr g = w * 144 + u * 16 + v;
  const std::vector<expr> at{floordiv(g, middle * last), floormod(floordiv(g, last), middle),
                             floormod(g, last)};
  const stmt lanes = make_loop(v, 0, 16, make_store(to, at, load(from, at) * load(from, at)),
                               loop_kind::vectorized);
  return make("digits", {from, to},
              make_loop(w, 0, periods, make_loop(u, 0, 9, lanes, loop_kind::unrolled)));
}

}  // namespace

TEST_CASE("lanes along three digits are loaded side by side") {
  for (const std::int64_t last : {3, 4, 9})
    for (const std::int64_t room : {0, 1})
      for (const dtype t : {dtype::i8, dtype::f32, dtype::f64}) {
        const std::int64_t middle = last == 3 ? 3 : last == 4 ? 6 : 2;  // all three divide 144
        CAPTURE(middle);
        CAPTURE(last);
        CAPTURE(room);
        CAPTURE(std::string(name(t)));
        const std::vector<expr> shape{2 * 144 / (middle * last), middle, last + room};
        const function f =
            copied_digits(make_buffer("X", t, shape), make_buffer("Y", t, shape), middle, last, 2);
        check_agrees(f);
        if (!have_compiler() || room != 0 || t != dtype::f32) continue;
        const std::string assembly =
            backend::inspect(f, target::named("skylake-avx512"), backend::stage::assembly);
        CHECK(assembly.find("gather") == std::string::npos);
        CHECK(assembly.find("vinsertps") == std::string::npos);
      }
}
