#include <tilewright/search/database/tvm_records.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <tilewright/arith/normalize.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/strategies/given_traces.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;
using namespace tilewright::search;

namespace {

const std::string data = "tests/search/data/tvm/";

std::string text_of(const std::string& name) {
  std::ifstream in(data + name);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

ir::function program(const std::string& name) { return ir::parse(text_of(name + "/script.py")); }

/// What TVM makes of its records, in their order; each under a line "# record N".
std::vector<ir::function> results(const std::string& name) {
  const std::string all = text_of(name + "/results.py"), mark = "# record ";
  std::vector<ir::function> out;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t next = std::min(all.find(mark, at + 1), all.size());
    out.push_back(ir::parse(all.substr(at, next - at)));
    at = next;
  }
  return out;
}

tvm_schedules schedules(const std::string& name, std::size_t workload_line = 0) {
  std::istringstream lines(text_of(name + "/database_tuning_record.json"));
  return read_tvm_records(lines, program(name), workload_line);
}

workload workload_for(const ir::function& f) {
  workload w;
  w.function = f;
  w.key = {ir::workload_key(f).hex(), target::host().isa_key(), "", 1};
  w.family = "tvm";
  w.machine = &target::host();
  w.exec = &backend::serial_executor();
  return w;
}

std::string refusal(const std::string& line) {
  try {
    read_tvm_record(line);
  } catch (const argument_error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("records of TVM apply, and give the program that TVM made of them") {
  for (const std::string name : {"dense_relu", "softmax"}) {
    CAPTURE(name);
    const tvm_schedules all = schedules(name);
    for (const std::string& why : all.refused) MESSAGE(why);
    CHECK(all.refused.empty());
    REQUIRE(all.usable.size() >= 8);
    for (const auto& [r, c] : all.usable) {
      CHECK(r.target == "llvm x86-64-v3");
      CHECK(r.cores == 2);
      CHECK(r.seconds.size() == 2);
    }
    for (std::size_t i = 1; i < all.usable.size(); ++i)
      CHECK(*std::min_element(all.usable[i - 1].first.seconds.begin(),
                              all.usable[i - 1].first.seconds.end()) <=
            *std::min_element(all.usable[i].first.seconds.begin(),
                              all.usable[i].first.seconds.end()));
    std::istringstream lines(text_of(name + "/database_tuning_record.json"));
    const std::vector<ir::function> expected = results(name);
    std::string line;
    for (std::size_t n = 0; std::getline(lines, line); ++n) {
      CAPTURE(n);
      std::istringstream one(line);
      const tvm_schedules c = read_tvm_records(one, program(name), 0);
      REQUIRE(n < expected.size());
      REQUIRE(c.usable.size() == 1);
      ir::function wanted = arith::normalize(expected[n]);
      wanted.attrs = program(name).attrs;  // TVM adds some of its own
      CHECK(ir::equal(arith::normalize(c.usable[0].second.scheduled.function()), wanted));
    }
  }
}

TEST_CASE("schedules of TVM are verified and measured by a session, its times are kept apart") {
  const ir::function f = program("dense_relu");
  const workload w = workload_for(f);
  const tvm_schedules all = schedules("dense_relu");
  database db(":memory:");
  std::vector<trace> traces;
  for (const auto& [r, c] : all.usable) {
    traces.push_back(c.scheduled.trace());
    db.add(foreign_record(r, w));
  }
  session_options o;
  o.method = [&](std::uint64_t) { return given_traces(traces); };
  o.seconds = 60;
  const tuning_result result = tune(w, o, db);
  CHECK(result.failures.empty());
  CHECK(result.trials > 0);
  CHECK(result.trials <= static_cast<int>(traces.size()));
  const auto chosen = db.chosen(w.key);
  REQUIRE(chosen);
  CHECK(chosen->from.cpu == target::host().model);
  const auto foreign = db.all([](const record& r) { return r.key.isa == "TVM: llvm x86-64-v3"; });
  CHECK(foreign.size() == all.usable.size());
  for (const record& r : foreign) {
    CHECK_FALSE(r.chosen);
    CHECK(r.key.threads == 2);
    CHECK(r.from.cpu == "measured by TVM on llvm x86-64-v3");
  }
}

TEST_CASE("records about other arguments and other workloads are left out with the reason") {
  CHECK(schedules("softmax", 3).usable.empty());
  CHECK(schedules("softmax", 3).of_others > 0);
  std::istringstream lines(text_of("softmax/database_tuning_record.json") + "nonsense\n");
  const tvm_schedules none = read_tvm_records(lines, program("dense_relu"), 0);
  CHECK(none.usable.empty());
  REQUIRE(none.refused.size() > 1);
  CHECK(none.refused[0].find("line 1: it has 2 arguments, main has 3") == 0);
  CHECK(none.refused.back().find("JSON") != std::string::npos);
  std::istringstream same(text_of("softmax/database_tuning_record.json"));
  const ir::function larger = ir::parse(R"(@T.prim_func
def main(X: T.Buffer((64, 256), "float32"), Y: T.Buffer((64, 128), "float32")):
    for i, j in T.grid(64, 128):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj]
)");
  CHECK(read_tvm_records(same, larger, 0)
            .refused[0]
            .find("argument 0 is float32 [64 128], that of main is float32 [64 256]") !=
        std::string::npos);
}

TEST_CASE("lines that are no records are refused") {
  CHECK(refusal("{}").find("a line is [workload,") != std::string::npos);
  CHECK(refusal("[0, [1, 2]]").find("a line is [workload,") != std::string::npos);
  CHECK(refusal("[0, [[[], []], [1.0], \"llvm\", []]]").find("target is no object") !=
        std::string::npos);
  CHECK(refusal("[0, [[[], []], [1.0], {\"kind\": \"llvm\"}, [[1, 2]]]]").find("no tensor") !=
        std::string::npos);
  CHECK(refusal("[0, [[[[\"Frob\", [], [], []]], []], [1.0], {\"kind\": \"llvm\"}, []]]")
            .find("no instruction is called \"Frob\"; docs/primitives.md has those") !=
        std::string::npos);
  CHECK(refusal("[0, [[[[\"GetBlok\", [], [], []]], []], [1.0], {\"kind\": \"llvm\"}, []]]")
            .find("no instruction is called \"GetBlok\"; write GetSBlock") != std::string::npos);
  std::istringstream lines(text_of("dense_relu/database_tuning_record.json"));
  std::string good;
  std::getline(lines, good);
  REQUIRE(refusal(good) == "accepted");
  for (std::size_t cut = 0; cut < good.size(); cut += 13)
    CHECK(refusal(good.substr(0, cut)) != "accepted");
  const tvm_record failed = read_tvm_record(
      "[0, [[[], []], [1e10], {\"kind\": \"llvm\"}, [[\"TENSOR\", \"float32\", [2]]]]]");
  CHECK(failed.seconds.empty());
  CHECK(failed.target == "llvm");
  CHECK(failed.arguments[0].shape == std::vector<std::int64_t>{2});
  CHECK(read_tvm_record("[0, [[[], []], null, {\"kind\": \"llvm\"}, []]]").seconds.empty());
}
