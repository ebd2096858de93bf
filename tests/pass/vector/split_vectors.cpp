#include <tilewright/pass/vector/split_vectors.hpp>

#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/vector/sink_vectors.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

function copy_of(std::int64_t n, dtype type = dtype::f32) {
  const buffer y = make_buffer("Y", type, {dim(n)}), x = make_buffer("X", type, {dim(n)});
  const var j = make_var("j");
  return make_function({y, x},
                       nest({{j, n, loop_kind::vectorized}}, make_store(y, {j}, load(x, {j}))));
}

std::vector<std::int64_t> widths(const function& f) {
  std::vector<std::int64_t> out;
  for_each_stmt(f.body, [&](const stmt& s) {
    const loop_node* loop = as_loop(s);
    if (loop && loop->loop == loop_kind::vectorized) out.push_back(as_int(loop->extent));
  });
  return out;
}

}  // namespace

TEST_CASE("vectors have the machine's width, tails are powers of two") {
  const target::cpu haswell = target::named("haswell");
  const function f = copy_of(19), g = pass::split_vectors(f, haswell);
  CHECK(widths(g) == std::vector<std::int64_t>{8, 2});
  CHECK(count_loops(g.body, loop_kind::unrolled) == 1);
  check_same(f, g);
  CHECK(widths(pass::split_vectors(copy_of(8), haswell)) == std::vector<std::int64_t>{8});
  CHECK(widths(pass::split_vectors(copy_of(7), haswell)) == std::vector<std::int64_t>{4, 2});
  CHECK(widths(pass::split_vectors(copy_of(32, dtype::i8), haswell)) ==
        std::vector<std::int64_t>{32});
}

TEST_CASE("many vectors stay in a loop") {
  const target::cpu haswell = target::named("haswell");
  const function f = copy_of(1003), g = pass::split_vectors(f, haswell);
  CHECK(count_loops(g.body, loop_kind::serial) == 1);
  CHECK(widths(g) == std::vector<std::int64_t>{8, 8, 2});
  check_same(f, g);
}

TEST_CASE("quotients by one divisor come in pairs of vectors where a CPU divides slowly") {
  const auto quotients = [](std::int64_t n, dtype type) {
    const buffer y = make_buffer("Y", type, {dim(n)}), x = make_buffer("X", type, {dim(n)}),
                 d = make_buffer("D", type, {1});
    const var j = make_var("j");
    return make_function({y, x, d}, nest({{j, n, loop_kind::vectorized}},
                                         make_store(y, {j}, div(load(x, {j}), load(d, {0})))));
  };
  using list = std::vector<std::int64_t>;
  const auto of = [&](std::int64_t n, dtype type, const char* cpu) {
    const function f = quotients(n, type), g = pass::split_vectors(f, target::named(cpu));
    if (type == dtype::f32) check_same(f, g);
    return widths(g);
  };
  CHECK(of(64, dtype::f64, "znver4") == list{16});
  CHECK(of(64, dtype::f32, "znver4") == list{32});
  CHECK(of(64, dtype::f32, "znver5") == list{16});  // divides as fast as it multiplies and adds
  CHECK(of(64, dtype::f64, "nehalem") == list{2});
  CHECK(of(29, dtype::f64, "znver5") == list{16, 8, 8});  // the last one under a mask
  CHECK(of(27, dtype::f64, "haswell") == list{8, 2});
  CHECK(of(13, dtype::f64, "haswell") == list{8, 4});
  CHECK(of(59, dtype::f32, "haswell") == list{16, 8, 2});
  CHECK(of(1003, dtype::f64, "haswell") == list{8, 8, 2});
}

TEST_CASE("quotients by one divisor that are rounded to bytes come in pairs of vectors") {
  const auto of = [](dtype type, const char* cpu) {
    const buffer y = make_buffer("Y", type, {64}), x = make_buffer("X", dtype::f32, {64}),
                 d = make_buffer("D", dtype::f32, {1});
    const var j = make_var("j");
    const expr whole = call(dtype::f32, "round", {div(load(x, {j}), load(d, {0}))});
    const function f = make_function({y, x, d}, nest({{j, 64, loop_kind::vectorized}},
                                                     make_store(y, {j}, cast(type, whole)))),
                   g = pass::split_vectors(f, target::named(cpu));
    check_same(f, g);
    return widths(g);
  };
  using list = std::vector<std::int64_t>;
  CHECK(of(dtype::i8, "znver5") == list{32});
  CHECK(of(dtype::i32, "znver5") == list{16});  // divided
  CHECK(of(dtype::u8, "nehalem") == list{4});   // without multiply-adds in one rounding
}

TEST_CASE("a vectorized loop that follows another may have a negative extent") {
  const buffer y = make_buffer("Y", dtype::f32, {16}), x = make_buffer("X", dtype::f32, {16});
  const var o = make_var("o"), j = make_var("j");
  const function f =
      make_function({y, x}, make_loop(o, 0, 4,
                                      make_loop(j, 0, o * 7 - 5, make_store(y, {j}, load(x, {j})),
                                                loop_kind::vectorized)));
  check_same(f, pass::split_vectors(f, target::named("haswell")));
}

TEST_CASE("programs keep their meaning when vectors are split") {
  for (const function& f : {matmul({}), softmax(3, 37), conv2d({})})
    check_same(f,
               pass::split_vectors(pass::sink_vectors(pass::simplify_loops(pass::lower_blocks(f))),
                                   target::named("haswell")));
}

TEST_CASE("the extent of a vectorized loop may be a variable that is negative") {
  const buffer y = make_buffer("Y", dtype::f32, {16}), x = make_buffer("X", dtype::f32, {16});
  const var o = make_var("o"), j = make_var("j");
  const function f = make_function(
      {y, x},
      make_loop(o, -7, 20,
                make_loop(j, 0, o, make_store(y, {j + 3}, load(x, {j})), loop_kind::vectorized)));
  check_same(f, pass::split_vectors(f, target::named("haswell")));
}

TEST_CASE(
    "vectors of truth values in registers are as long as those of the floats that are compared") {
  const auto inside = [](const std::string& scope) {
    const buffer y = make_buffer("Y", dtype::u8, {64}), x = make_buffer("X", dtype::f32, {6, 64}),
                 part = make_buffer("part", dtype::boolean, {64}, scope);
    const var k = make_var("k"), j = make_var("j"), begun = make_var("j"), done = make_var("j");
    const auto lanes = [](const var& v, const stmt& body) {
      return nest({{v, 64, loop_kind::vectorized}}, body);
    };
    const stmt all = make_seq(
        {lanes(begun, make_store(part, {begun}, boolean(true))),
         make_loop(k, 0, 6,
                   lanes(j, make_store(part, {j},
                                       logical_and(load(part, {j}), le(f32(0), load(x, {k, j})))))),
         lanes(done, make_store(y, {done}, cast(dtype::u8, load(part, {done}))))});
    return make_function({y, x}, make_allocate(part, all));
  };
  const target::cpu wide = target::named("znver4");
  const auto of = [&](const std::string& scope) {
    const function f = inside(scope), g = pass::split_vectors(f, wide);
    check_same(f, g);
    return widths(g);
  };
  CHECK(of("local") == std::vector<std::int64_t>{16, 16, 16});
  CHECK(of("global") == std::vector<std::int64_t>{64, 16, 64});
}
