#include <tilewright/search/measurement/worker.hpp>

#include <tilewright/backend/pool.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <thread>

#include "fake_worker.hpp"
#include "search/faulty_code.hpp"
#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace fake_worker;

namespace {

constexpr auto shared = argument_memory::sharing::possible;

struct problem {
  ir::function f = reify(kernels::matmul_relu, {{"M", 9}, {"N", 7}, {"K", 5}});
  runner r{f, {}, backend::serial_executor(), 1, {}, shared};
  built code = build(f, target::host());
};

}  // namespace

TEST_CASE("a worker computes and times what the process itself would" *
          doctest::skip(!worker_there())) {
  problem p;
  CHECK(p.r.run(*p.code.code).ok());
  const auto here = p.r.outputs();
  p.r.reset_outputs();
  worker w(p.r.memory(), 2);
  CHECK(w.run(p.code.artifact, 10).ok());
  CHECK(p.r.outputs() == here);
  measure_options o;
  o.repeats = o.most_repeats = 4;
  o.stable = 0;
  for (const caches where : {caches::warm, caches::cold, caches::rotating}) {
    o.where = where;
    const measurement m = w.measure(p.code.artifact, o);
    CHECK(m.ok());
    CHECK(m.seconds.size() == 4);
  }
  CHECK(w.restarts() == 0);
}

TEST_CASE("a fault in a worker is a fault, and the worker goes on" *
          doctest::skip(!worker_there())) {
  const ir::function bad = faulty::reads_beyond(64);
  runner r(bad, {}, backend::serial_executor(), 1, {}, shared);
  worker w(r.memory(), 1);
  const measurement m = w.measure(faulty::artifact_of(bad), {});
  CHECK(m.failed == failure::fault);
  CHECK(m.detail.find("SIGSEGV") != std::string::npos);
  backend::artifact nonsense = faulty::artifact_of(bad);
  nonsense.object.resize(nonsense.object.size() / 2);
  CHECK(w.measure(nonsense, {}).failed == failure::build);
  CHECK(w.restarts() == 0);
}

TEST_CASE("code that does not end is cancelled in the worker" * doctest::skip(!worker_there())) {
  const ir::function f = faulty::endless();
  runner r(f, {}, backend::serial_executor(), 1, {}, shared);
  worker w(r.memory(), 1);
  measure_options o;
  o.deadline = 0.05;
  CHECK(w.measure(faulty::artifact_of(f), o).failed == failure::timeout);
  CHECK(w.restarts() == 0);
}

TEST_CASE("a flag ends what a worker does, and the worker" * doctest::skip(!worker_there())) {
  const ir::function f = faulty::endless();
  runner r(f, {}, backend::serial_executor(), 1, {}, shared);
  worker w(r.memory(), 1);
  std::atomic<bool> cancelled{false};
  w.watch(&cancelled);
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancelled = true;
  });
  CHECK(w.measure(faulty::artifact_of(f), {}).failed == failure::cancelled);
  user.join();
  CHECK(w.pid() == 0);
}

TEST_CASE("a worker that is killed is a failure of the candidate, and comes back" *
          doctest::skip(!worker_there())) {
  const ir::function f = faulty::endless();
  runner r(f, {}, backend::serial_executor(), 1, {}, shared);
  worker w(r.memory(), 1);
  for (int round = 1; round <= 3; ++round) {
    std::thread killer([pid = w.pid()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      kill(pid, SIGKILL);
    });
    const measurement m = w.measure(faulty::artifact_of(f), {});
    killer.join();
    CHECK(m.failed == failure::worker);
    CHECK(m.detail.find("ended with signal 9") != std::string::npos);
    CHECK(w.pid() == 0);
    measure_options o;
    o.deadline = 0.02;
    CHECK(w.measure(faulty::artifact_of(f), o).failed == failure::timeout);
    CHECK(w.restarts() == round);
  }
}

TEST_CASE("a worker that hangs is ended at the deadline" * doctest::skip(!worker_there())) {
  problem p;
  worker w(p.r.memory(), 1);
  const pid_t first = w.pid();
  kill(first, SIGSTOP);
  measure_options o;
  o.deadline = 0.05;
  const measurement m = w.measure(p.code.artifact, o);
  CHECK(m.failed == failure::timeout);
  CHECK(m.detail.find("the worker was ended") != std::string::npos);
  CHECK(kill(first, 0) != 0);  // gone, and no zombie either
  CHECK(w.measure(p.code.artifact, {}).ok());
  CHECK(w.restarts() == 1);
}

TEST_CASE("a worker ends with its owner, and a forked child leaves it alone" *
          doctest::skip(!worker_there())) {
  problem p;
  pid_t pid = 0;
  {
    worker w(p.r.memory(), 1);
    pid = w.pid();
    const pid_t child = fork();
    if (child == 0) {
      int wrong = 1;
      try {
        worker again(p.r.memory(), 1);  // one of its own it may have
        wrong = again.run(p.code.artifact, 10).ok() ? 0 : 2;
      } catch (const error&) {
      }
      _exit(wrong);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(w.measure(p.code.artifact, {}).ok());
    CHECK(w.pid() == pid);
  }
  CHECK(kill(pid, 0) != 0);
}

TEST_CASE("programs that are no worker are told from one") {
  problem p;
  const auto refusal = [&](const std::string& program) {
    const environment named("TILEWRIGHT_WORKER", program);
    try {
      worker w(p.r.memory(), 1);
    } catch (const build_error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(refusal("/no/such/program").find("cannot be started") != std::string::npos);
  for (const char* line :
       {"exit 0", "exit 3", "head -c 1000 /dev/zero >&3", "head -c 100000 /dev/urandom >&3",
        "printf TIWWORK1 >&3; head -c 100 /dev/zero >&3",
        "printf 'TIWWORK1\\020\\0\\0\\0\\0\\0\\0\\0' >&3; head -c 16 /dev/zero >&3"}) {
    INFO(line);
    const script s(line);
    CHECK(refusal(s.path).find("is no worker of this version") != std::string::npos);
  }
}

TEST_CASE("a worker that answers nonsense is a failure of the candidate") {
  problem p;
  const std::string mark = "TIWWORK1", none = words({0});
  // it greets as a worker does, takes the arguments, and answers the first request
  const std::string no_number = words({0x7ff8000000000000});
  for (const std::string& answer :
       {std::string("what is this, a request?"), mark + words({~std::uint64_t{0}}),
        mark + words({8, 255}), mark + words({8, 0}), mark + words({24, 0, 0, 5}),
        mark + words({24, 0, 0, 0}), mark + words({32, 0, 0, 1}) + no_number,
        mark + words({40, 0, 0, 1, 0, 0}), mark + words({1000, 0, 0})}) {
    INFO(octal(answer));
    const std::string wait = "; head -c 1 <&3 > /dev/null; ";
    const script s("printf '" + octal(worker_greeting()) + "' >&3" + wait + "printf '" +
                   octal(mark + none) + "' >&3" + wait + "printf '" + octal(answer) + "' >&3");
    const environment named("TILEWRIGHT_WORKER", s.path);
    worker w(p.r.memory(), 1);
    const measurement m = w.measure(p.code.artifact, {});
    CHECK(m.failed == failure::worker);
    CHECK_FALSE(m.detail.empty());
    CHECK(w.pid() == 0);
  }
}

TEST_CASE("what is no request ends a worker, whatever it is") {
  const argument_memory memory({{64, {}, 0, {1}, true, true}}, shared);
  const std::string mark = "TIWWORK1";
  const std::string place = words({64, 64, 0, 1, 1, 1, 1});
  const std::string places = words({1, 1, 1}) + place;  // request, threads, count
  const auto framed = [&](const std::string& m) { return mark + words({m.size()}) + m; };
  for (const std::string& sent :
       {std::string("what is this, an answer?"), mark + words({~std::uint64_t{0}}), framed(""),
        framed(words({9})), framed(words({2})), framed(words({1, 1, ~std::uint64_t{0} / 8})),
        framed(words({1, 1, 1, 1 << 20, 64, 0, 1, 1, 0})),            // beyond the memory
        framed(words({1, 1, 1, 64, 64, 64, 1, 1, 0})),                // element 0 beyond the place
        framed(words({1, 1, 1, 64, 64, 0, 1, 1, 1000})),              // strides beyond the message
        framed(places) + framed(words({2, 0, 0, 0, 0, 0, 1, 1, 7})),  // no such caches
        framed(places) + framed(words({3, 0, 1000})),
        framed(words({4, 1000})),  // a name beyond the message
        framed(words({4, 0, 0, 0, 0, 1 << 20}))}) {
    INFO(octal(sent));
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    REQUIRE(::write(ends[0], sent.data(), sent.size()) == static_cast<ssize_t>(sent.size()));
    shutdown(ends[0], SHUT_WR);
    CHECK_FALSE(serve_worker(ends[1], memory.descriptor()));
    ::close(ends[0]);
    ::close(ends[1]);
  }
}
