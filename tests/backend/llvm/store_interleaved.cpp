#include <tilewright/backend/llvm/emit.hpp>

#include "../harness.hpp"

using namespace harness;

namespace {

stmt vector_loop(const var& v, int from, int n, const stmt& body) {
  return make_loop(v, from, n, body, loop_kind::vectorized);
}

/// Y[x + 1, c] = X[c, x] + c for `channels` c and 70 x, in vectors of `lanes`, the rest one by one.
function pixels(dtype t, int channels, int lanes, loop_kind kind) {
  const buffer x = make_buffer("X", t, {channels, 70}), y = make_buffer("Y", t, {72, channels});
  const var c = make_var("c"), w = make_var("w"), r = make_var("r"), u = make_var("u");
  const auto copy = [&](const expr& at) {
    const expr loaded = load(x, {c, at});
    const expr value = t == dtype::boolean ? loaded : loaded + cast(t, c);
    return make_store(y, {at + 1, c}, value);
  };
  const stmt vectors = make_loop(u, 0, 64 / lanes, vector_loop(w, 0, lanes, copy(u * lanes + w)),
                                 loop_kind::unrolled);
  return make("pixels", {x, y},
              make_loop(c, 0, channels, make_seq({vectors, make_loop(r, 64, 6, copy(r))}), kind));
}

int count_of(const std::string& what, const std::string& text) {
  int out = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++out;
  return out;
}

}  // namespace

TEST_CASE("channels of pixels are shuffled together, whatever is left behind whole vectors") {
  for (const dtype t : {dtype::i8, dtype::u8, dtype::boolean, dtype::i16, dtype::f16, dtype::bf16,
                        dtype::f32, dtype::f64, dtype::i64})
    for (const int channels : {2, 3, 4, 5, 8})
      for (const int lanes : {4, 16, 64}) {
        const bool first = t == dtype::i8 || t == dtype::i16 || t == dtype::f32 || t == dtype::f64;
        if (lanes != 16 && !first) continue;   // one type of each size
        if (lanes * bits(t) > 1024) continue;  // 16 lanes are two registers of the widest machine
        CAPTURE(std::string(name(t)));
        CAPTURE(channels);
        CAPTURE(lanes);
        const loop_kind kind = lanes == 16 ? loop_kind::unrolled : loop_kind::serial;
        check_agrees(pixels(t, channels, lanes, kind));
      }
}

TEST_CASE("eight channels are shuffled together by pairs, pairs of pairs and fours") {
  if (!have_compiler()) return;
  const buffer x = make_buffer("X", dtype::f32, {8, 16}), y = make_buffer("Y", dtype::f32, {16, 8});
  const var c = make_var("c"), w = make_var("w");
  const function f =
      make("records", {x, y},
           make_loop(c, 0, 8, vector_loop(w, 0, 16, make_store(y, {w, c}, load(x, {c, w})))));
  check_agrees(f);
  const std::string code =
      backend::inspect(f, target::named("skylake-avx512"), backend::stage::optimized_ir);
  CHECK(count_of("shufflevector", code) == 24);
}

TEST_CASE("pixels take no store for each of their channels") {
  if (!have_compiler()) return;
  const buffer x = make_buffer("X", dtype::f32, {3, 64}), y = make_buffer("Y", dtype::f32, {64, 3});
  const var c = make_var("c"), w = make_var("w");
  const function f =
      make("planes", {x, y},
           make_loop(c, 0, 3, vector_loop(w, 0, 16, make_store(y, {w, c}, load(x, {c, w})))));
  const std::string code =
      backend::inspect(f, target::named("skylake-avx512"), backend::stage::assembly);
  CHECK(count_of("vextractps", code) == 0);
  CHECK(count_of("vmovss", code) == 0);
}

TEST_CASE("channels that are updated in place are shuffled together, too") {
  const buffer x = make_buffer("X", dtype::f32, {3, 64}), y = make_buffer("Y", dtype::f32, {64, 3});
  const var c = make_var("c"), w = make_var("w");
  const auto updated = [&](loop_kind kind) {
    return make(
        "updated", {x, y},
        make_loop(c, 0, 3,
                  vector_loop(w, 0, 16, make_store(y, {w, c}, load(x, {c, w}) - load(y, {w, c}))),
                  kind));
  };
  for (const loop_kind kind : {loop_kind::serial, loop_kind::unrolled}) check_agrees(updated(kind));
  if (!have_compiler()) return;
  const std::string code = backend::inspect(
      updated(loop_kind::unrolled), target::named("skylake-avx512"), backend::stage::assembly);
  CHECK(count_of("vextractps", code) == 0);
  CHECK(count_of("vmovss", code) == 0);
  // an index or a condition that reads the buffer is no such update
  const buffer at = make_buffer("at", dtype::i32, {48});
  const stmt stored = make_if(lt(load(at, {w * 3 + 1}), 7), make_store(at, {w * 3 + c}, w));
  check_agrees(make("read", {at}, make_loop(c, 0, 3, vector_loop(w, 0, 16, stored))));
}

TEST_CASE("channels that are not all of a pixel's, or not alone, are stored as they were") {
  const buffer x = make_buffer("X", dtype::f32, {4, 64}), y = make_buffer("Y", dtype::f32, {64, 4});
  const var c = make_var("c"), w = make_var("w"), r = make_var("r");
  const auto with = [&](int from, int channels, const expr& value, const stmt& other) {
    const stmt copy = vector_loop(w, 0, 16, make_store(y, {w, c}, value));
    check_agrees(
        make("some", {x, y}, make_loop(c, from, channels, other ? make_seq({copy, other}) : copy)));
  };
  with(1, 3, load(x, {c, w}), stmt{});
  with(0, 4, load(x, {c, w + 3}), stmt{});
  // what other iterations have stored, before and behind
  with(1, 3, load(y, {w, c - 1}), stmt{});
  with(0, 3, load(y, {w, c + 1}), stmt{});
  with(0, 4, load(y, {w + 1, c}), stmt{});
  // the same elements once more
  with(0, 4, load(x, {c, w}),
       make_loop(r, 0, 20, make_store(y, {r, c}, load(x, {c, r}) + load(x, {c, r}))));
  with(0, 4, load(x, {c, w}), make_loop(r, 0, 20, make_store(y, {r, expr(3)}, load(x, {c, r}))));
}

TEST_CASE("a channel may choose what it stores, and pixels may begin anywhere") {
  const buffer x = make_buffer("X", dtype::u8, {200, 3}), y = make_buffer("Y", dtype::u8, {90, 3});
  const var c = make_var("c"), w = make_var("w");
  const auto channel = [&](int n) { return cast(dtype::i32, load(x, {w * 2 + 5, expr(n)})); };
  const expr value = select(eq(c, 0), channel(0) * 66 + channel(1) * 129,
                            select(eq(c, 1), channel(2) * 25, floordiv(channel(1) * 7, 16)));
  check_agrees(
      make("colours", {x, y},
           make_loop(c, 0, 3, vector_loop(w, 2, 64, make_store(y, {w, c}, cast(dtype::u8, value))),
                     loop_kind::unrolled)));
}

TEST_CASE("pixels that are not all there are shuffled together and stored under a mask") {
  for (const dtype t : {dtype::i8, dtype::i16, dtype::f32})
    for (const int channels : {2, 3, 4})
      for (const int lanes : {16, 32}) {
        const buffer x = make_buffer("X", t, {channels, 70}),
                     y = make_buffer("Y", t, {72, channels});
        const var c = make_var("c"), w = make_var("w"), u = make_var("u");
        const expr at = u * lanes + w;
        const auto loop = [&](const expr& guard) {
          const stmt copy = make_store(y, {at, c}, load(x, {c, at}));
          return make_loop(
              u, 0, 64 / lanes,
              make_loop(c, 0, channels, vector_loop(w, 0, lanes, make_if(guard, copy))));
        };
        check_agrees(make("tail", {x, y}, loop(lt(at, 53))));
        check_agrees(make("tail", {x, y}, loop(lt(at + c, 53))));  // not the same for all channels
        check_agrees(make("tail", {x, y}, loop(lt(expr(1), expr(u)))));
      }
}
