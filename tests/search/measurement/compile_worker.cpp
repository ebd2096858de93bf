#include <tilewright/search/measurement/compile_worker.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>

#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fake_worker.hpp"
#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace fake_worker;

namespace {

ir::function small() { return reify(kernels::square_root, {{"N", 100}}); }

ir::function for_a_gpu() {
  schedule s{small()};
  s.bind(s.get_loops(s.get_block("Y"))[0], "threadIdx.x");
  return s.function();
}

/// Processes that this one started.
std::vector<pid_t> children() {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::ifstream in(entry.path() / "stat");
    std::string text;
    pid_t parent = 0;
    char state = 0;
    if (pid <= 0 || !std::getline(in, text)) continue;
    std::istringstream(text.substr(text.rfind(')') + 1)) >> state >> parent;
    if (parent == getpid() && state != 'Z') out.push_back(pid);
  }
  return out;
}

/// Greets as a worker does, and does `then` when it is asked.
script worker_that(const std::string& then) {
  return script("printf '" + octal(worker_greeting()) + "' >&3; head -c 1 <&3 > /dev/null; " +
                then);
}

}  // namespace

TEST_CASE("a worker makes the code that this process would" * doctest::skip(!worker_there())) {
  compile_workers workers(60);
  const target::cpu& cpu = target::host();
  for (const ir::function& f :
       {small(), reify(kernels::matmul_relu, {{"M", 33}, {"N", 40}, {"K", 24}}),
        reify(kernels::window, {{"W", 107}, {"S", 8}, {"Q", 100}})}) {
    const schedule s = default_schedule(f, space::default_cpu(), {&cpu, 2}, 3);
    const built there = workers.make(s.function(), cpu), here = build(s.function(), cpu);
    CHECK(there.error == "");
    CHECK(there.code);
    CHECK(there.artifact == here.artifact);
  }
  const built none = workers.make(for_a_gpu(), cpu);
  CHECK_FALSE(none.code);
  CHECK_FALSE(none.late);
  CHECK(none.error == build(for_a_gpu(), cpu).error);
}

TEST_CASE("a compiler that hangs is ended at the deadline, and the next program gets another" *
          doctest::skip(!worker_there())) {
  compile_workers workers(0.2);
  REQUIRE(workers.make(small(), target::host()).code);
  const std::vector<pid_t> first = children();
  REQUIRE(first.size() == 1);
  kill(first[0], SIGSTOP);
  const built b = workers.make(small(), target::host());
  CHECK(b.late);
  CHECK_FALSE(b.code);
  CHECK(b.error.find("longer than its deadline") != std::string::npos);
  CHECK(kill(first[0], 0) != 0);  // gone, and no zombie either
  CHECK(workers.make(small(), target::host()).code);
}

TEST_CASE("a compiler that dies, hangs or answers nonsense is a failed build") {
  const auto error_with = [](const std::string& then) {
    const script s = worker_that(then);
    const environment named("TILEWRIGHT_WORKER", s.path);
    compile_workers workers(0.2);
    const built b = workers.make(small(), target::host());
    CHECK_FALSE(b.code);
    CHECK(b.late == (then == "exec sleep 60"));
    return b.error;
  };
  CHECK(error_with("kill -SEGV $$") == "while it was compiled, the worker ended with SIGSEGV");
  CHECK(error_with("exit 3") == "while it was compiled, the worker ended with exit code 3");
  CHECK(error_with("exec sleep 60").find("longer than its deadline") != std::string::npos);
  const std::string mark = "TIWWORK1";
  for (const std::string& answer :
       {std::string("what is this, a program?"), mark + words({~std::uint64_t{0}}),
        mark + words({8, 1000}), mark + words({8, 0}), mark + words({16, 0, 0}),
        mark + words({24, 0, 8, 7})}) {
    INFO(octal(answer));
    CHECK(error_with("printf '" + octal(answer) + "' >&3; head -c 1 /dev/zero > /dev/null")
              .find("the worker ") != std::string::npos);
  }
}

TEST_CASE("a session survives the death of all its workers after every candidate" *
          doctest::skip(!worker_there())) {
  workload w;
  w.function = reify(kernels::matmul_relu, {{"M", 48}, {"N", 64}, {"K", 32}});
  w.key = {"product", "test", "", 1};
  w.machine = &target::host();
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  session_options o;
  o.trials = 24;
  o.seconds = 60;
  o.measuring.run_in = isolation::worker;
  o.events = [](const progress&) {
    for (const pid_t child : children()) kill(child, SIGKILL);
  };
  database db(":memory:");
  const tuning_result r = tune(w, o, db);
  CHECK(r.trials == 24);
  CHECK(r.baseline > 0);
  for (const auto& failed : r.failures) {
    INFO(std::string(name(failed.first)) << " " << failed.second);
    CHECK((failed.first == failure::worker || failed.first == failure::build ||
           failed.first == failure::schedule));
  }
  CHECK(r.failures.at(failure::worker) > 0);
  CHECK(r.failures.at(failure::build) > 0);
  CHECK(children().empty());
}
