#include <tilewright/impl/pass/vector/joined_channels.hpp>

#include <cstdint>
#include <vector>

#include "../programs.hpp"

using namespace programs;

namespace {

const var at = make_var("at"), w = make_var("w");

/// One vector of lanes of a channel, with a guard or without.
stmt vector_of(stmt body, bool guarded = false) {
  // a variable of its own for each loop, as lowering makes them
  const var lane = make_var("w");
  body = substitute(guarded ? make_if(lt(at * 16 + w, 37), std::move(body)) : std::move(body),
                    {{w, lane}});
  return make_loop(lane, 0, 16, std::move(body), loop_kind::vectorized);
}

/// Y[at * 16 + w, channel] = value of X, for all channels in the order given.
function pixels(const std::vector<int>& order, int channels, bool guarded,
                const std::vector<expr>& values = {}) {
  const buffer x = make_buffer("X", dtype::f32, {8, 48}),
               y = make_buffer("Y", dtype::f32, {48, channels});
  std::vector<stmt> all;
  for (const int c : order) {
    const expr value = values.empty() ? load(x, {c, at * 16 + w}) * f32(c + 1) + f32(c)
                                      : values[static_cast<std::size_t>(c)];
    all.push_back(vector_of(make_store(y, {at * 16 + w, expr(c)}, value), guarded));
  }
  return make_function({y, x}, nest({{at, 3}}, make_seq(std::move(all))));
}

int vectors(const function& f) { return count_loops(f.body, loop_kind::vectorized); }

}  // namespace

TEST_CASE("stores of all channels of the same pixels become a loop over channels") {
  for (const bool guarded : {false, true})
    for (const std::vector<int>& order :
         std::vector<std::vector<int>>{{0, 1}, {2, 0, 1}, {3, 2, 1, 0}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
      const function f = pixels(order, static_cast<int>(order.size()), guarded);
      const function g = pass::detail::join_channels(f);
      CHECK(vectors(f) == std::ssize(order));
      CHECK(vectors(g) == 1);
      CHECK(count_loops(g.body, loop_kind::unrolled) == 1);
      check_same(f, g);
    }
}

TEST_CASE("a channel may be updated in place") {
  const buffer x = make_buffer("X", dtype::f32, {2, 48}), y = make_buffer("Y", dtype::f32, {96});
  const auto update = [&](int c) {
    const expr place = (at * 16 + w) * 2 + c;
    return vector_of(make_store(y, {place}, load(y, {place}) + load(x, {c, at * 16 + w})));
  };
  const function f = make_function({y, x}, nest({{at, 3}}, make_seq({update(1), update(0)})));
  const function g = pass::detail::join_channels(f);
  CHECK(vectors(g) == 1);
  check_same(f, g);
}

TEST_CASE("both halves of a butterfly are pixels of their own") {
  const buffer x = make_buffer("X", dtype::f32, {64}), y = make_buffer("Y", dtype::f32, {2, 16, 2});
  std::vector<stmt> all;
  for (const int half : {0, 1})
    for (const int part : {0, 1}) {
      const expr even = load(x, {w * 2 + part}), odd = load(x, {w * 2 + 32 + part});
      all.push_back(vector_of(make_store(y, {half, w, part}, half ? even - odd : even + odd)));
    }
  const function f = make_function({y, x}, make_seq(std::move(all)));
  const function g = pass::detail::join_channels(f);
  CHECK(vectors(g) == 2);
  check_same(f, g);
}

TEST_CASE("what is not all channels, or reads other channels, stays as it is") {
  const auto stays = [](const function& f) {
    const int before = vectors(f);
    const function g = pass::detail::join_channels(f);
    CHECK(vectors(g) == before);
    check_same(f, g);
  };
  stays(pixels({0, 1}, 3, false));
  stays(pixels({0, 2, 2}, 3, true));
  stays(pixels({0, 1, 2, 3, 4, 5, 6, 7}, 9, false));
  const buffer x = make_buffer("X", dtype::f32, {48}), y = make_buffer("Y", dtype::f32, {16, 2});
  const stmt first = vector_of(make_store(y, {w, 0}, load(x, {w})));
  // the second one reads what the first one has stored
  const stmt second = vector_of(make_store(y, {w, 1}, load(y, {w, 0}) * f32(2)));
  stays(make_function({y, x}, make_seq({first, second})));
  // of other pixels, under another condition, or with something between
  const stmt beside = vector_of(make_store(y, {w, 1}, load(x, {w + 1})));
  const stmt guarded = make_loop(w, 0, 16, make_if(lt(w, 9), make_store(y, {w, 1}, load(x, {w}))),
                                 loop_kind::vectorized);
  stays(make_function({y, x}, make_seq({first, guarded})));
  const stmt between = vector_of(make_store(x, {w + 16}, f32(3)));
  stays(make_function({y, x}, make_seq({first, between, beside})));
  const buffer z = make_buffer("Z", dtype::f32, {17, 2});
  stays(make_function({z, x}, make_seq({vector_of(make_store(z, {w, 0}, load(x, {w}))),
                                        vector_of(make_store(z, {w + 1, 1}, load(x, {w + 3})))})));
}
