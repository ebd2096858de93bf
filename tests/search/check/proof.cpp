#include <tilewright/search/check/proof.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/expr/reduction.hpp>
#include <tilewright/impl/ir/interpret/residue.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/interpret/modular.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/runner.hpp>

#include "search/kernels.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

namespace residue = ir::detail::residue;
using result = exact_comparison::result;
using axes::i, axes::j, axes::k;

constexpr auto normalized =
    kernel<"normalized">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
      temp<"peak", float, "M"> peak;
      temp<"e", float, "M", "N"> e;
      temp<"total", float, "M"> total;
      return blocks(peak(i) = max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                    total(i) = sum<j>(e(i, j)), Y(i, j) = e(i, j) / total(i));
    });
constexpr auto positions =
    kernel<"positions">([](in<"X", float, "M", "N"> X, out<"Y", std::int32_t, "M"> Y) {
      return Y(i) = cast<std::int32_t>(argmax<j>(X(i, j)));
    });
constexpr auto folded = kernel<"folded">([](in<"X", float, "M", "N"> X, out<"Y", float, "M"> Y) {
  return Y(i) = fold<j>(reducer(0.0f, [](auto a, auto b) { return sqrt(a * a + b * b); }), X(i, j));
});

/// One planted mistake each; `which` counts the places where there could be one.
class mutation : public ir::mutator {
 public:
  enum class kind { bound, init, repeated, swapped, tail };
  mutation(kind what, int which) : what_(what), left_(which) {}
  bool done() const { return left_ < 0; }

  using ir::mutator::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::loop_node* l = ir::as_loop(s);
    const ir::store_node* store = ir::as_store(s);
    const ir::block_realize_node* r = ir::as_realize(s);
    if (l && what_ == kind::bound && ir::is_int(l->extent) && ir::as_int(l->extent) > 1 &&
        !guarded(l->body) && here()) {
      auto* out = new ir::loop_node(*l);
      out->extent = ir::integer(l->extent.type(), ir::as_int(l->extent) - 1);
      return ir::stmt(out);
    }
    if (store && what_ == kind::repeated && accumulates(*store) && here())
      return ir::make_seq({s, s});
    if (r && what_ == kind::tail && !r->values.empty() && r->block->iters[0].dom.extent && here()) {
      const ir::expr last = r->block->iters[0].dom.extent - ir::integer(r->values[0].type(), 1);
      return ir::make_realize(r->values, ir::logical_and(r->predicate, ir::lt(r->values[0], last)),
                              r->block);
    }
    return ir::mutator::mutate(s);
  }
  ir::block mutate(const ir::block& b) override {
    if (b->init && what_ == kind::init && here()) {
      ir::block_node out = *b;
      out.init = {};
      return ir::make_block(std::move(out));
    }
    return ir::mutator::mutate(b);
  }
  ir::expr mutate(const ir::expr& e) override {
    if (e->op == ir::op::load && what_ == kind::swapped && e->args.size() == 2 &&
        !e->args[0].same(e->args[1]) && here())
      return ir::load(e->buffer, {e->args[1], e->args[0]});
    return ir::mutator::mutate(e);
  }

 private:
  bool here() { return left_-- == 0; }
  /// The last iteration may do nothing.
  static bool guarded(const ir::stmt& s) {
    return ir::any_stmt(s, [](const ir::stmt& below) {
      const ir::block_realize_node* r = ir::as_realize(below);
      return r && !ir::is_true(r->predicate);
    });
  }
  static bool accumulates(const ir::store_node& store) {
    bool found = false, adds = false;
    ir::for_each_expr(store.value, [&](const ir::expr& e) {
      found = found || (e->op == ir::op::load && e->buffer == store.buffer);
      adds = adds || e->op == ir::op::add;
    });
    return found && adds;  // a maximum of a value twice is no mistake
  }
  kind what_;
  int left_;
};

ir::function mutated(const ir::function& f, mutation& m) {
  ir::function out = f;
  out.body = m.mutate(f.body);
  return out;
}

/// Whether outputs on the numbers that a session measures tell `f` and `g` apart.
bool tests_differ(const ir::function& f, const ir::function& g) {
  std::vector<std::vector<std::vector<std::byte>>> outputs;
  runner r(f, {}, backend::serial_executor(), 3);
  for (const ir::function* each : {&f, &g}) {
    r.reset_outputs();
    std::vector<ir::tensor_view> views;
    for (std::size_t n = 0; n < r.data().size(); ++n)
      views.push_back({r.data()[n], r.layouts()[n].strides});
    try {
      ir::interpret(*each, std::move(views));
    } catch (const error&) {
      return true;
    }
    outputs.push_back(r.outputs());
  }
  return !compare_outputs(r.operands(), needs_of(f), outputs[0], outputs[1]).empty();
}

struct scheduled {
  ir::function original, program;
};

/// Members of the default space of several kernels.
std::vector<scheduled> programs(std::uint64_t draws) {
  std::vector<scheduled> out;
  const std::vector<ir::function> all{
      reify(kernels::matmul_relu, {{"M", 13}, {"N", 18}, {"K", 37}}),
      reify(kernels::window, {{"W", 41}, {"S", 5}, {"Q", 37}}),
      reify(normalized, {{"M", 5}, {"N", 23}}),
  };
  for (const ir::function& f : all)
    for (const schedule& s : space::default_cpu().sketches(f, {&target::host(), 2}, 1))
      for (std::uint64_t seed = 1; seed <= draws; ++seed)
        if (const auto c = replay(s.trace().without_decisions(), f, seed))
          out.push_back({f, c->scheduled.function()});
  return out;
}

}  // namespace

TEST_CASE("integers modulo a prime are a field, with an order that has two ends") {
  using namespace residue;
  support::random random(1);
  for (int n = 0; n < 1000; ++n) {
    const std::uint64_t a = reduced(random.next()), b = reduced(random.next()),
                        c = reduced(random.next());
    CHECK(sum(a, b) == sum(b, a));
    CHECK(sum(sum(a, b), c) == sum(a, sum(b, c)));
    CHECK(product(product(a, b), c) == product(a, product(b, c)));
    CHECK(product(a, sum(b, c)) == sum(product(a, b), product(a, c)));
    CHECK(difference(sum(a, b), b) == a);
    if (b != 0) CHECK(product(quotient(a, b), b) == a);
    CHECK((a == b || less(a, b) != less(b, a)));
    CHECK(less(lowest, a));
    CHECK(less(a, highest));
  }
  CHECK(of_float(0.5) == quotient(1, 2));
  CHECK(of_float(-3.75) == difference(0, quotient(15, 4)));
  CHECK(of_float(0x1p-1074) == power(quotient(1, 2), 1074));
  CHECK(of_float(-0.0) == 0);
  CHECK(of_signed(INT64_MIN) == difference(0, std::uint64_t{1} << 63));
  CHECK(of_float(-INFINITY) == lowest);
}

TEST_CASE("what schedules make of a program is equal in exact arithmetic") {
  const std::vector<scheduled> all = programs(4);
  CHECK(all.size() > 20);
  for (const scheduled& s : all) {
    const exact_comparison c = compare_exactly(s.original, s.program, 1);
    CHECK_MESSAGE(c.is == result::equal, c.text, "\n", ir::print(s.program));
  }
}

TEST_CASE("planted mistakes are found, all of them") {
  int planted = 0, found = 0, found_by_tests = 0;
  const std::vector<scheduled> all = programs(4);
  for (const mutation::kind what :
       {mutation::kind::bound, mutation::kind::init, mutation::kind::repeated,
        mutation::kind::swapped, mutation::kind::tail})
    for (std::size_t n = 0; n < all.size(); ++n)
      for (int which = 0; which < 3; ++which) {
        mutation m(what, which + static_cast<int>(n) % 2);
        const ir::function wrong = mutated(all[n].program, m);
        if (!m.done()) continue;
        ++planted;
        const exact_comparison c = compare_exactly(all[n].original, wrong, 5);
        found += c.is == result::different;
        CHECK_MESSAGE(c.is == result::different, static_cast<int>(what), " ", which, " ", c.text,
                      "\n", ir::print(all[n].program), ir::print(wrong));
        found_by_tests += tests_differ(all[n].original, wrong);
      }
  CHECK(planted >= 200);
  CHECK(found == planted);
  MESSAGE(planted, " planted mistakes: ", found, " found in exact arithmetic, ", found_by_tests,
          " by comparing floats");
}

TEST_CASE("a term that rounding hides is seen in exact arithmetic alone") {
  const auto sum_of = [](std::int64_t terms) {
    return ir::parse(R"(
@T.prim_func
def main(X: T.Buffer((100000,), "float32"), Y: T.Buffer((1,), "float32")):
    for j in range(100000):
        with T.block("Y"):
            vj = T.axis.reduce(100000, j)
            T.where(j < )" +
                     std::to_string(terms) + R"()
            with T.init():
                Y[0] = T.float32(0)
            Y[0] = Y[0] + X[vj] * X[vj]
)");
  };
  CHECK_FALSE(tests_differ(sum_of(100000), sum_of(99999)));
  CHECK(compare_exactly(sum_of(100000), sum_of(99999), 1).is == result::different);
}

TEST_CASE("positions, and what has no meaning modulo a prime") {
  const ir::function at = reify(positions, {{"M", 4}, {"N", 64}});
  for (const schedule& s : space::default_cpu().sketches(at, {&target::host(), 2}, 1))
    CHECK(compare_exactly(at, s.function(), 1).is == result::equal);
  const ir::function f = reify(folded, {{"M", 4}, {"N", 64}});
  const exact_comparison c = compare_exactly(f, f, 1);
  CHECK(c.is == result::unknown);
  CHECK(c.text == "a reducer of the kernel calls functions");
}

TEST_CASE("a session says how its winner was checked") {
  workload w = product(64);
  database db(":memory:");
  session_options o = few(12);
  o.measuring.runner = [](const workload&) -> measurer {  // the last one is the fastest
    return [n = 0](const built&, const measure_options&) mutable {
      measurement m;
      m.seconds = {1.0 / ++n};
      return m;
    };
  };
  const tuning_result r = tune(w, o, db);
  CHECK(r.improved);
  CHECK(r.checked == "proved at full extents, in arithmetic modulo 2^61 - 1");
  REQUIRE(db.chosen(w.key));
  CHECK(db.chosen(w.key)->checked == r.checked);
  for (const record& measured : db.all([](const record& x) { return !x.chosen; }))
    CHECK(measured.checked == "");
  database empty(":memory:");
  const tuning_result unbeaten = tune(w, few(0), empty);  // the default schedule is proved, too
  CHECK_FALSE(unbeaten.improved);
  CHECK(unbeaten.checked == r.checked);
  CHECK(empty.chosen(w.key)->checked == r.checked);
  o.seconds = 0.05;  // too little for more than the small extents
  w.function = reify(kernels::matmul_relu, {{"M", 96}, {"N", 96}, {"K", 96}});
  w.shrunk = [] { return reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 5}}); };
  std::string at;
  const exact_comparison c = prove(w, r.trace, 1, 0.01, &at);
  CHECK((c.is == result::equal || c.text.find("does not replay") != std::string::npos));
  w.shrunk = {};
  CHECK(prove(w, r.trace, 1, 1e-4).text == "no extents are small enough");
}
