// Several results at a time, each of which is a sum (impl/pass/vector/sums_together.hpp).
#include <tilewright/pass/vector/vectorize_reductions.hpp>
#include <tilewright/pass/walk.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

struct sums {
  std::int64_t results = 13, depth = 48;
  std::int64_t together = 4;
  bool init = true;
  dtype type = dtype::f32;
  expr (*combine)(const expr&, const expr&) = [](const expr& a, const expr& b) { return a + b; };
  std::int64_t lanes = 8;  // asked of the sum
};

/// S[n - 1 - j] = 0.5 (op) X[k] * Y[q[j], k] for the first n[0] results.
function make(const sums& o) {
  const buffer n = make_buffer("n", dtype::i32, {1}), q = make_buffer("q", dtype::i32, {40}),
               x = make_buffer("X", o.type, {dim(o.depth)}),
               y = make_buffer("Y", o.type, {7, dim(o.depth)}), s = make_buffer("S", o.type, {40});
  const var j = make_var("j"), k = make_var("k");
  const std::vector<expr> at{expr(39) - j};
  const expr value = load(x, {k}) * load(y, {load(q, {j}), k});
  stmt body = make_loop(k, 0, dim(o.depth), make_store(s, at, o.combine(load(s, at), value)),
                        loop_kind::serial,
                        {{pass::reduction_note, 1}, {pass::reduction_lanes_note, o.lanes}});
  if (o.init) body = make_seq({make_store(s, at, real(o.type, 0.5)), body});
  annotations notes{{pass::sums_together_note, o.together}};
  const expr extent = o.results < 0 ? load(n, {0}) : dim(o.results);
  return make_function({n, q, x, y, s},
                       make_loop(j, 0, extent, body, loop_kind::serial, std::move(notes)));
}

template <class T>
std::vector<T> results(const function& f, std::int32_t count, std::int64_t depth) {
  std::vector<std::int32_t> n{count}, q(40);
  std::vector<T> x(static_cast<std::size_t>(depth)), y(static_cast<std::size_t>(7 * depth)),
      s(40, T(3));
  for (std::size_t at = 0; at < q.size(); ++at) q[at] = static_cast<std::int32_t>(at * 5 % 7);
  for (std::size_t at = 0; at < x.size(); ++at) x[at] = static_cast<T>(at % 5) - 2;
  for (std::size_t at = 0; at < y.size(); ++at) y[at] = static_cast<T>(at * 37 % 11) - 5;
  interpret(f, {{n.data(), {}}, {q.data(), {}}, {x.data(), {}}, {y.data(), {}}, {s.data(), {}}});
  return s;
}

int allocations(const function& f) { return count(f.body, stmt_kind::allocate); }

const target::cpu haswell = target::named("haswell"), znver4 = target::named("znver4");

}  // namespace

TEST_CASE("sums of several results are added up together, whatever their number") {
  for (const target::cpu& cpu : {haswell, znver4})
    for (const std::int64_t together : {4, 8, 16})
      for (const std::int64_t depth : {16, 19, 48, 67}) {
        sums o;
        o.together = together;
        o.depth = depth;
        o.results = -1;
        CAPTURE(together);
        CAPTURE(depth);
        const function f = make(o), g = pass::vectorize_reductions(f, cpu);
        const int lanes = cpu.lanes(dtype::f32);
        // one buffer of partial results, and one after each halving of them, for groups of 4, 8 and 16; and one for
        // single results
        const int groups = together == 4 ? 1 : together == 8 ? 2 : 3;
        if (together <= lanes && depth >= lanes)
          CHECK(allocations(g) == groups * (lanes == 8 ? 4 : 5) + 1);
        for (const std::int32_t n : {0, -3, 1, 3, 4, 8, 9, 16, 31, 40})
          CHECK(results<float>(f, n, depth) == results<float>(g, n, depth));
      }
}

/// S[j] = sum of X[g, k, 1] * Y[j, g, k] over two loops, the first `rows` results.
function nested(std::int64_t results, std::int64_t groups, std::int64_t depth) {
  const buffer x = make_buffer("X", dtype::f32, {dim(groups), dim(depth), 2}),
               y = make_buffer("Y", dtype::f32, {dim(results), dim(groups), dim(depth)}),
               s = make_buffer("S", dtype::f32, {dim(results)});
  const var j = make_var("j"), g = make_var("g"), k = make_var("k");
  const stmt update =
      make_store(s, {j}, load(s, {j}) + load(x, {g, k, expr(1)}) * load(y, {j, g, k}));
  const annotations sum{{pass::reduction_note, 1}};
  return make_function(
      {x, y, s},
      make_loop(j, 0, dim(results),
                make_seq({make_store(s, {j}, real(dtype::f32, 0)),
                          make_loop(g, 0, dim(groups),
                                    make_loop(k, 0, dim(depth), update, loop_kind::serial, sum),
                                    loop_kind::serial, sum)}),
                loop_kind::serial, {{pass::sums_together_note, 4}}));
}

TEST_CASE("sums over several loops are added up together after the outermost one") {
  for (const target::cpu& cpu : {haswell, znver4})
    for (const std::int64_t results : {4, 7, 13})
      for (const std::int64_t depth : {16, 19, 40}) {
        const function f = nested(results, 3, depth), g = pass::vectorize_reductions(f, cpu);
        CHECK(allocations(g) > allocations(f));
        check_same(f, g, 1e-5);
      }
}

TEST_CASE(
    "no result is computed twice: groups of eight, half a group, and then one after the other") {
  const auto terms = [](std::int64_t n) {
    sums o;
    o.together = 8;
    o.results = n;
    const function g = pass::vectorize_reductions(make(o), haswell);
    return allocations(g);
  };
  CHECK(terms(16) == 4);
  CHECK(terms(12) == 8);
  CHECK(terms(13) == 9);
  CHECK(terms(4) == 4);
  CHECK(terms(3) == 1);
  CHECK(terms(17) == 5);
}

TEST_CASE("a literal number of results, doubles, maxima, and sums that go on with what is there") {
  for (const target::cpu& cpu : {haswell, znver4})
    for (const std::int64_t n : {1, 8, 13, 32}) {
      sums o;
      o.results = n;
      for (const bool init : {true, false}) {
        o.init = init;
        CHECK(results<float>(make(o), 0, 48) ==
              results<float>(pass::vectorize_reductions(make(o), cpu), 0, 48));
        sums most = o;
        most.combine = [](const expr& a, const expr& b) { return max(a, b); };
        const function largest = pass::vectorize_reductions(make(most), cpu);
        CHECK(allocations(largest) > (n < 4 ? 0 : 1));
        CHECK(results<float>(make(most), 0, 48) == results<float>(largest, 0, 48));
      }
      o.type = dtype::f64;
      const function wide = pass::vectorize_reductions(make(o), cpu);
      CHECK(allocations(wide) > (n < 4 ? 0 : 1));
      CHECK(results<double>(make(o), 0, 48) == results<double>(wide, 0, 48));
    }
}

TEST_CASE(
    "one after the other where nobody asks, the order is to stay, or a vector is not filled") {
  const auto alone = [](const sums& o) {
    return allocations(pass::vectorize_reductions(make(o), haswell)) <= 1;
  };
  CHECK_FALSE(alone({}));
  for (const std::int64_t n : {0, 1, 2, 3, 6, 16}) {
    sums o;
    o.together = n;
    CHECK(alone(o));
  }
  for (const std::int64_t n : {0, 1}) {
    sums o;
    o.lanes = n;
    CHECK(alone(o));
  }
  sums narrow;
  narrow.depth = 7;
  CHECK(alone(narrow));
}

TEST_CASE("results that meet, or that the sums read, are computed one after the other") {
  const buffer x = make_buffer("X", dtype::f32, {32, 32}), s = make_buffer("S", dtype::f32, {64});
  const var j = make_var("j"), k = make_var("k");
  const auto over = [&](const std::vector<expr>& at, const expr& value) {
    const stmt sum = make_loop(k, 0, 32, make_store(s, at, load(s, at) + value), loop_kind::serial,
                               {{pass::reduction_note, 1}});
    return make_function({x, s}, make_loop(j, 0, 16, make_seq({make_store(s, at, f32(0)), sum}),
                                           loop_kind::serial, {{pass::sums_together_note, 4}}));
  };
  const expr element = load(x, {j, k});
  for (const function& f : {over({floordiv(j, 2)}, element), over({3}, element),
                            over({j}, element * load(s, {k})), over({j}, load(x, {k, j}))}) {
    const function g = pass::vectorize_reductions(f, haswell);
    CHECK(allocations(g) <= 1);
    check_same(f, g, 1e-5);
  }
  const function f = over({j * 3 + 1}, element), g = pass::vectorize_reductions(f, haswell);
  CHECK(allocations(g) == 4);
  check_same(f, g, 1e-5);
}

namespace {

struct next_loop {
  const buffer x = make_buffer("X", dtype::f32, {24, 32}), s = make_buffer("S", dtype::f32, {64}),
               a = make_buffer("A", dtype::f32, {64}), d = make_buffer("D", dtype::f32, {64});
  const var j = make_var("j"), k = make_var("k"), m = make_var("m");

  /// 21 sums of rows of X, and then what `next` does for each of `count` results.
  function then(const stmt& next, std::int64_t count = 21) const {
    const stmt sum = make_loop(k, 0, 32, make_store(s, {j}, load(s, {j}) + load(x, {j, k})),
                               loop_kind::serial, {{pass::reduction_note, 1}});
    const stmt sums = make_loop(j, 0, 21, make_seq({make_store(s, {j}, f32(0)), sum}),
                                loop_kind::serial, {{pass::sums_together_note, 8}});
    return make_function({x, s, a, d}, make_seq({sums, make_loop(m, 0, dim(count), next)}));
  }
};

/// Whether the loop over all results is there yet.
bool is_apart(const function& f, std::int64_t count = 21) {
  bool found = false;
  for_each_stmt(f.body, [&](const stmt& s) {
    found = found || (as_loop(s) && is_int(as_loop(s)->extent, count));
  });
  return found;
}

}  // namespace

TEST_CASE("a loop that follows and computes an element of each result is computed with them") {
  const next_loop o;
  const function f = o.then(make_store(o.d, {o.m + 3}, load(o.a, {o.m + 3}) * load(o.s, {o.m})));
  for (const target::cpu& cpu : {haswell, znver4}) {
    const function g = pass::vectorize_reductions(f, cpu);
    CHECK_FALSE(is_apart(g));
    check_same(f, g, 1e-5);
  }
}

TEST_CASE("a loop that needs other results, or stores what the sums read, follows them") {
  const next_loop o;
  const expr result = load(o.s, {o.m});
  for (const function& f :
       {o.then(make_store(o.d, {o.m}, load(o.s, {expr(20) - o.m}))),  // another result
        o.then(make_store(o.d, {floordiv(o.m, 2)}, result)),          // not one each
        o.then(make_store(o.x, {0, o.m}, result)),                    // what the sums read
        o.then(make_store(o.s, {o.m}, result * load(o.a, {o.m}))),    // the results
        o.then(make_store(o.d, {o.m}, result + load(o.d, {expr(20) - o.m})))}) {  // its own
    const function g = pass::vectorize_reductions(f, haswell);
    CHECK(is_apart(g));
    check_same(f, g, 1e-5);
  }
  const function fewer = o.then(make_store(o.d, {o.m}, result), 20);
  const function g = pass::vectorize_reductions(fewer, haswell);
  CHECK(is_apart(g, 20));
  check_same(fewer, g, 1e-5);
}
