#include <tilewright/pass/skip_identities.hpp>

#include <string>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/cpu.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

/// Y[q, k] += select(condition(q, r), X[q + r, k], 0) in a reduction over r.
function strided(loop_kind columns, bool declared) {
  const buffer y = make_buffer("Y", dtype::f32, {4, 8}), x = make_buffer("X", dtype::f32, {8, 8});
  const var r = make_var("r"), q = make_var("q"), k = make_var("k");
  const expr value = select(eq(floormod(q + r, 2), 0), load(x, {q + r, k}), f32(0));
  annotations notes;
  if (declared) notes[pass::reduction_note] = 1;
  return make_function({y, x}, make_loop(r, 0, 4,
                                         nest({{q, 4, loop_kind::unrolled}, {k, 8, columns}},
                                              make_store(y, {q, k}, load(y, {q, k}) + value)),
                                         loop_kind::serial, notes));
}

}  // namespace

TEST_CASE("terms that are the identity are skipped in declared reductions") {
  const function f = strided(loop_kind::vectorized, true), g = pass::skip_identities(f);
  CHECK(count(g.body, stmt_kind::if_else) == 1);
  check_same(f, g);
  check_same(f, pass::lower(f, target::named("haswell")));
  CHECK(count(pass::skip_identities(strided(loop_kind::vectorized, false)).body,
              stmt_kind::if_else) == 0);
}

TEST_CASE("a condition that differs between lanes stays a choice") {
  const buffer y = make_buffer("Y", dtype::f32, {8}), x = make_buffer("X", dtype::f32, {4, 8});
  const var r = make_var("r"), k = make_var("k");
  const expr value = if_then_else(lt(k, r), load(x, {r, k}), f32(0));
  const function f = make_function(
      {y, x},
      make_loop(r, 0, 4,
                nest({{k, 8, loop_kind::vectorized}}, make_store(y, {k}, load(y, {k}) + value)),
                loop_kind::serial, {{pass::reduction_note, 1}}));
  CHECK(count(pass::skip_identities(f).body, stmt_kind::if_else) == 0);
}

TEST_CASE("products with a zero are left out where a block says so") {
  const std::string text = R"(
@T.prim_func
def main(X: T.Buffer((6, 8), "float32"), F: T.Buffer((3, 8), "float32"), Y: T.Buffer((6, 8), "float32")):
    for q, s, k in T.grid(6, 3, 8):
        with T.block("Y"):
            vq, vs, vk = T.axis.remap("SRS", [q, s, k])
            with T.init():
                Y[vq, vk] = T.float32(0)
            Y[vq, vk] = Y[vq, vk] + F[vs, vk] * (T.if_then_else(1 <= vq + vs and vq + vs < 7, X[vq + vs - 1, vk], T.float32(0)) * T.float32(2))
)";
  std::string noted = text;
  const std::string init = "            with T.init():\n";
  noted.insert(noted.find(init), "            T.block_attr({\"tilewright.skip_zeros\": 1})\n");
  const function plain = parse(text), said = parse(noted);
  const function with = pass::lower_blocks(said), without = pass::lower_blocks(plain);
  CHECK(count(pass::skip_identities(without).body, stmt_kind::if_else) == 0);
  const function skipped = pass::skip_identities(with);
  CHECK(count(skipped.body, stmt_kind::if_else) == 1);
  bool chooses = false;
  for_each_expr(skipped.body,
                [&](const expr& e) { chooses = chooses || e->op == op::if_then_else; });
  CHECK_FALSE(chooses);
  check_same(plain, skipped);
  check_same(plain, pass::lower(said, target::named("haswell")));
}

TEST_CASE("products with a zero that a remainder chooses are skipped, other choices stay inside") {
  const buffer y = make_buffer("Y", dtype::f32, {4, 8}), x = make_buffer("X", dtype::f32, {8}),
               w = make_buffer("W", dtype::f32, {4, 8});
  annotations notes{{pass::reduction_note, 1}};
  const auto program = [&](const auto& condition, bool first) {
    const var r = make_var("r"), q = make_var("q"), k = make_var("k");
    const expr chosen = if_then_else(condition(q, r, k), load(x, {q + r}), f32(0)),
               other = load(w, {r, k});
    return make_function(
        {y, x, w},
        make_loop(r, 0, 4,
                  nest({{q, 4, loop_kind::unrolled}, {k, 8, loop_kind::vectorized}},
                       make_store(y, {q, k},
                                  load(y, {q, k}) + (first ? chosen * other : other * chosen))),
                  loop_kind::serial, notes));
  };
  const auto branches = [&](const auto& condition, bool first = true) {
    const function f = program(condition, first), g = pass::skip_identities(f);
    check_same(f, g, 0);
    check_same(f, pass::lower(f, target::named("haswell")), 1e-6);
    return count(g.body, stmt_kind::if_else);
  };
  const auto even = [](const expr& a) { return eq(floormod(a, 2), 0); };
  CHECK(branches([&](const var& q, const var& r, const var&) { return even(q + r); }) == 1);
  CHECK(branches([&](const var& q, const var& r, const var&) { return even(q + r); }, false) == 1);
  CHECK(branches([&](const var& q, const var& r, const var&) {
          return logical_and(even(q + r), lt(q, 3));
        }) == 1);
  CHECK(branches([&](const var& q, const var&, const var& k) {
          return logical_and(even(k), lt(q, 3));
        }) == 0);
  CHECK(branches([&](const var& q, const var&, const var&) { return lt(q, 3); }) == 0);
  notes[pass::reduction_lanes_note] = 1;  // asks for all terms, one after the other
  CHECK(branches([&](const var& q, const var& r, const var&) { return even(q + r); }) == 0);
}
