#include <tilewright/backend/llvm/emit.hpp>

#include "../harness.hpp"

using namespace harness;

TEST_CASE("a while loop runs as long as its condition holds, nested and not at all") {
  if (!have_compiler()) return;
  // Y[i]: how often X[i] can be halved, times as many steps of an inner loop
  const buffer x = make_buffer("X", dtype::i32, {expr(8)}),
               y = make_buffer("Y", dtype::i32, {expr(8)});
  const buffer left = make_buffer("left", dtype::i32, {expr(1)}, "local");
  const buffer step = make_buffer("step", dtype::i32, {expr(1)}, "local");
  const var i = make_var("i");
  const auto at = [](const buffer& b) { return load(b, {expr(0)}); };
  const stmt inner = make_while(lt(at(step), at(left)),
                                make_seq({make_store(y, {i}, load(y, {i}) + expr(1)),
                                          make_store(step, {expr(0)}, at(step) + expr(3))}));
  const stmt outer = make_while(gt(at(left), expr(1)),
                                make_seq({make_store(left, {expr(0)}, floordiv(at(left), expr(2))),
                                          make_store(step, {expr(0)}, expr(0)), inner}));
  stmt body =
      make_seq({make_store(y, {i}, expr(0)), make_store(left, {expr(0)}, load(x, {i})), outer});
  body = make_allocate(left, make_allocate(step, body));
  const function f = make("halved", {x, y}, make_loop(i, 0, expr(8), body));
  std::vector<std::int32_t> values{0, 1, 2, 3, 100, 1000, 7, -5}, expected(8, -1), actual(8, -1);
  interpret(f, {{values.data(), {}}, {expected.data(), {}}});
  CHECK(expected[4] > 10);
  for (const target::cpu& cpu : runnable_targets()) {
    const auto code = backend::load(backend::compile(f, cpu));
    void* data[] = {values.data(), actual.data()};
    CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
    CHECK(actual == expected);
  }
}

TEST_CASE("a loop around a while loop that asks for vectors runs one by one") {
  if (!have_compiler()) return;
  const buffer y = make_buffer("Y", dtype::i32, {expr(8)});
  const var i = make_var("i");
  const stmt body =
      make_while(lt(load(y, {i}), expr(4)), make_store(y, {i}, load(y, {i}) + expr(1)));
  const function f = make("counts", {y}, make_loop(i, 0, expr(8), body, loop_kind::vectorized));
  std::vector<std::int32_t> actual(8, 0);
  const auto code = backend::load(backend::compile(f, runnable_targets().front()));
  void* data[] = {actual.data()};
  CHECK((*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
  CHECK(actual == std::vector<std::int32_t>(8, 4));  // it runs one by one
}

TEST_CASE("the code of a short loop begins where a line of code does") {
  if (!have_compiler()) return;
  const buffer x = make_buffer("X", dtype::f32, {64, 32}),
               y = make_buffer("Y", dtype::f32, {64, 8});
  const var i = make_var("i"), k = make_var("k"), v = make_var("v");
  // Y[i] = Y[i] + X[i, 8 k ..] for so many k, which are written out
  const auto sums = [&](std::int64_t extent, int terms, bool asks = false) {
    const expr term = load(x, {i, k * 8 + v});
    const expr added = asks ? if_then_else(lt(i, 40), term, real(dtype::f32, 0)) : term;
    const stmt add = make_store(y, {i, v}, load(y, {i, v}) + added);
    return make("sums", {x, y},
                make_loop(i, 0, expr(static_cast<int>(extent)),
                          make_loop(k, 0, terms, make_loop(v, 0, 8, add, loop_kind::vectorized),
                                    loop_kind::unrolled)));
  };
  const auto aligned = [](const function& f) {
    return backend::inspect(f, target::named("haswell"), backend::stage::assembly)
               .find(".p2align\t6, 0x90") != std::string::npos;
  };
  CHECK(aligned(sums(64, 1)));
  CHECK(aligned(sums(64, 2)));
  CHECK_FALSE(aligned(sums(64, 4)));  // more than a line has room for
  CHECK_FALSE(aligned(sums(4, 1)));
  CHECK_FALSE(aligned(sums(64, 1, true)));
  check_agrees(sums(64, 1));
  options rounded;
  rounded.tolerance = 1e-6;
  check_agrees(sums(64, 4), rounded);
}
