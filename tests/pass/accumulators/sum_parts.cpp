// Sums of many numbers, through promote_accumulators.hpp and whole programs.
#include <tilewright/impl/pass/accumulators/sum_parts.hpp>

#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/promote_accumulators.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/vector/sink_vectors.hpp>
#include <tilewright/target/cpu.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

function in_one(const function& f) {
  pass::accumulator_limits whole;
  whole.sum_part = 0;
  return pass::promote_accumulators(f, whole);
}
function in_parts(const function& f) { return pass::promote_accumulators(f, {}); }

/// Extents of the loops that are called so, in program order.
std::vector<std::int64_t> extents_of(const function& f, const std::string& name) {
  std::vector<std::int64_t> out;
  for_each_stmt(f.body, [&](const stmt& s) {
    const loop_node* loop = as_loop(s);
    if (loop && loop->var->name == name) out.push_back(as_int(loop->extent));
  });
  return out;
}

/// Accumulators that begin at nothing.
int fresh(const function& f) {
  return count(f.body, stmt_kind::store, [](const stmt& s) {
    const expr& v = as_store(s)->value;
    return v->op == op::real && v->real == 0 && std::signbit(v->real);
  });
}

function loops_of_matmul(matmul_options o, std::int64_t k) {
  o.k = k;
  return pass::sink_vectors(pass::simplify_loops(
      pass::compact_buffers(pass::simplify_loops(pass::lower_blocks(matmul(o))))));
}
matmul_options one_tile() {
  matmul_options o;
  o.m = 6, o.n = 16;
  return o;
}

/// Largest distance of C from the product of A and B in double, relative to the largest element.
double distance_of_product(const function& f, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto data = run(f);
  double far = 0, largest = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      const auto at = [&](std::size_t p, std::int64_t row, std::int64_t width,
                          std::int64_t column) {
        return static_cast<double>(data[p][static_cast<std::size_t>(row * width + column)]);
      };
      for (std::int64_t r = 0; r < k; ++r) sum += at(0, i, k, r) * at(1, r, n, j);
      far = std::max(far, std::abs(sum - at(2, i, n, j)));
      largest = std::max(largest, std::abs(sum));
    }
  return far / largest;
}

/// Relative to 1 + |sum|, of sums of up to 3,072 products of numbers in [-1, 1]: these grow to some 18, each of
/// the 3,072 roundings takes up to 6e-8 of that, and takes it to either side.
constexpr double rounding = 5e-5;

const annotations reduction{{pass::reduction_note, 1}};

struct annotated_loop {
  var v;
  std::int64_t extent;
  annotations notes = reduction;
};
stmt under(const std::vector<annotated_loop>& loops, stmt body) {
  for (std::size_t k = loops.size(); k-- > 0;)
    body = make_loop(loops[k].v, 0, dim(loops[k].extent), std::move(body), loop_kind::serial,
                     loops[k].notes);
  return body;
}

/// C[j] = value(C[j], A[k, j]) for k in a loop of 1,024 with these notes.
function fold(const annotations& notes, dtype type, expr (*value)(expr, expr)) {
  const buffer c = make_buffer("C", type, {8}), a = make_buffer("A", type, {1024, 8});
  const var k = make_var("k"), j = make_var("j");
  return make_function(
      {c, a},
      under({{k, 1024, notes}}, nest({{j, 8, loop_kind::vectorized}},
                                     make_store(c, {j}, value(load(c, {j}), load(a, {k, j}))))));
}
expr added(expr a, expr b) { return a + b; }
expr multiplied(expr a, expr b) { return a * b; }
expr largest(expr a, expr b) { return max(a, b); }

void check_left(const function& f) { CHECK(print(in_parts(f)) == print(in_one(f))); }

}  // namespace

TEST_CASE(
    "sum parts: a product of long rows is added up in parts, which are nearer to double "
    "precision") {
  for (const bool stage : {false, true}) {
    matmul_options o = one_tile();
    o.stage_b = stage;
    const function f = loops_of_matmul(o, 3072), whole = in_one(f), parts = in_parts(f);
    CHECK(extents_of(parts, "k0_part") == std::vector<std::int64_t>{12});
    CHECK(extents_of(parts, "k0") == std::vector<std::int64_t>{64});  // times tile_k = 4: 256
    CHECK(fresh(parts) == 1);
    CHECK(extents_of(whole, "k0_part").empty());
    check_same(f, parts, rounding);
    check_same(f, whole);
    CHECK(distance_of_product(parts, 6, 16, 3072) < distance_of_product(whole, 6, 16, 3072) / 2);
    CHECK(distance_of_product(parts, 6, 16, 3072) < 5e-7);
  }
}

TEST_CASE("sum parts: what is half as long again as a part stays whole") {
  const function f = loops_of_matmul(one_tile(), 384);
  check_left(f);
  check_same(f, in_parts(f));
  CHECK(extents_of(in_parts(loops_of_matmul(one_tile(), 392)), "k0") ==
        std::vector<std::int64_t>{49});
}

TEST_CASE("sum parts: an extent that no part divides leaves a rest") {
  matmul_options o = one_tile();
  o.stage_b = false;
  const function f = loops_of_matmul(o, 4 * 131), g = in_parts(f);  // 131 is prime
  CHECK(extents_of(g, "k0_part") == std::vector<std::int64_t>{2});
  CHECK(extents_of(g, "k0") == std::vector<std::int64_t>{64, 3});
  check_same(f, g, rounding);
  o.stage_b = true;  // a panel is not filled in two places
  check_left(loops_of_matmul(o, 4 * 131));
}

TEST_CASE("sum parts: guards of a tile guard its parts") {
  for (const bool stage : {false, true}) {
    matmul_options o;
    o.stage_b = stage;
    const function f = loops_of_matmul(o, 1024), g = in_parts(f);
    CHECK(extents_of(g, "k0_part") == std::vector<std::int64_t>{4});
    check_same(f, g, rounding);
  }
}

TEST_CASE("sum parts: those of a window begin where the loops inside are short enough") {
  const auto window = [](std::int64_t channels) {
    const buffer c = make_buffer("C", dtype::f32, {8}),
                 a = make_buffer("A", dtype::f32, {9, dim(channels), 8});
    const var r = make_var("r"), k = make_var("k"), j = make_var("j");
    return make_function({c, a},
                         under({{r, 9}, {k, channels}},
                               nest({{j, 8, loop_kind::vectorized}},
                                    make_store(c, {j}, load(c, {j}) + load(a, {r, k, j})))));
  };
  const function wide = window(512), narrow = window(64);
  CHECK(extents_of(in_parts(wide), "k_part") == std::vector<std::int64_t>{2});
  CHECK(extents_of(in_parts(wide), "k") == std::vector<std::int64_t>{256});
  CHECK(extents_of(in_parts(narrow), "r_part") == std::vector<std::int64_t>{3});
  CHECK(extents_of(in_parts(narrow), "r") == std::vector<std::int64_t>{3});
  for (const function& f : {wide, narrow}) check_same(f, in_parts(f), rounding);
}

TEST_CASE("sum parts: a tile that meets its sum again and again adds to it what each visit finds") {
  const buffer c = make_buffer("C", dtype::f32, {40, 16}),
               a = make_buffer("A", dtype::f32, {3072, 16}),
               b = make_buffer("B", dtype::f32, {40, 3072});
  const var k0 = make_var("k0"), i = make_var("i"), k1 = make_var("k1"), j = make_var("j");
  const auto blocked = [&](std::int64_t outer) {
    const std::int64_t inner = 3072 / outer;
    const expr k = k0 * dim(inner) + k1;
    return make_function(
        {b, a, c},
        under({{k0, outer}, {i, 40, {}}, {k1, inner}},
              nest({{j, 16, loop_kind::vectorized}},
                   make_store(c, {i, j}, load(c, {i, j}) + load(b, {i, k}) * load(a, {k, j})))));
  };
  const function f = blocked(24), g = in_parts(f);
  CHECK(fresh(g) == 1);
  CHECK(extents_of(g, "k1") == std::vector<std::int64_t>{128});
  check_same(f, g, rounding);
  check_left(blocked(384));  // eight additions are not worth it
}

TEST_CASE("sum parts: an element that nothing is added to keeps its bits") {
  const buffer c = make_buffer("C", dtype::f32, {32, 16}), a = make_buffer("A", dtype::f32, {1024});
  const var k0 = make_var("k0"), i = make_var("i"), k1 = make_var("k1"), j = make_var("j");
  const expr x = load(a, {k0 * 64 + k1});
  const function f = make_function(
      {c, a}, under({{k0, 16}, {i, 32, {}}, {k1, 64}},
                    nest({{j, 16, loop_kind::vectorized}},
                         make_if(gt(x, f32(2)), make_store(c, {i, j}, load(c, {i, j}) + x)))));
  const function g = in_parts(f);
  REQUIRE(fresh(g) == 1);
  std::vector<float> sums(32 * 16, -0.0F), numbers(1024, 1.0F);
  interpret(g, {{sums.data(), {}}, {numbers.data(), {}}}, {});
  CHECK(support::all(sums, [](float s) { return s == 0 && std::signbit(s); }));
}

TEST_CASE("sum parts: what has an order, another type or another operation stays as it is") {
  CHECK(print(in_parts(fold(reduction, dtype::f32, added))) !=
        print(in_one(fold(reduction, dtype::f32, added))));
  check_left(fold({}, dtype::f32, added));
  for (const int lanes : {0, 1})
    check_left(
        fold({{pass::reduction_note, 1}, {pass::reduction_lanes_note, lanes}}, dtype::f32, added));
  check_left(fold(reduction, dtype::f64, added));
  check_left(fold(reduction, dtype::i32, added));
  check_left(fold(reduction, dtype::f32, multiplied));
  check_left(fold(reduction, dtype::f32, largest));
  // the note may be that of the other sum
  const buffer c = make_buffer("C", dtype::f32, {1}), d = make_buffer("D", dtype::f32, {1}),
               a = make_buffer("A", dtype::f32, {1024});
  const var k = make_var("k");
  const auto two = [&](const expr& second, const annotations& notes) {
    return make_function({c, d, a}, under({{k, 1024, notes}},
                                          make_seq({make_store(c, {0}, load(c, {0}) + load(a, {k})),
                                                    make_store(d, {0}, load(d, {0}) + second)})));
  };
  check_left(two(load(a, {k}), reduction));
  // sums of one reduction of tuples are, unless one needs what the other has come to
  annotations of_tuples = reduction;
  of_tuples[reducer_note] =
      "T.comm_reducer(lambda x0, x1, y0, y1: (x0 + y0, x1 + y1), "
      "[T.float32(0.0), T.float32(0.0)])";
  const function both = two(load(a, {k}) * load(a, {k}), of_tuples);
  CHECK(fresh(in_parts(both)) == 2);
  check_same(both, in_parts(both), rounding);
  check_left(two(load(c, {0}), of_tuples));
  // as they are where temporaries hold both
  const var first = make_var("first", dtype::f32), second = make_var("second", dtype::f32);
  const auto by_lets = [&](const expr& value) {
    return make_function(
        {c, d, a},
        under(
            {{k, 1024, of_tuples}},
            make_let(first, load(c, {0}) + load(a, {k}),
                     make_let(second, load(d, {0}) + value,
                              make_seq({make_store(c, {0}, first), make_store(d, {0}, second)})))));
  };
  CHECK(fresh(in_parts(by_lets(load(a, {k})))) == 2);
  check_same(by_lets(load(a, {k})), in_parts(by_lets(load(a, {k}))), rounding);
  CHECK(fresh(in_parts(by_lets(load(c, {0})))) == 0);
  CHECK(fresh(in_parts(by_lets(cast(dtype::f32, first)))) == 0);
  // an element is added twice a step
  check_left(make_function(
      {c, a},
      under({{k, 1024}}, make_store(c, {0}, load(c, {0}) + (load(c, {0}) + load(a, {k}))))));
}

TEST_CASE("sum parts: lengths") {
  using pass::detail::promote::iterations_of_part;
  CHECK(iterations_of_part(768, 1, 256, false) == 256);
  CHECK(iterations_of_part(1000, 1, 256, false) == 250);
  CHECK(iterations_of_part(600, 1, 256, false) == 300);
  CHECK(iterations_of_part(1031, 1, 256, false) == 256);
  CHECK(iterations_of_part(1031, 1, 256, true) == 0);
  CHECK(iterations_of_part(62 * 37, 1, 256, true) == 74);
  CHECK(iterations_of_part(9, 128, 256, false) == 3);
  CHECK(iterations_of_part(7, 300, 256, true) == 1);
}

TEST_CASE("sum parts: lowered for a target, long sums are those of the interpreter") {
  for (const char* cpu : {"haswell", "skylake-avx512"})
    for (const std::int64_t k : {1031, 2048}) {
      matmul_options o;
      o.k = k, o.tile_k = 8;
      const function f = matmul(o), g = pass::lower(f, target::named(cpu));
      check_same(f, g, rounding);
      CHECK(distance_of_product(g, o.m, o.n, k) < 5e-7);
    }
  conv_options c;
  c.size = 6, c.channels = 128, c.window = 3, c.stride = 1, c.border = 1;
  check_same(conv2d(c), pass::lower(conv2d(c), target::named("haswell")), rounding);
  check_same(softmax(2, 4000), pass::lower(softmax(2, 4000), target::named("haswell")), rounding);
}
