#include <tilewright/search/database/exchange.hpp>

#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/support/json.hpp>

#include <doctest/doctest.h>

#include <sstream>

#include <tilewright/support/error.hpp>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

record sample(const std::string& trace, double seconds, bool chosen = false) {
  record r;
  r.key = {"0123456789abcdef0123456789abcdef", "+avx2", "r \"B\"", 2};
  r.family = "matmul";
  r.extents = {64, 65};
  r.trace = trace;
  r.seconds = {seconds * 1.1, seconds, 1.0 / 3};
  r.from = {"a cpu", "19.1", "2026-01-31T12:00:00Z", 3};
  r.chosen = chosen;
  return r;
}

std::string refusal(const std::string& line) {
  try {
    read_record(line);
  } catch (const argument_error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a record survives its line of text") {
  const record r = sample("b0 = sch.get_block(name=\"C\")\nsch.enter_postproc()\t\\", 1e-7, true);
  const std::string line = write_record(r);
  CHECK(line.find('\n') == std::string::npos);
  const record back = read_record(line);
  CHECK(back.key == r.key);
  CHECK(back.trace == r.trace);
  CHECK(back.seconds == r.seconds);
  CHECK(back.extents == r.extents);
  CHECK(back.from == r.from);
  CHECK(back.chosen);
  CHECK(back.digest() == r.digest());
  CHECK(line.find("checked") == std::string::npos);  // as older versions read it
  record proved = r;
  proved.checked = "proved at small extents";
  CHECK(read_record(write_record(proved)).checked == proved.checked);
  CHECK(proved.digest() != r.digest());
}

TEST_CASE("lines that are wrong are refused with the reason") {
  const std::string good = write_record(sample("t", 1));
  std::string changed = good;
  changed.replace(changed.find("+avx2"), 5, "+avx5");
  CHECK(refusal(changed) == "the digest does not match");
  CHECK(refusal(good.substr(0, 50)).find("JSON: expected") == 0);
  std::string beyond = write_record(sample("t", 1));
  beyond.insert(beyond.find("\"threads\":") + 10, "42949672960");
  CHECK(refusal(beyond) == "\"threads\" is too large");
  CHECK(refusal("{}") == "\"workload\" is missing or of another kind");
  std::string no_times = good;
  const std::size_t at = no_times.find("\"seconds\":[") + 11;
  no_times.erase(at, no_times.find(']', at) - at);
  CHECK(refusal(no_times) == "\"seconds\" are no times");
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    CHECK(refusal(good.substr(0, cut)) != "accepted");
}

TEST_CASE("lines that name the arguments are read, and are known the second time") {
  record old = sample("t", 1e-3, true);
  old.key.arguments = "A:r B:d10";
  failed_candidate f{old.key, "t2", "fault", "SIGSEGV", old.from};
  database to(":memory:");
  for (const std::size_t added : {1u, 0u}) {
    std::stringstream text(write_record(old) + "\n" + write_failed(f) + "\n");
    const import_result r = import_text(text, to);
    CHECK(r.refused.empty());
    CHECK(r.added == added);
    CHECK(r.known == 1 - added);
    CHECK(r.failed == added);
  }
  record_key key = old.key;
  key.arguments = "r d10";
  CHECK(to.chosen(key));
  CHECK(to.failed(key).size() == 1);
}

TEST_CASE("what one database exports another one imports, once") {
  database from(":memory:"), to(":memory:");
  const ir::function f = reify(kernels::square_root, {{"N", 9}});
  const std::string workload = ir::workload_key(f).hex();
  for (record r : {sample("slow", 3e-3), sample("fast", 1e-3, true)}) {
    r.key.workload = workload;
    from.add(r);
  }
  record_key key = sample("", 1).key;
  key.workload = workload;
  from.add_workload(workload, ir::print(f));
  std::stringstream text;
  export_text(from, text);
  import_result r = import_text(text, to);
  CHECK(r.added == 2);
  CHECK(r.refused.empty());
  REQUIRE(to.chosen(key));
  CHECK(to.chosen(key)->trace == "fast");
  CHECK(*to.workload(workload) == ir::print(f));
  std::stringstream again(text.str() + "\nnot a line\n");
  r = import_text(again, to);
  CHECK(r.added == 0);
  CHECK(r.known == 2);
  REQUIRE(r.refused.size() == 1);
  CHECK(r.refused[0].find("line 6: JSON") == 0);
}

TEST_CASE("failed candidates are exported, imported and merged, once") {
  database from(":memory:"), text_read(":memory:"), merged(":memory:");
  const failed_candidate f{sample("", 1).key,
                           "line\n\"two\"",
                           "wrong_result",
                           "C[1] is \"2\"",
                           {"a cpu", "19.1", "2026-01-31T12:00:00Z", 3}};
  from.add_failed(f);
  from.add_failures(f.key, {"schedule", 9, "split: no"});
  CHECK(read_failed(write_failed(f)).digest() == f.digest());
  CHECK(read_failed(write_failed(f)).detail == f.detail);
  std::string changed = write_failed(f);
  changed.replace(changed.find("wrong_result"), 12, "right_result");
  CHECK_THROWS_AS(read_failed(changed), argument_error);
  for (const std::size_t expected : {1u, 0u}) {
    std::stringstream text;
    export_text(from, text);
    const import_result r = import_text(text, text_read);
    CHECK(r.failed == expected);
    CHECK(r.added == 0);
    CHECK(r.refused.empty());
    CHECK(merge(from, merged).failed == expected);
  }
  for (const database* to : {&text_read, &merged}) {
    REQUIRE(to->all_failed().size() == 1);
    CHECK(to->all_failed()[0].digest() == f.digest());
    REQUIRE(to->failures(f.key).size() == 1);  // bare counts stay behind
    CHECK(to->failures(f.key)[0].kind == "wrong_result");
  }
}

TEST_CASE("a script that is not the workload's does not take its place") {
  const ir::function f = reify(kernels::square_root, {{"N", 9}}),
                     g = reify(kernels::square_root, {{"N", 10}});
  const std::string workload = ir::workload_key(f).hex();
  const auto line = [&](const std::string& script) {
    return "{\"workload\":\"" + workload + "\",\"script\":" + support::json_text(script) + "}\n";
  };
  std::stringstream text(line("not a program") + line(ir::print(g)) + line(ir::print(f)));
  database to(":memory:");
  const import_result r = import_text(text, to);
  REQUIRE(r.refused.size() == 2);
  CHECK(r.refused[0].find("line 1: the script of a workload: ") == 0);
  CHECK(r.refused[1] == "line 2: the script is not that of workload " + workload);
  CHECK(*to.workload(workload) == ir::print(f));
  database bad(":memory:"), empty(":memory:");
  record measured = sample("t", 1);
  measured.key.workload = workload;
  bad.add(measured);
  bad.add_workload(workload, ir::print(g));
  CHECK(merge(bad, empty).refused.size() == 1);
  CHECK(empty.all().size() == 1);
  CHECK_FALSE(empty.workload(workload));
}

TEST_CASE("merging keeps the faster choice") {
  for (const bool theirs_is_faster : {true, false}) {
    database mine(":memory:"), theirs(":memory:");
    mine.add(sample("mine", 2e-3, true));
    theirs.add(sample("theirs", theirs_is_faster ? 1e-3 : 3e-3, true));
    CHECK(merge(theirs, mine).added == 1);
    CHECK(mine.all().size() == 2);
    CHECK(mine.chosen(sample("", 1).key)->trace == (theirs_is_faster ? "theirs" : "mine"));
    CHECK(mine.all([](const record& x) { return x.chosen; }).size() == 1);
  }
}
