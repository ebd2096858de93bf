#include <tilewright/pass/prepare_weights.hpp>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/cpu.hpp>

#include "programs.hpp"

using namespace programs;

namespace {

using shape = std::vector<std::int64_t>;

function loops_of(function f, std::int64_t bound) {
  f.attrs[bound_attribute] = attr::list{bound};
  return pass::compact_buffers(pass::simplify_loops(pass::lower_blocks(f)));
}

shape shape_of(const buffer& b) {
  shape out;
  for (const expr& e : b->shape) out.push_back(as_int(e));
  return out;
}

/// Runs the preparation, then main on what it filled; the written parameters must be those of `f`.
void check_prepared(const function& f, const pass::prepared& p) {
  const auto want = run(f);
  std::vector<std::vector<float>> data;
  support::random draw(1);
  for (const param& x : p.main.params) {
    const bool packed = std::find(p.packed.begin(), p.packed.end(), x.buffer) != p.packed.end();
    data.emplace_back(static_cast<std::size_t>(pass::constant_size(x.buffer)));
    if (!packed)
      for (float& v : data.back()) v = static_cast<float>(2 * draw.unit() - 1);
  }
  for (const function* part : {&p.preparation, &p.main}) {
    std::vector<tensor_view> args;
    for (auto& values : data) args.push_back({values.data(), {}});
    interpret_options options;
    options.check_races = true;
    interpret(*part, args, options);
  }
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(data[i] == want[i]);
}

/// True when `f` stores into a buffer that is no parameter.
bool stages(const function& f) {
  for (const buffer& b : pass::stored_buffers(f.body))
    if (std::none_of(f.params.begin(), f.params.end(),
                     [&](const param& p) { return p.buffer == b; }))
      return true;
  return false;
}

}  // namespace

TEST_CASE("the panel of a bound operand is filled once") {
  const function f = loops_of(matmul({}), 1);  // 19 columns in tiles of 16, depth 10 in tiles of 4
  const pass::prepared p = pass::prepare_weights(f);
  REQUIRE(p.packed.size() == 1);
  CHECK(p.packed[0]->name == "B_panel");
  CHECK(shape_of(p.packed[0]) == shape{2, 3, 4, 16});
  CHECK(p.main.params.size() == 4);
  CHECK(p.preparation.params.size() == 4);
  CHECK(!stages(p.main));
  CHECK(p.preparation.name == "main_weights");
  check_prepared(f, p);
}

TEST_CASE("other operands stay where they are") {
  const function f = loops_of(matmul({}), 0);  // A is bound, B is staged
  const pass::prepared p = pass::prepare_weights(f);
  CHECK(p.packed.empty());
  CHECK(!p.preparation.body);
  CHECK(equal(p.main, f));
  CHECK(stages(p.main));
}

TEST_CASE("an unbound function, or a bound scalar, has nothing to prepare") {
  function f = matmul({});
  CHECK(bound_weights(f).empty());
  f.attrs[bound_attribute] = attr::list{std::int64_t{7}, std::int64_t{-1}, "B"};
  CHECK(bound_weights(f).empty());
  f.attrs[bound_attribute] = "B";
  CHECK(bound_weights(f).empty());
}

TEST_CASE("digits of a fused loop become dimensions") {
  const buffer w = make_buffer("W", dtype::f32, {dim(8), dim(12)}),
               x = make_buffer("X", dtype::f32, {dim(5), dim(8)}),
               y = make_buffer("Y", dtype::f32, {dim(5), dim(12)});
  const buffer p = make_buffer("P", dtype::f32, {dim(8), dim(4)});
  const var f = make_var("f"), k = make_var("k"), j = make_var("j"), k2 = make_var("k2"),
            j2 = make_var("j2");
  const expr column = floormod(f, 3) * dim(4);
  const stmt fill = nest({{k, 8}, {j, 4}}, make_store(p, {k, j}, load(w, {k, column + j})));
  const expr row = floordiv(f, 3), out = column + j2;
  const stmt use =
      nest({{k2, 8}, {j2, 4}},
           make_store(y, {row, out}, load(y, {row, out}) + load(x, {row, k2}) * load(p, {k2, j2})));
  function before = make_function(
      {x, w, y},
      make_loop(f, 0, dim(15), make_allocate(p, make_seq({fill, use})), loop_kind::parallel));
  before.attrs[bound_attribute] = attr::list{std::int64_t{1}};
  const pass::prepared split = pass::prepare_weights(before);
  REQUIRE(split.packed.size() == 1);
  CHECK(shape_of(split.packed[0]) == shape{3, 8, 4});
  CHECK(count_loops(split.preparation.body, loop_kind::parallel) == 1);
  check_prepared(before, split);
}

TEST_CASE("slices that would take too much memory are filled in every call") {
  const buffer w = make_buffer("W", dtype::f32, {dim(16)}),
               y = make_buffer("Y", dtype::f32, {dim(64), dim(16)});
  const buffer p = make_buffer("P", dtype::f32, {dim(16)});
  const var i = make_var("i"), k = make_var("k"), j = make_var("j");
  // the panel differs from row to row
  const stmt fill =
      make_loop(k, 0, dim(16), make_store(p, {k}, load(w, {floormod(k + i, 16)}) * f32(2)));
  const stmt use = make_loop(j, 0, dim(16), make_store(y, {i, j}, load(p, {j})));
  function f =
      make_function({w, y}, make_loop(i, 0, dim(64), make_allocate(p, make_seq({fill, use}))));
  f.attrs[bound_attribute] = attr::list{std::int64_t{0}};
  CHECK(pass::prepare_weights(f).packed.empty());
}

TEST_CASE(
    "a transformed filter may take more memory where the function allows its algorithms an error") {
  constexpr std::int64_t times = 8;  // as 8x8 elements of 3x3
  const buffer w = make_buffer("W", dtype::f32, {dim(16)}),
               y = make_buffer("Y", dtype::f32, {dim(times * 16)});
  const buffer p = make_buffer("P", dtype::f32, {dim(times * 16)});
  const var k = make_var("k"), j = make_var("j");
  const stmt fill =
      make_loop(k, 0, dim(times * 16), make_store(p, {k}, load(w, {floormod(k, 16)}) * f32(2)));
  const stmt use = make_loop(j, 0, dim(times * 16), make_store(y, {j}, load(p, {j})));
  function f = make_function({w, y}, make_allocate(p, make_seq({fill, use})));
  f.attrs[bound_attribute] = attr::list{std::int64_t{0}};
  CHECK(pass::prepare_weights(f).packed.empty());
  f.attrs[error_attribute] = 1e-4;
  const pass::prepared moved = pass::prepare_weights(f);
  CHECK(moved.packed.size() == 1);
  check_prepared(f, moved);
}

TEST_CASE("a transform in two steps moves as a whole and keeps its last result") {
  const buffer w = make_buffer("W", dtype::f32, {dim(4), dim(6)}),
               y = make_buffer("Y", dtype::f32, {dim(6), dim(4)});
  const buffer t = make_buffer("T", dtype::f32, {dim(6), dim(4)}),
               u = make_buffer("U", dtype::f32, {dim(6), dim(4)});
  const auto at = [](const buffer& to, auto value) {
    const var i = make_var("i"), j = make_var("j");
    return nest({{i, 6}, {j, 4}}, make_store(to, {i, j}, value(i, j)));
  };
  const stmt one = at(t, [&](auto i, auto j) { return load(w, {j, i}) * f32(2); });
  const stmt two = at(u, [&](auto i, auto j) { return load(t, {i, j}) + f32(1); });
  const stmt use = at(y, [&](auto i, auto j) { return load(u, {i, j}) * f32(3); });
  for (const bool inner : {false, true}) {
    const stmt body =
        make_allocate(inner ? u : t, make_allocate(inner ? t : u, make_seq({one, two, use})));
    function f = make_function({w, y}, body);
    f.attrs[bound_attribute] = attr::list{std::int64_t{0}};
    const pass::prepared p = pass::prepare_weights(f);
    REQUIRE(p.packed.size() == 1);
    CHECK(p.packed[0]->name == "U");
    check_prepared(f, p);
  }
}

TEST_CASE("a weight that is written is none, nor is a panel that is read first") {
  const buffer w = make_buffer("W", dtype::f32, {dim(4)}),
               y = make_buffer("Y", dtype::f32, {dim(4)});
  const buffer p = make_buffer("P", dtype::f32, {dim(4)});
  const auto at = [](const buffer& to, const buffer& from) {
    const var i = make_var("i");
    return make_loop(i, 0, dim(4), make_store(to, {i}, load(from, {i})));
  };
  function f = make_function({w, y}, make_allocate(p, make_seq({at(p, w), at(y, p), at(w, y)})));
  f.attrs[bound_attribute] = attr::list{std::int64_t{0}};
  CHECK(pass::prepare_weights(f).packed.empty());
  f.body = make_allocate(p, make_seq({at(p, w), at(y, p), at(p, w)}));
  CHECK(pass::prepare_weights(f).packed.empty());
}

TEST_CASE("both parts of a lowered function compute what the whole does") {
  for (const std::int64_t n : {16, 19, 40}) {
    matmul_options o;
    o.n = n;
    function f = matmul(o);
    f.attrs[bound_attribute] = attr::list{std::int64_t{1}};
    const pass::prepared p = pass::lower_prepared(f, target::named("haswell"));
    REQUIRE(p.packed.size() == 1);
    CHECK(p.main.attrs.count("tilewright.lowered") == 1);
    CHECK(p.preparation.attrs.count("tilewright.lowered") == 1);
  }
}
