// Random schedules of small programs: whatever the primitives accept keeps the meaning of the
// program, and whatever they refuse leaves the schedule as it was.
#include <schedule/check_schedule.hpp>
#include <schedule/programs.hpp>

using namespace tilewright;

namespace {

/// P[i] = A[i - 1] or 0 outside, B[i] = P[i] + P[i + 1] + P[i + 2], C[i] = max(B[i], 0).
ir::function stencil(int n) {
  using namespace programs;
  const buffer a = make_buffer("A", dtype::f32, {n}), p = make_buffer("P", dtype::f32, {n + 2});
  const buffer b = make_buffer("B", dtype::f32, {n}), c = make_buffer("C", dtype::f32, {n});
  const nest pad({"i"}, {n + 2}), sum({"i"}, {n}), relu({"i"}, {n});
  const expr at = pad.v(0), zero = real(dtype::f32, 0), x = sum.v(0);
  const expr padded = if_then_else(logical_and(ge(at, 1), lt(at, n + 1)), load(a, {at - 1}), zero);
  const expr total = load(p, {x}) + load(p, {x + 1}) + load(p, {x + 2});
  ir::function f;
  f.params = {{a, {}}, {c, {}}};
  f.body = make_root(
      make_seq({pad.wrap(store_block("P", p, {at}, padded, {full_region(a)})),
                sum.wrap(store_block("B", b, {x}, total, {{p, {{x, 3}}}})),
                relu.wrap(store_block("C", c, {relu.v(0)}, ir::max(load(b, {relu.v(0)}), zero),
                                      {{b, point_box({relu.v(0)})}}))}),
      {p, b});
  return f;
}

/// S[i] = sum over j of A[i, j], D[i, j] = A[i, j] - S[i].
ir::function centered(int n, int m) {
  using namespace programs;
  const buffer a = make_buffer("A", dtype::f32, {n, m}), d = make_buffer("D", dtype::f32, {n, m});
  const buffer s = make_buffer("S", dtype::f32, {n});
  nest row({"i", "j"}, {n, m});
  const nest out({"i", "j"}, {n, m});
  row.iters[1].kind = iter_kind::reduce;
  const std::vector<expr> in{row.v(0), row.v(1)}, at{out.v(0), out.v(1)};
  block_node sum =
      store_block("S", s, {in[0]}, load(s, {in[0]}) + load(a, in), {{a, point_box(in)}});
  sum.init = make_store(s, {in[0]}, real(dtype::f32, 0));
  ir::function f;
  f.params = {{a, {}}, {d, {}}};
  f.body =
      make_root(make_seq({row.wrap(std::move(sum)),
                          out.wrap(store_block("D", d, at, load(a, at) - load(s, {at[0]}),
                                               {{a, point_box(at)}, {s, point_box({at[0]})}}))}),
                {s});
  return f;
}

/// P = A with a border of zeros, B = 3 x 3 sums of products of P and a filter, C = max(B, 0).
ir::function convolution(int h, int w) {
  using namespace programs;
  const buffer a = make_buffer("A", dtype::f32, {h, w}), g = make_buffer("G", dtype::f32, {3, 3});
  const buffer p = make_buffer("P", dtype::f32, {h + 2, w + 2});
  const buffer b = make_buffer("B", dtype::f32, {h, w}), c = make_buffer("C", dtype::f32, {h, w});
  const nest pad({"i", "j"}, {h + 2, w + 2}), relu({"i", "j"}, {h, w});
  nest conv({"i", "j", "r", "s"}, {h, w, 3, 3});
  conv.iters[2].kind = conv.iters[3].kind = iter_kind::reduce;
  const expr y = pad.v(0), x = pad.v(1), zero = real(dtype::f32, 0);
  const expr inside =
      logical_and(logical_and(ge(y, 1), lt(y, h + 1)), logical_and(ge(x, 1), lt(x, w + 1)));
  const std::vector<expr> at{conv.v(0), conv.v(1)}, tap{conv.v(2), conv.v(3)},
      from{conv.v(0) + conv.v(2), conv.v(1) + conv.v(3)}, out{relu.v(0), relu.v(1)};
  block_node sum = store_block("B", b, at, load(b, at) + load(p, from) * load(g, tap),
                               {{p, point_box(from)}, {g, point_box(tap)}});
  sum.init = make_store(b, at, zero);
  ir::function f;
  f.params = {{a, {}}, {g, {}}, {c, {}}};
  f.body = make_root(
      make_seq(
          {pad.wrap(store_block("P", p, {y, x}, if_then_else(inside, load(a, {y - 1, x - 1}), zero),
                                {full_region(a)})),
           conv.wrap(std::move(sum)),
           relu.wrap(
               store_block("C", c, out, ir::max(load(b, out), zero), {{b, point_box(out)}}))}),
      {p, b});
  return f;
}

/// J = the first half from A, the second from A + 1; two blocks write it; C = 2 J.
ir::function joined(int n) {
  using namespace programs;
  const buffer a = make_buffer("A", dtype::f32, {n}), j = make_buffer("J", dtype::f32, {2 * n});
  const buffer c = make_buffer("C", dtype::f32, {2 * n});
  const nest first({"i"}, {n}), second({"i"}, {n}), all({"i"}, {2 * n});
  const expr u = first.v(0), v = second.v(0), w = all.v(0);
  ir::function f;
  f.params = {{a, {}}, {c, {}}};
  f.body = make_root(
      make_seq({first.wrap(store_block("J", j, {u}, load(a, {u}), {{a, point_box({u})}})),
                second.wrap(store_block("J_1", j, {v + n}, load(a, {v}) + real(dtype::f32, 1),
                                        {{a, point_box({v})}})),
                all.wrap(store_block("C", c, {w}, load(j, {w}) * real(dtype::f32, 2),
                                     {{j, point_box({w})}}))}),
      {j});
  return f;
}

/// Applies primitives at random.
class walker {
 public:
  walker(const ir::function& f, std::uint64_t seed) : s_(f, seed), random_(seed + 1000) {}

  const schedule& result() const { return s_; }

  void step() {
    const ir::stmt body = s_.function().body;
    const schedule before = s_;
    try {
      act();
    } catch (const schedule_error&) {
      // queries and samplings of the step stay; the refused primitive changed nothing
      CHECK(s_.function().body == body);
    }
    if (s_.function().body == body) s_ = before;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.below(n)); }

  block_rv any_block() {
    const std::vector<block_rv> all = s_.get_child_blocks(s_.block("root"));
    return all[below(all.size())];
  }
  loop_rv any_loop(block_rv b) {
    const std::vector<loop_rv> all = s_.get_loops(b);
    if (all.empty()) throw schedule_error("walker", 1, "no loop");
    return all[below(all.size())];
  }

  void act() {
    const block_rv b = any_block();
    switch (below(16)) {
      case 0: s_.split(any_loop(b), {infer, static_cast<int>(below(5)) + 1}); break;
      case 1: s_.split(any_loop(b), {static_cast<int>(below(3)) + 1, infer}, below(2) == 0); break;
      case 2: fuse(b); break;
      case 3:
      case 4: reorder(b); break;
      case 5: s_.parallel(any_loop(b)); break;
      case 6: s_.vectorize(any_loop(b)); break;
      case 7: s_.unroll(any_loop(b)); break;
      case 8: s_.compute_at(b, any_loop(any_block()), below(2) == 0); break;
      case 9: s_.reverse_compute_at(b, any_loop(any_block()), below(2) == 0); break;
      case 10: below(2) == 0 ? s_.compute_inline(b) : s_.reverse_compute_inline(b); break;
      case 11:
        s_.cache_read(b, static_cast<int>(below(2)), below(2) == 0 ? "local" : "global");
        break;
      case 12: s_.cache_write(b, 0, "local"); break;
      case 13: s_.decompose_reduction(b, any_loop(b)); break;
      case 14: {
        const loop_rv l = any_loop(b);
        s_.split(l, below(2) == 0 ? s_.sample_perfect_tile(l, 3, 4) : s_.sample_tile(l, 2, {2, 3}));
        break;
      }
      default: s_.compute_at(b, s_.sample_compute_location(b)); break;
    }
  }

  void fuse(block_rv b) {
    const std::vector<loop_rv> all = s_.get_loops(b);
    if (all.size() < 2) return;
    const std::size_t at = below(all.size() - 1);
    s_.fuse(all[at], all[at + 1]);
  }

  void reorder(block_rv b) {
    std::vector<loop_rv> all = s_.get_loops(b);
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
    while (all.size() > 2 && below(2) == 0) all.pop_back();
    s_.reorder(all);
  }

  schedule s_;
  support::random random_;
};

void walk(const ir::function& f, std::uint64_t seeds, int steps) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    walker w(f, seed);
    for (int i = 0; i < steps; ++i) w.step();
    CAPTURE(seed);
    CAPTURE(w.result().trace().print());
    check_meaning(w.result(), f);
  }
}

}  // namespace

TEST_CASE("random schedules keep the meaning: elementwise") {
  walk(programs::elementwise({"i", "j"}, {7, 6}), 60, 12);
}
TEST_CASE("random schedules keep the meaning: two stages") {
  walk(programs::two_stages(13), 60, 12);
}
TEST_CASE("random schedules keep the meaning: matrix product") {
  walk(programs::matmul_relu(5, 6, 4), 60, 14);
}
TEST_CASE("random schedules keep the meaning: stencil") { walk(stencil(11), 60, 14); }
TEST_CASE("random schedules keep the meaning: row sums") { walk(centered(5, 6), 60, 14); }
TEST_CASE("random schedules keep the meaning: convolution") { walk(convolution(4, 5), 60, 16); }
TEST_CASE("random schedules keep the meaning: joined halves") { walk(joined(6), 60, 14); }
