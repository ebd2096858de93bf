// Several accumulators for a sum (impl/pass/accumulators/split_accumulators.hpp).
#include <tilewright/pass/unroll_loops.hpp>
#include <tilewright/pass/walk.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

const target::cpu& machine() {
  static const target::cpu haswell = target::named("haswell");
  return haswell;
}

/// Y[r, c] = 1 + sum over k of X[k, c] * (r + 1), of `rows` rows of 16 sums in registers.
/// @param data the number of terms is none that is known
function sums(std::int64_t apart, std::int64_t terms, std::int64_t rows, annotations notes,
              bool data = false) {
  const buffer y = make_buffer("Y", dtype::f32, {dim(rows), 16}),
               x = make_buffer("X", dtype::f32, {40, 16}),
               acc = make_buffer("acc", dtype::f32, {dim(rows), 16}, "local");
  const var k = make_var("k"), r = make_var("r"), c = make_var("c"), o = make_var("o");
  const expr extent = data ? o * dim(terms) : dim(terms);
  notes[pass::sums_apart_note] = apart;
  const auto each = [&](const stmt& body) {
    return nest({{r, rows, loop_kind::unrolled}, {c, 16, loop_kind::vectorized}}, body);
  };
  const stmt step =
      each(make_store(acc, {r, c}, load(acc, {r, c}) + load(x, {k, c}) * cast(dtype::f32, r + 1)));
  const stmt body =
      make_allocate(acc, make_seq({each(make_store(acc, {r, c}, f32(1))),
                                   make_loop(k, 0, extent, step, loop_kind::serial, notes),
                                   each(make_store(y, {r, c}, load(acc, {r, c})))}));
  return make_function({y, x}, make_loop(o, 1, 1, body));
}

/// Accumulators of each sum.
std::int64_t accumulators(const function& f) {
  std::int64_t out = 1;
  for_each_stmt(f.body, [&](const stmt& s) {
    const allocate_node* a = as_allocate(s);
    if (a && a->buffer->name == "acc_parts") out = as_int(a->buffer->shape[0]);
  });
  return out;
}

const annotations reduction{{pass::reduction_note, 1}};

}  // namespace

TEST_CASE("iterations that are written out add to accumulators in turn") {
  for (const std::int64_t apart : {2, 4, 8})
    for (const std::int64_t n : {8, 9, 31, 40}) {
      const function f = sums(apart, n, 1, reduction);
      const function g = pass::unroll_reductions(f, machine());
      CHECK(accumulators(g) == std::min<std::int64_t>(apart, 4));
      check_same(f, g, 1e-5);
    }
  // of no iteration, less than what is written out, and more
  for (const std::int64_t n : {0, 3, 30}) {
    const function f = sums(4, n, 1, reduction, true);
    const function g = pass::unroll_reductions(f, machine());
    CHECK(accumulators(g) == 4);
    check_same(f, g, 1e-5);
  }
}

TEST_CASE("registers, an order that is to stay, and nobody who asks") {
  const auto of = [](std::int64_t apart, std::int64_t rows, const annotations& notes) {
    return accumulators(pass::unroll_reductions(sums(apart, 32, rows, notes), machine()));
  };
  CHECK(of(4, 1, reduction) == 4);  // of two vectors each
  CHECK(of(4, 2, reduction) == 2);
  CHECK(of(4, 4, reduction) == 1);
  for (const std::int64_t n : {0, 1, 3}) CHECK(of(n, 1, reduction) == 1);
  CHECK(of(4, 1, {{pass::reduction_note, 1}, {pass::reduction_lanes_note, 1}}) == 1);
  CHECK(of(4, 1, {{pass::reduction_note, 1}, {pass::edge_note, 1}}) == 1);
  CHECK(of(4, 1, {}) == 1);
}

TEST_CASE("what is no sum in registers keeps one accumulator") {
  const buffer y = make_buffer("Y", dtype::f32, {16}), x = make_buffer("X", dtype::f32, {40, 16});
  const var k = make_var("k"), c = make_var("c");
  annotations notes = reduction;
  notes[pass::sums_apart_note] = 4;
  const auto over = [&](const buffer& to, const expr& value) {
    const stmt step = nest({{c, 16, loop_kind::vectorized}}, make_store(to, {c}, value));
    return make_loop(k, 0, 40, step, loop_kind::serial, notes);
  };
  const function memory = make_function({y, x}, over(y, load(y, {c}) + load(x, {k, c})));
  CHECK(accumulators(pass::unroll_reductions(memory, machine())) == 1);
  check_same(memory, pass::unroll_reductions(memory, machine()));
  const buffer acc = make_buffer("acc", dtype::f32, {16}, "local");
  const auto local = [&](const expr& value) {
    const auto each = [&](const stmt& s) { return nest({{c, 16, loop_kind::vectorized}}, s); };
    return make_function(
        {y, x}, make_allocate(acc, make_seq({each(make_store(acc, {c}, f32(1))), over(acc, value),
                                             each(make_store(y, {c}, load(acc, {c})))})));
  };
  for (const function& f : {local(max(load(acc, {c}), load(x, {k, c}))),
                            local(load(acc, {c}) + load(acc, {c}) * load(x, {k, c}))}) {
    const function g = pass::unroll_reductions(f, machine());
    CHECK(accumulators(g) == 1);
    check_same(f, g);
  }
}
