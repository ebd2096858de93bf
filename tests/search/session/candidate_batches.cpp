// Sessions for a GPU, whose candidates are built by a function of the test and run by nobody: what is built while
// something else is measured.
#include <tilewright/impl/search/session/candidate_batches.hpp>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/target/gpu.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// False when that never happens.
template <class Happened>
bool wait_until(const Happened& happened) {
  for (int i = 0; i < 60000 && !happened(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return happened();
}

/// A session on a GPU that there is not.
class imagined_session {
 public:
  imagined_session() {
    work_.machine = &gpu_;
    work_.space = space::default_gpu();
    options_ = workloads::few(12);
    options_.batch = 4;
    options_.measuring.builds = 2;
    options_.measuring.build = [this](const ir::function&, const target::machine&) {
      const int n = measures_ ? ++begun_ : 0;  // 0: the default schedule
      if (n > 0 && while_built) while_built(n);
      built out;
      out.artifact.object.resize(1);
      return out;
    };
    // what is checked is computed by the interpreter
    options_.measuring.call = [this](const built&, const argument_memory& memory, double) {
      std::vector<ir::tensor_view> views;
      for (std::size_t i = 0; i < memory.data().size(); ++i)
        views.push_back({memory.data()[i], memory.places()[i].strides});
      ir::interpret(work_.function, std::move(views));
      measurement out;
      out.seconds = {1e-3};
      return out;
    };
    options_.measuring.runner = [this](const workload&) -> measurer {
      return [this](const built&, const measure_options&) {
        if (measures_.exchange(true)) {
          ++measured_;
          if (while_measured) while_measured(measured_);
        }
        measurement out;
        out.seconds = {1e-3};
        return out;
      };
    };
  }

  session_options& options() { return options_; }
  int begun() const { return begun_; }
  int measured() const { return measured_; }
  tuning_result run() {
    database db(":memory:");
    return tune(work_, options_, db);
  }

  std::function<void(int)> while_built, while_measured;  // with the number of the candidate

 private:
  const target::gpu gpu_ = target::named_gpu("sm_90a");
  workload work_ = workloads::product();
  session_options options_;
  std::atomic<bool> measures_{false};
  std::atomic<int> begun_{0}, measured_{0};
};

}  // namespace

TEST_CASE("for a GPU, the next candidates are built while a batch is measured" *
          doctest::skip(find_worker().empty())) {
  imagined_session s;
  bool beside = false;
  s.while_measured = [&](int n) {
    if (n == 1) CHECK(wait_until([&] { return s.begun() >= 4; }));
    // two of the first batch are still to be measured
    if (n == 2) beside = wait_until([&] { return s.begun() >= 5; });
  };
  const tuning_result r = s.run();
  CHECK(beside);
  CHECK(r.trials == 12);
  CHECK(s.begun() == 12);
}

TEST_CASE("for a GPU, a candidate that takes long to compile holds up nobody" *
          doctest::skip(find_worker().empty())) {
  imagined_session s;
  bool went_on = false;
  s.while_built = [&](int n) {
    if (n == 2) went_on = wait_until([&] { return s.measured() >= 7; });
  };
  const tuning_result r = s.run();
  CHECK(went_on);
  CHECK(r.trials == 12);
}

TEST_CASE("for a GPU, no more is built than trials are left, and a callback may stop it" *
          doctest::skip(find_worker().empty())) {
  imagined_session few;
  few.options().trials = 3;
  CHECK(few.run().trials == 3);
  CHECK(few.begun() == 3);
  imagined_session stopped;
  stopped.options().callbacks.after_run = [](const candidate&, const built&, const measurement&) {
    return verdict::stop;
  };
  const tuning_result r = stopped.run();
  CHECK(r.trials == 0);
  CHECK(r.end == session_end::stopped);
}

TEST_CASE("for a GPU, vetoed candidates leave room for others" *
          doctest::skip(find_worker().empty())) {
  imagined_session s;
  int asked = 0;
  s.options().callbacks.before_build = [&](const candidate&) {
    return ++asked % 2 == 0 ? verdict::veto : verdict::go_on;
  };
  const tuning_result r = s.run();
  CHECK(r.trials == 12);
  CHECK(s.begun() == 12);
  CHECK(r.failures.at(failure::veto) >= 11);
}
