// What may go wrong while a kernel is tuned in the background, and disturbs no call.
#include <tilewright/tuned.hpp>

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <tilewright/search/database/database.hpp>
#include <tilewright/search/measurement/builder.hpp>

#include "search/faulty_code.hpp"
#include "support/forks.hpp"
#include "top/product.hpp"

using namespace tilewright;
using namespace products;
using forks::nap;

namespace {

using search::failure;

#if TILEWRIGHT_ADDRESS_SANITIZER
constexpr bool exits_usable = false;  // a child leaks what threads that it does not have held
#else
constexpr bool exits_usable = forks_usable;
#endif

/// Runs `work` in a child that exits as programs do; the status that it ended with.
template <class Work>
int status_of(const Work& work) {
  std::fflush(nullptr);
  return forks::status_of([&] {
    work();
    std::exit(0);
  });
}

/// As long as the process lasts.
tuned_options lasting(const std::string& database = ":memory:") {
  tuned_options o = quick(database, mode::background);
  o.seconds = 600;
  o.trials = 1 << 20;
  return o;
}

}  // namespace

TEST_CASE("candidates that hang, fault or compute something else in the background" *
          doctest::skip(!faulty::handlers_usable)) {
  problem p;
  std::map<failure, int> failures;
  std::atomic<int> built{0};
  tuned_options o = quick(":memory:", mode::background);
  o.trials = 9;
  o.measuring.run_deadline = 0.1;
  o.measuring.build = [&](const ir::function& f, const target::machine& where) {
    constexpr int defaults = 2;
    const int n = built++;
    search::built out = search::build(f, where);
    if (n < defaults) return out;
    out.artifact = n % 3 == 0   ? faulty::artifact_of(faulty::writes_first_parameter(f))
                   : n % 3 == 1 ? faulty::artifact_of(faulty::endless_for(f))
                                : faulty::artifact_of(faulty::writes_last_parameter(f));
    out.code = backend::load(out.artifact);
    return out;
  };
  o.events = [&](const search::event& e) {
    if (e.what == search::event::kind::progress) failures = e.state.failures;
  };
  const tuned op{product, o};
  CHECK(p.right(op));
  for (int i = 0; i < 100; ++i) {
    nap(2);
    CHECK(p.right(op));
  }
  op.wait();
  CHECK(p.right(op));
  CHECK(failures[failure::timeout] > 0);
  CHECK(failures[failure::wrong_result] > 0);
  if (faulty::handlers_usable) CHECK(failures[failure::fault] > 0);
}

TEST_CASE("the disk is full while a kernel is tuned in the background" *
          doctest::skip(!forks_usable)) {
  const folder f;
  CHECK(status_of([&] {
          signal(SIGXFSZ, SIG_IGN);
          problem p;
          tuned_options o = quick(f.file(), mode::background);
          o.trials = 40;
          {
            const tuned op{product, o};
            if (!p.right(op)) _exit(1);
            const rlimit small{20000, RLIM_INFINITY};
            setrlimit(RLIMIT_FSIZE, &small);
            op.wait();
            if (!p.right(op)) _exit(2);
            const std::string text = op.report(p.a, p.b, p.c);
            if (text.find("tuned by this process") == std::string::npos) _exit(3);
            if (text.find("records are kept in memory") == std::string::npos) _exit(4);
          }
          _exit(0);
        }) == 0);
  CHECK(search::database(f.file()).status() == "");
}

TEST_CASE("a kernel that is destroyed while it is tuned in the background") {
  for (int round = 0; round < 5; ++round) {
    problem p;
    const tuned op{product, lasting()};
    CHECK(p.right(op));
    nap(20 * round);
  }
}

TEST_CASE("the process exits while a kernel that nobody destroys is tuned" *
          doctest::skip(!exits_usable)) {
  for (int round = 0; round < 12; ++round)
    CHECK(status_of([&] {
            problem p;
            auto* op = new tuned{product, lasting()};
            if (!p.right(*op)) _exit(1);
            nap(30 * round);
          }) == 0);
}

TEST_CASE("a callback may end the process" * doctest::skip(!exits_usable)) {
  CHECK(status_of([&] {
          problem p;
          tuned_options o = lasting();
          o.events = [](const search::event& e) {
            if (e.what == search::event::kind::progress) std::exit(0);
          };
          auto* op = new tuned{product, o};
          if (!p.right(*op)) _exit(1);
          nap(60000);
          _exit(2);
        }) == 0);
}
