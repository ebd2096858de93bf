#include <tilewright/search/strategies/outside.hpp>

#include <tilewright/support/json.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// A file that is gone at the end.
struct scratch {
  std::string path;
  explicit scratch(const char* name)
      : path((std::filesystem::temp_directory_path() /
              ("tilewright_outside_" + std::to_string(::getpid()) + "_" + name))
                 .string()) {}
  ~scratch() { std::remove(path.c_str()); }
  std::string text() const {
    std::ifstream in(path);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
};

/// A proposer in the shell: what it is told goes to a file, and `answer` says what a request gets.
std::string script(const scratch& log, const std::string& answer) {
  return "while IFS= read -r line; do printf '%s\\n' \"$line\" >> '" + log.path +
         "'; case \"$line\" in '{\"propose\"'*) " + answer + ";; esac; done";
}

}  // namespace

TEST_CASE("what a program outside proposes is replayed, measured and told to it") {
  const scratch log("told");
  const search_task task = landscape::tiles();
  const std::string trace_text = support::json_text(task.sketches.front().print());
  const scratch answer("answer");
  std::ofstream(answer.path) << "{\"traces\": [" << trace_text << ", \"no trace at all\"]}\n";
  const auto s = outside(script(log, "cat '" + answer.path + "'"));
  s->start(task, 3);
  const std::vector<candidate> batch = s->propose(4, {});
  REQUIRE(batch.size() == 1);
  const std::vector<double> seconds{2.5e-4};
  s->learn(batch, seconds);
  CHECK(s->refused() == 1);
  // its sketch draws other decisions the next time
  const std::vector<candidate> next = s->propose(1, {});
  REQUIRE(next.size() == 1);
  CHECK(next.front().identity != batch.front().identity);
  const std::string told = log.text();
  CHECK(told.find("{\"version\": 1, \"program\": ") == 0);
  CHECK(told.find("{\"propose\": 4}") != std::string::npos);
  CHECK(told.find("\"refused\": [{\"trace\": \"no trace at all\", \"reason\": ") !=
        std::string::npos);
  CHECK(told.find("\"seconds\": 0.00025}") != std::string::npos);
  CHECK(s->remark().empty());
}

TEST_CASE("a proposer that has no more ends the search") {
  const scratch log("ends");
  const auto s = outside(script(log, "echo '{\"traces\": []}'"));
  s->start(landscape::tiles(), 1);
  CHECK(s->propose(8, {}).empty());
  CHECK(s->remark().empty());
}

TEST_CASE("a proposer that fails is left, and the search goes on") {
  const scratch log("fails");
  const auto remark_of = [&](const std::string& command, double patience = 60) {
    outside_options options;
    options.patience = patience;
    options.most_line = 1 << 16;
    const auto s = outside(command, options);
    s->start(landscape::tiles(), 5);
    CHECK(landscape::curve(*s, 24).size() == 24);
    return s->remark();
  };
  CHECK(remark_of("exit 3").find("it ended") != std::string::npos);
  CHECK(remark_of("/no/such/program").find("it ended") != std::string::npos);
  CHECK(remark_of(script(log, "sleep 9"), 0.2).find("no answer in time") != std::string::npos);
  CHECK(remark_of(script(log, "echo hello")).find("was left") != std::string::npos);
  CHECK(remark_of(script(log, "echo '{\"trace\": 1}'")).find("no list \"traces\"") !=
        std::string::npos);
  CHECK(remark_of(script(log, "echo '{\"traces\": [1]}'")).find("is no text") != std::string::npos);
  CHECK(remark_of("yes no_end_of_line | tr -d '\\n'").find("a line of more than") !=
        std::string::npos);
  CHECK(remark_of(script(log, "echo '{\"traces\": [\"x\"]}'")).empty());  // refused, not left
}

TEST_CASE("a program is proposed once, whatever a proposer says") {
  const scratch log("once");
  const search_task task = landscape::tiles();
  const auto c = replay(task.sketches.front(), task.function, 1);
  REQUIRE(c);
  const scratch answer("same");
  std::ofstream(answer.path) << "{\"traces\": [" << support::json_text(c->scheduled.trace().print())
                             << "]}\n";
  const auto s = outside(script(log, "cat '" + answer.path + "'"));
  s->start(task, 1);
  const std::vector<candidate> first = s->propose(1, {});
  REQUIRE(first.size() == 1);
  CHECK(first.front().identity == c->identity);
  for (const candidate& other : s->propose(8, {})) CHECK(other.identity != c->identity);
  CHECK(log.text().find("was proposed before") != std::string::npos);
}

TEST_CASE("what the end of a session interrupts is answered in the next") {
  const scratch log("late");
  outside_options options;
  options.patience = 30;
  const auto s = outside(script(log, "sleep 0.3; echo '{\"traces\": []}'"), options);
  s->start(landscape::tiles(), 1);
  int polls = 0;
  CHECK(s->propose(8, [&] { return ++polls > 2; }).empty());
  CHECK(s->propose(8, {}).empty());  // the late answer, not draws
  CHECK(s->remark().empty());
  const std::string told = log.text();
  CHECK(told.find("{\"propose\"") == told.rfind("{\"propose\""));
}
