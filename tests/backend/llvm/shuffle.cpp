// Loads of lanes that lie anywhere in two vectors of a local buffer (impl/backend/llvm/lanes/transpose.ipp).
#include "../harness.hpp"

using namespace harness;

namespace {

stmt vector_loop(const var& v, int n, const stmt& body) {
  return make_loop(v, 0, n, body, loop_kind::vectorized);
}

/// Y[u * lanes + l] = local[place(l, u)], of a local copy of X.
function shuffled(dtype t, int lanes, int vectors, int size,
                  const std::function<expr(const expr& l, const expr& u)>& place) {
  const buffer x = make_buffer("X", t, {size}), y = make_buffer("Y", t, {lanes * vectors}),
               local = make_buffer("own", t, {size}, "local");
  const var i = make_var("i"), l = make_var("l"), u = make_var("u");
  const stmt copy =
      make_loop(i, 0, size / lanes,
                vector_loop(l, lanes, make_store(local, {i * lanes + l}, load(x, {i * lanes + l}))),
                loop_kind::unrolled);
  const stmt out =
      make_loop(u, 0, vectors,
                vector_loop(l, lanes, make_store(y, {u * lanes + l}, load(local, {place(l, u)}))),
                loop_kind::unrolled);
  return make("shuffled", {x, y}, make_allocate(local, make_seq({copy, out})));
}

}  // namespace

TEST_CASE("lanes of two vectors of a local buffer, in any order") {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::i32, dtype::i16, dtype::f16})
    for (const int lanes : {4, 8, 16}) {
      CAPTURE(std::string(name(t)));
      CAPTURE(lanes);
      const expr half(lanes / 2);
      check_agrees(shuffled(t, lanes, 2, 4 * lanes, [&](const expr& l, const expr& u) {
        return u * (2 * lanes) + floordiv(l, half) * lanes + floormod(l, half);
      }));
      check_agrees(shuffled(t, lanes, 2, 4 * lanes, [&](const expr& l, const expr& u) {
        return u * (2 * lanes) + floormod(l * 5, 2 * lanes);
      }));
      check_agrees(shuffled(t, lanes, 1, lanes, [&](const expr& l, const expr&) {
        return floormod(l * 3 + 1, lanes);
      }));
      // of more vectors than two, and of one that the buffer does not have whole
      check_agrees(shuffled(t, lanes, 1, 4 * lanes, [&](const expr& l, const expr&) {
        return floormod(l * (lanes + 1), 4 * lanes);
      }));
    }
}

TEST_CASE("a buffer that ends within a vector is read lane by lane") {
  const buffer x = make_buffer("X", dtype::f32, {11}), y = make_buffer("Y", dtype::f32, {8}),
               local = make_buffer("own", dtype::f32, {11}, "local");
  const var i = make_var("i"), l = make_var("l");
  const stmt copy = make_loop(i, 0, 11, make_store(local, {i}, load(x, {i})), loop_kind::unrolled);
  const stmt out = vector_loop(l, 8, make_store(y, {l}, load(local, {floormod(l * 3, 11)})));
  check_agrees(make("short", {x, y}, make_allocate(local, make_seq({copy, out}))));
}
