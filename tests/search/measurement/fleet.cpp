#include <tilewright/search/measurement/fleet.hpp>

#include <tilewright/impl/search/measurement/fleet/fleet_message.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fake_worker.hpp"
#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;
using namespace workloads;

namespace {

const bool no_worker = !fake_worker::worker_there();

/// `tilewright worker --listen` on this machine, ended with this object.
class listening {
 public:
  explicit listening(const std::string& token = "secret") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const std::string program = find_worker(), variable = "TILEWRIGHT_WORKER_TOKEN=" + token;
    std::vector<std::string> words{program, "worker", "--listen", "127.0.0.1:0"};
    std::vector<char*> argv, environment;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    std::string own = variable;
    environment.push_back(own.data());
    for (char** e = environ; *e; ++e) environment.push_back(*e);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
    REQUIRE(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(),
                          environment.data()) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string line;
    char c = 0;
    while (::read(ends[0], &c, 1) == 1 && c != '\n') line += c;
    ::close(ends[0]);
    REQUIRE(line.substr(0, 13) == "listening at ");
    address = worker_address::parse(line.substr(13));
  }
  ~listening() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  worker_address address;

 private:
  pid_t pid_ = 0;
};

/// A worker between pipes, as ssh would start one.
worker_address behind_pipes() { return {{}, 0, "exec '" + find_worker() + "' worker"}; }

/// Processes that threads of this one have started.
std::vector<pid_t> children() {
  std::vector<pid_t> out;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(thread.path() / "children");
    for (pid_t p = 0; in >> p;) out.push_back(p);
  }
  return out;
}

fleet_options quick() {
  fleet_options o;
  o.pause = 0.01;
  o.attempts = 2;
  return o;
}

}  // namespace

TEST_CASE("addresses are read and written") {
  const worker_address a = worker_address::parse("board.local:7000");
  CHECK(a.host == "board.local");
  CHECK(a.port == 7000);
  CHECK(worker_address::parse("[::1]:80").host == "::1");
  CHECK(worker_address::parse("[::1]:80").text() == "[::1]:80");
  CHECK(worker_address::parse("ssh board tilewright worker").command ==
        "ssh board tilewright worker");
  CHECK(worker_address::parse("ssh board tilewright worker").text() ==
        "ssh board tilewright worker");
  for (const char* bad : {"", "host", ":80", "host:", "host:seven", "host:70000"})
    CHECK_THROWS_AS(worker_address::parse(bad), argument_error);
  CHECK_THROWS_AS(worker_server({"127.0.0.1", 0}, ""), argument_error);
  CHECK_THROWS_AS(worker_server({{}, 0, "ssh board"}, "secret"), argument_error);
}

TEST_CASE("two workers time the candidates of a session, both of them" * doctest::skip(no_worker)) {
  const listening one, two;
  fleet workers({one.address, two.address}, "secret", quick());
  CHECK(workers.size() == 2);
  CHECK(workers.problems().empty());
  session_options o = few(12);
  workers.use_in(o.measuring);
  database db(":memory:");
  const workload w = product();
  const tuning_result r = tune(w, o, db);
  CHECK(r.trials == 12);
  for (const auto& [kind, count] : r.failures) CHECK(kind == failure::schedule);
  CHECK(db.top(w.key, 100).size() > 6);
  const std::vector<std::size_t> measured = workers.measured();
  CHECK(measured[0] > 0);
  CHECK(measured[1] > 0);
}

TEST_CASE("equal seed and times give equal candidates with one worker and with two" *
          doctest::skip(no_worker)) {
  const auto proposals = [](std::vector<worker_address> at) {
    fleet workers(at, "secret", quick());
    session_options o = few(8);
    o.method = [](std::uint64_t seed) { return make_strategy("replay_traces", seed); };
    std::vector<support::hash128> out;
    o.callbacks.before_build = [&](const candidate& c) {
      out.push_back(c.identity);
      return verdict::go_on;
    };
    workers.use_in(o.measuring);
    database db(":memory:");
    tune(product(), o, db);
    return out;
  };
  const listening one, two;
  const auto alone = proposals({one.address});
  CHECK(alone.size() >= 8);
  CHECK(alone == proposals({one.address, two.address}));
}

TEST_CASE("workers behind commands compile and time what one program proposes" *
          doctest::skip(no_worker)) {
  const auto session = [](std::size_t count, bool build_there) {
    fleet_options options = quick();
    options.build_there = build_there;
    fleet workers(std::vector<worker_address>(count, behind_pipes()), "", options);
    CHECK(workers.size() == count);
    session_options o = few(12);
    o.method = [](std::uint64_t seed) { return make_strategy("replay_traces", seed); };
    std::vector<support::hash128> out;
    o.callbacks.before_build = [&](const candidate& c) {
      out.push_back(c.identity);
      return verdict::go_on;
    };
    workers.use_in(o.measuring);
    database db(":memory:");
    const tuning_result r = tune(product(), o, db);
    CHECK(r.trials == 12);
    CHECK(r.failures.count(failure::worker) == 0);
    CHECK(r.failures.count(failure::build) == 0);
    std::size_t measured = 0;
    for (const std::size_t n : workers.measured()) measured += n;
    CHECK(measured >= 12);
    return out;
  };
  const auto alone = session(1, false);
  CHECK(alone == session(1, true));
  CHECK(alone == session(4, true));
}

TEST_CASE("arguments go to workers, and results come back, for another CPU than this one" *
          doctest::skip(no_worker)) {
  const target::cpu cpu = target::named("x86-64");
  if (!target::runs_on(cpu, target::host())) return;
  fleet_options options = quick();
  options.code_for = cpu;
  fleet workers({behind_pipes(), behind_pipes()}, "", options);
  CHECK(workers.processors().size() == 2);
  CHECK(workers.processors()[1].isa_key() == target::host().isa_key());
  session_options o = few(8);
  workers.use_in(o.measuring);
  CHECK(o.measuring.call);
  workload w = product();
  w.machine = &cpu;
  w.given = {{}, std::vector<std::byte>(32 * 64 * 4)};  // which would stay here otherwise
  database db(":memory:");
  const tuning_result r = tune(w, o, db);
  CHECK(r.trials == 8);
  CHECK(r.best > 0);
  for (const auto& [kind, count] : r.failures) CHECK(kind == failure::schedule);
}

TEST_CASE("a command that is no worker is left out with its reason" * doctest::skip(no_worker)) {
  fleet workers({behind_pipes(), {{}, 0, "exit 3"}}, "", quick());
  CHECK(workers.size() == 1);
  REQUIRE(workers.problems().size() == 1);
  CHECK(workers.problems()[0].find("exit 3: it does not greet") == 0);
}

TEST_CASE("a worker that is killed behind its command is started again" *
          doctest::skip(no_worker)) {
  fleet workers({behind_pipes()}, "", quick());
  session_options o = few(10);
  workers.use_in(o.measuring);
  int met = 0;
  o.callbacks.before_run = [&](const candidate&, const built&) {
    if (++met == 3)
      for (const pid_t child : children()) ::kill(child, SIGKILL);
    return verdict::go_on;
  };
  database db(":memory:");
  const tuning_result r = tune(product(), o, db);
  CHECK(r.trials == 10);
  const auto lost = r.failures.find(failure::worker);
  CHECK((lost == r.failures.end() || lost->second <= 2));
  CHECK(workers.size() == 1);
}

TEST_CASE("strangers, other versions and absent hosts are left out, each with its reason" *
          doctest::skip(no_worker)) {
  const listening right, wrong("another");
  worker_address nowhere;
  {
    const listening gone;
    nowhere = gone.address;
  }
  fleet workers({right.address, wrong.address, nowhere}, "secret", quick());
  CHECK(workers.size() == 1);
  REQUIRE(workers.problems().size() == 2);
  CHECK(workers.problems()[0].find("token") != std::string::npos);
  CHECK(workers.problems()[1].find(nowhere.text()) == 0);
  CHECK_THROWS_WITH_AS(fleet({wrong.address}, "secret", quick()), doctest::Contains("token"),
                       build_error);
  std::vector<std::byte> hello = search::detail::fleet_hello("secret").bytes();
  CHECK(search::detail::why_refused(hello, "secret").empty());
  CHECK(search::detail::why_refused(hello, "secretsecret") != "");
  hello[0] = std::byte{99};
  CHECK(search::detail::why_refused(hello, "secret").find("version") != std::string::npos);
}

TEST_CASE("nonsense ends a connection and not the worker" * doctest::skip(no_worker)) {
  const listening one;
  std::string problem;
  for (const std::string& text : {std::string(100, 'x'), std::string("GET / HTTP/1.1\r\n\r\n")}) {
    const search::detail::socket_handle s = search::detail::connected(one.address, 5, problem);
    REQUIRE(s);
    CHECK(::write(s.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  fleet workers({one.address}, "secret", quick());
  CHECK(workers.size() == 1);
}

TEST_CASE(
    "a lost worker costs its candidate, and the others go on; without any, all fail and the "
    "session ends" *
    doctest::skip(no_worker)) {
  listening one, two;
  fleet workers({one.address, two.address}, "secret", quick());
  session_options o = few(10);
  workers.use_in(o.measuring);
  int met = 0;
  bool all = false;
  o.callbacks.before_run = [&](const candidate&, const built&) {
    if (++met == 2) one.end();
    if (all) two.end();
    return verdict::go_on;
  };
  database db(":memory:");
  const tuning_result r = tune(product(), o, db);
  CHECK(r.trials == 10);
  const auto lost = r.failures.find(failure::worker);
  CHECK((lost == r.failures.end() || lost->second <= 2));
  CHECK(r.best > 0);
  all = true;
  database other(":memory:");
  const tuning_result last = tune(product(64), o, other);
  CHECK(last.failures.count(failure::worker) == 1);
  CHECK(workers.size() == 0);
  CHECK(last.best > 0);
}

TEST_CASE("given values and code of GPUs are refused") {
  // no connection is needed to say so
  if (no_worker) return;
  const listening one;
  fleet workers({one.address}, "secret", quick());
  session_options o = few(2);
  workers.use_in(o.measuring);
  workload w = product();
  w.given = {{}, std::vector<std::byte>(32 * 64 * 4)};
  database db(":memory:");
  CHECK_THROWS_AS(tune(w, o, db), argument_error);
}
