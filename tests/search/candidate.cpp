#include <tilewright/search/candidate.hpp>

#include <doctest/doctest.h>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/strategies/replay_traces.hpp>
#include <tilewright/space/postproc/rewrite_parallel_vectorize_unroll.hpp>
#include <tilewright/space/postproc/rewrite_reduction_block.hpp>
#include <tilewright/support/error.hpp>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// Asks for vectors and unrolling of drawn sizes; what comes of it is up to post-processing.
space::design_space annotated() {
  const space::design_space drawn = [](schedule& s) {
    const block_rv root = s.get_block("root");
    s.annotate(root, "meta_schedule.vectorize", s.sample_categorical({8, 16, 64}, {1, 1, 1}));
    s.annotate(root, "meta_schedule.unroll_explicit",
               s.sample_categorical({0, 16, 64, 512}, {1, 1, 1, 1}));
  };
  return drawn.with({space::rewrite_parallel_vectorize_unroll{}, space::rewrite_reduction_block{}});
}

ir::function product() { return reify(kernels::matmul_relu, {{"M", 24}, {"N", 64}, {"K", 16}}); }

}  // namespace

TEST_CASE("post-processing follows every replay, in the place of what the trace has of it") {
  const ir::function f = product();
  const space::context where{&target::host(), 1};
  const finisher finish = [&](schedule& s) { annotated().finish(s, where); };
  const trace family = annotated().sketches(f, where, 1).front().trace().without_decisions();
  const auto first = replay(family, f, 1, nullptr, finish);
  REQUIRE(first);
  const std::string text = first->scheduled.trace().print();
  CHECK(text.find("sch.enter_postproc()") != std::string::npos);
  CHECK(text.find("sch.decompose_reduction(") != std::string::npos);
  // as it stands, its own steps are taken; with other decisions, they are made anew
  const auto same = replay(first->scheduled.trace(), f, 2);
  const auto anew = replay(first->scheduled.trace(), f, 2, nullptr, finish);
  REQUIRE(same);
  REQUIRE(anew);
  CHECK(same->identity == first->identity);
  CHECK(anew->identity == first->identity);
}

TEST_CASE("what post-processing rejects is no candidate") {
  const finisher never = [](schedule&) { throw schedule_error("never", 1, "it does not fit"); };
  std::string why;
  CHECK_FALSE(replay({}, product(), 1, &why, never));
  CHECK(why == "never: it does not fit (requirement 1)");
}

TEST_CASE("a session measures and stores post-processed candidates") {
  if (!backend::compiler_available()) return;
  workload w;
  w.function = product();
  w.key = {ir::workload_key(w.function).hex(), "test", "", 1};
  w.family = "product";
  w.extents = {24, 16, 16, 64, 24, 64};
  w.machine = &target::host();
  w.exec = &backend::serial_executor();
  w.space = annotated();
  for (const bool evolution : {false, true}) {
    database db(":memory:");
    session_options o;
    o.trials = 8;
    o.seconds = 60;
    if (!evolution) o.method = [](std::uint64_t) { return replay_traces(); };
    const tuning_result r = tune(w, o, db);
    CHECK(r.trials >= 4);
    CHECK(r.failures.empty());
    for (const record& stored : db.all()) {
      CHECK(stored.trace.find("sch.enter_postproc()") != std::string::npos);
      CHECK(replay(trace::parse(stored.trace), w.function, 1));
    }
  }
}

TEST_CASE("decisions that an assert_ fixes are no choices") {
  schedule s(product());
  const expr_rv fixed = s.sample_categorical({1, 2, 3}, {1, 1, 1}, 2);
  s.require(eq(fixed, 3));
  s.sample_categorical({1, 2}, {1, 1}, 1);
  CHECK(choices(s.trace()) == std::vector<std::size_t>{2});
  CHECK(s.trace().is_fixed(0));
  CHECK_FALSE(s.trace().is_fixed(2));
  const trace family = s.trace().without_decisions();
  CHECK(family[0].choice == decision{2});
  CHECK(family[2].choice.empty());
}
