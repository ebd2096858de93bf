// Loops whose results go past the caches (pass/vector/streams.hpp, impl/backend/llvm/memory.ipp).
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/pass/vector/streams.hpp>

#include "harness.hpp"

using namespace harness;

namespace {

/// Y[i, j + shift] = X[i, j] * 3 + B[i] in rows of `extent`.
function rows(std::int64_t extent, std::int64_t shift, dtype type, std::int64_t nontemporal,
              std::int64_t ahead, loop_kind outer = loop_kind::serial) {
  const auto n = [](std::int64_t v) { return integer(dtype::i32, v); };
  const buffer x = make_buffer("X", type, {n(3), n(extent)}), b = make_buffer("B", type, {n(3)}),
               y = make_buffer("Y", type, {n(3), n(extent + 40)});
  const var i = make_var("i"), j = make_var("j");
  const expr three = is_float(type) ? real(type, 3) : integer(type, 3);
  const stmt row = make_loop(
      j, 0, n(extent), make_store(y, {i, j + n(shift)}, load(x, {i, j}) * three + load(b, {i})),
      loop_kind::vectorized, {{ir::stream_note, nontemporal}, {ir::stream_ahead_note, ahead}});
  return make("rows", {x, b, y}, make_loop(i, 0, n(3), row, outer));
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
    ++out;
  return out;
}

}  // namespace

TEST_CASE("streams compute what the loop says wherever rows begin and end") {
  for (const dtype type : {dtype::f32, dtype::f64, dtype::i8})
    for (const std::int64_t extent : {64, 255, 1029})
      for (const std::int64_t shift : {0, 1, 7, 13, 31}) {
        check_agrees(rows(extent, shift, type, 1, 0));
        check_agrees(rows(extent, shift, type, 1, 5));
        check_agrees(rows(extent, shift, type, 0, 5));
      }
}

TEST_CASE("rows that threads share are streams, too") {
  options o;
  backend::pool three(3);
  o.exec = &three.view();
  check_agrees(rows(1029, 5, dtype::f32, 1, 3, loop_kind::parallel), o);
}

TEST_CASE("stores of a stream are non-temporal, and ordered before the call returns") {
  if (!have_compiler()) return;
  const target::cpu cpu = target::named("haswell");
  const auto text = [&](std::int64_t nontemporal, std::int64_t ahead) {
    return backend::inspect(rows(1029, 0, dtype::f32, nontemporal, ahead), cpu,
                            backend::stage::assembly);
  };
  const std::string past = text(1, 0), plain = text(0, 0), near = text(0, 8);
  CHECK(count(past, "vmovntps") >= 5);  // a group of four vectors, and single ones
  CHECK(count(past, "sfence") == 1);
  CHECK(count(past, "prefetch") == 0);
  CHECK(count(plain, "vmovntps") == 0);
  CHECK(count(plain, "sfence") == 0);
  CHECK(count(near, "prefetcht0") >= 4);
  CHECK(count(near, "vmovntps") == 0);
}
