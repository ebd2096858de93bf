// Kernels that keep the order of their terms: whatever a session may try computes the same bits.
#include <tilewright/ir/term_order.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "search/kernels.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

using bytes_of_outputs = std::vector<std::vector<std::byte>>;

constexpr auto convolution =
    kernel<"convolution">([](in<"X", float, "C", "H", "W"> X, in<"F", float, "O", "C", "R", "S"> F,
                             out<"Y", float, "O", "P", "Q"> Y) {
      using axes::o, axes::p, axes::q, axes::c, axes::r, axes::s;
      return Y(o, p, q) = sum<c, r, s>(X(c, p + r, q + s) * F(o, c, r, s));
    });

constexpr auto channels_last = kernel<"channels_last">([](in<"X", float, "H", "W", "C"> X,
                                                          in<"F", float, "R", "S", "C", "O"> F,
                                                          out<"Y", float, "P", "Q", "O"> Y) {
  using axes::o, axes::p, axes::q, axes::c, axes::r, axes::s;
  return Y(p, q, o) = sum<r, s, c>(X(p + r, q + s, c) * F(r, s, c, o));
});

constexpr auto row_sums =
    kernel<"row_sums">([](in<"X", float, "N", "K"> X, out<"Y", float, "N"> Y) {
      using axes::i, axes::k;
      return Y(i) = sum<k>(X(i, k));
    });

constexpr auto all_sum = kernel<"all_sum">([](in<"X", float, "N", "K"> X, out<"Y", float> Y) {
  using axes::i, axes::k;
  return Y() = sum<i, k>(X(i, k) * X(i, k));
});

constexpr auto dots = kernel<"dots">(
    [](in<"A", double, "M", "K"> A, in<"B", double, "N", "K"> B, out<"C", double, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(j, k));
    });

constexpr auto padded =
    kernel<"padded">([](in<"X", float, "C", "H", "W"> X, in<"F", float, "O", "C", 3, 3> F,
                        out<"Y", float, "O", "H", "W"> Y) {
      using axes::o, axes::p, axes::q, axes::c, axes::r, axes::s;
      return Y(o, p, q) = sum<c, r, s>(zero_outside(X)(c, p + r - 1, q + s - 1) * F(o, c, r, s));
    });

constexpr auto softmax =
    kernel<"softmax">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
      using axes::i, axes::j;
      temp<"peak", float, "M"> peak;
      temp<"e", float, "M", "N"> e;
      temp<"total", float, "M"> total;
      return blocks(peak(i) = max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                    total(i) = sum<j>(e(i, j)), Y(i, j) = e(i, j) / total(i));
    });

constexpr auto halves = kernel<"halves">(
    [](in<"A", float16, "M", "K"> A, in<"B", float16, "K", "N"> B, out<"C", float16, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      temp<"S", float16, "M", "N"> S;
      return blocks(S(i, j) = A(i, j) + A(i, j), C(i, j) = sum<k>(S(i, k) * B(k, j)));
    });

struct sample {
  std::string name;
  ir::function function;
  bool calls = false;  // functions that the interpreter computes otherwise than machine code
};

std::vector<sample> samples() {
  return {
      {"product", reify(kernels::matmul_relu, {{"M", 37}, {"K", 400}, {"N", 48}})},
      {"convolution",
       reify(
           convolution,
           {{"C", 16}, {"H", 12}, {"W", 12}, {"O", 16}, {"R", 3}, {"S", 3}, {"P", 10}, {"Q", 10}})},
      {"channels_last",
       reify(
           channels_last,
           {{"C", 16}, {"H", 12}, {"W", 12}, {"O", 32}, {"R", 3}, {"S", 3}, {"P", 10}, {"Q", 10}})},
      {"padded", reify(padded, {{"C", 8}, {"H", 14}, {"W", 14}, {"O", 16}})},
      {"softmax", reify(softmax, {{"M", 20}, {"N", 150}}), true},
      {"halves", reify(halves, {{"M", 24}, {"N", 24}, {"K", 24}})},
      {"row_sums", reify(row_sums, {{"N", 33}, {"K", 1000}})},
      {"all_sum", reify(all_sum, {{"N", 70}, {"K", 300}})},
      {"dots", reify(dots, {{"M", 20}, {"N", 24}, {"K", 600}})}};
}

bytes_of_outputs computed(const ir::function& f, const ir::function& scheduled,
                          const target::cpu& cpu, const backend::executor& exec) {
  const built b = build(scheduled, cpu);
  REQUIRE_MESSAGE(b.code, b.error);
  runner r(f, {}, exec, 7);
  REQUIRE(r.run(*b.code).ok());
  return r.outputs();
}

bytes_of_outputs interpreted(const ir::function& f, const backend::executor& exec) {
  runner r(f, {}, exec, 7);
  r.reset_outputs();
  std::vector<ir::tensor_view> views;
  for (std::size_t i = 0; i < r.data().size(); ++i)
    views.push_back({r.data()[i], r.layouts()[i].strides});
  ir::interpret(f, std::move(views));
  return r.outputs();
}

/// Members of the default space, drawn, and the first sketch.
std::vector<candidate> candidates(const workload& w, std::size_t most) {
  std::vector<candidate> out;
  support::random random(5);
  const space::context where{w.machine, w.exec->threads};
  for (const schedule& s : w.space.sketches(w.function, where, 3)) {
    for (int draws = 0; draws < 4 && out.size() < most; ++draws) {
      const trace t = draws == 0 ? s.trace() : s.trace().without_decisions();
      if (auto c = replay(t, w.function, random.next())) out.push_back(std::move(*c));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("all schedules of a kernel in order compute the bits of its program") {
  backend::pool threads(2);
  for (const sample& each : samples()) {
    CAPTURE(each.name);
    const ir::function f = ir::with_term_order(each.function);
    const bytes_of_outputs expected = computed(f, f, target::host(), backend::serial_executor());
    if (!each.calls) CHECK(interpreted(f, backend::serial_executor()) == expected);
    for (const backend::executor* exec : {&backend::serial_executor(), &threads.view()}) {
      target::cpu cpu = target::host();
      cpu.cores = exec->threads;
      workload w = contiguous_workload(f, cpu, *exec);
      w.space = space::default_cpu();
      const std::vector<candidate> all = candidates(w, 12);
      CHECK(all.size() > 1);
      for (const candidate& c : all) {
        CAPTURE(c.scheduled.trace().print());
        CHECK(computed(f, c.scheduled.function(), cpu, *exec) == expected);
      }
    }
  }
}

TEST_CASE("the default schedule of a kernel in order is one of its space") {
  for (const sample& each : samples()) {
    CAPTURE(each.name);
    workload w = contiguous_workload(ir::with_term_order(each.function), target::host(),
                                     backend::serial_executor());
    w.space = space::default_cpu();
    const schedule s = default_schedule(w.function, w.space, {w.machine, w.exec->threads}, 42);
    CHECK(s.trace().empty() == (each.name == "all_sum"));  // one sum
  }
}

TEST_CASE("a session in order finds, verifies and stores; other sessions do not take its record") {
  database db(":memory:");
  workload plain = workloads::product(), ordered = plain;
  ordered.function = ir::with_term_order(plain.function);
  ordered.key.workload = ir::workload_key(ordered.function).hex();
  ordered.family = family_of(ordered.function);
  plain.family = family_of(plain.function);
  const tuning_result found = tune(ordered, workloads::few(8), db);
  CHECK(found.trials == 8);
  CHECK(found.failures.count(failure::wrong_result) == 0);
  CHECK(db.chosen(ordered.key));
  CHECK_FALSE(db.chosen(plain.key));
  CHECK_FALSE(nearest_record(db, plain));
  tune(plain, workloads::few(8), db);
  CHECK(db.chosen(plain.key));
  CHECK(nearest_record(db, plain)->key == plain.key);
  CHECK(nearest_record(db, ordered)->key == ordered.key);
}

TEST_CASE("a trace that changes the order is no candidate of a kernel in order") {
  const ir::function f = reify(row_sums, {{"N", 4}, {"K", 64}});
  schedule s(f);
  const std::vector<loop_rv> loops = s.get_loops(s.get_child_blocks(s.get_block("root"))[0]);
  s.rfactor(s.split(loops[1], {infer, 8})[1], 0);
  std::string why;
  CHECK(replay(s.trace(), f, 1));
  CHECK_FALSE(replay(s.trace(), ir::with_term_order(f), 1, &why));
  CHECK(why.find("rfactor may change the order of terms") != std::string::npos);
}

TEST_CASE("reductions in order are for CPUs") {
  const ir::function f = ir::with_term_order(workloads::product().function);
  const target::gpu gpu = target::named_gpu("sm_90a");
  CHECK_THROWS_WITH_AS(contiguous_workload(f, gpu, backend::serial_executor()),
                       doctest::Contains("reductions in order are for CPUs"), argument_error);
}
