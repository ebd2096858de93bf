// Files of older versions, and keys that say less than they did.
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/hash.hpp>

#include <doctest/doctest.h>

#include <signal.h>

#include <filesystem>
#include <string>
#include <thread>

#include "records.hpp"

using namespace tilewright::search;
using namespace records;

TEST_CASE("a file of an older version is migrated, or read as it is") {
  const folder f;
  std::filesystem::copy_file("tests/search/data/version_1.db", f.file());
  const std::uintmax_t size = std::filesystem::file_size(f.file());
  {
    const database behind(f.path + "/new.db:" + f.file());
    CHECK(behind.status() == "");
    CHECK(behind.all().size() == 8);
    CHECK(behind.failures(behind.all()[0].key).empty());
  }
  CHECK(std::filesystem::file_size(f.file()) == size);
  {
    database db(f.file());
    CHECK(db.status() == "");
    CHECK(db.all().size() == 8);
    CHECK(db.skipped() == 0);
    const auto best = db.all([](const record& r) { return r.chosen; });
    REQUIRE(best.size() == 1);
    CHECK(db.workload(best[0].key.workload)->find("def main") != std::string::npos);
    db.add_failures(best[0].key, {"fault", 2, "SIGSEGV"});
  }
  const database again(f.file());
  CHECK(again.status() == "");
  REQUIRE(again.failures(again.all()[0].key).size() == 1);
}

TEST_CASE("what version 2 had counted of failures is counted on") {
  const folder f;
  std::filesystem::copy_file("tests/search/data/version_2.db", f.file());
  const auto counted = [](const database& db) {
    const auto all = db.failures(db.all()[0].key);
    return all.size() == 1 && all[0].kind == "fault" ? all[0].count : -1;
  };
  {
    const database behind(f.path + "/new.db:" + f.file());
    CHECK(behind.status() == "");
    CHECK(behind.all_failed().empty());
  }
  database db(f.file());
  CHECK(db.status() == "");
  CHECK(db.all().size() == 7);
  CHECK(counted(db) == 3);
  db.add_failed({db.all()[0].key, "t", "fault", "SIGSEGV", {}});
  CHECK(counted(db) == 4);
  const database again(f.file());
  CHECK(again.status() == "");
  CHECK(counted(again) == 4);
}

TEST_CASE("records say how a winner was checked; those of before were tested") {
  const std::string proved = "proved at full extents, in arithmetic modulo 2^61 - 1";
  const folder f;
  std::filesystem::copy_file("tests/search/data/version_4.db", f.file());
  const auto winners = [](const database& db) {
    CHECK(db.status() == "");
    CHECK(db.skipped() == 0);
    return db.all([](const record& r) { return r.chosen; });
  };
  const auto old = winners(*database::reading(f.file()));  // as it is
  REQUIRE(old.size() == 1);
  CHECK(old[0].checked == "");
  CHECK(old[0].check() == "tested");
  record r = old[0];
  {
    database db(f.file());
    REQUIRE(winners(db).size() == 1);
    CHECK(winners(db)[0].check() == "tested");
    CHECK(winners(db)[0].digest() == old[0].digest());
    r.trace = "faster";
    r.checked = proved;
    db.add(r);
  }
  for (int again = 0; again < 2; ++again) {
    const database db(f.file());
    REQUIRE(winners(db).size() == 1);
    CHECK(winners(db)[0].checked == proved);
    CHECK(db.chosen(r.key)->check() == proved);
    CHECK(db.top(r.key, 9).back().checked == "");
  }
  // rows with and without the column, of a file whose description is gone
  const std::size_t rows = database(f.file()).all().size();
  run_sql(f.file(), "pragma user_version=99");
  database db(f.file());
  CHECK(db.status().find(std::to_string(rows) + " records were saved") != std::string::npos);
  CHECK(db.all().size() == rows);
  CHECK(db.chosen(r.key)->checked == proved);
  // what says "proved" is under the digest, too
  run_sql(f.file(), "update record set checked='' where trace='faster'");
  CHECK(database(f.file()).all().size() + 1 == rows);
}

TEST_CASE("what arguments are called does not matter, in memory and in files") {
  CHECK(arguments_by_position("A:r B:d10 W:bound cold") == "r d10 bound cold");
  CHECK(arguments_by_position("r d10 bound cold") == "r d10 bound cold");
  CHECK(arguments_by_position("") == "");
  for (const bool memory : {true, false}) {
    const folder f;
    database db(memory ? ":memory:" : f.file());
    record old = sample("t", 1, true);
    old.key.arguments = "A:r B:d10";
    record_key key = old.key, renamed = old.key;
    key.arguments = "r d10";
    renamed.arguments = "X:r Y:d10";
    db.add(old);
    db.add_failed({old.key, "t1", "build", "why", old.from});
    db.add_failures(old.key, {"timeout", 2, "slow"});
    db.add_code(old.key, "t", old.from, {std::byte{1}});
    for (const record_key& k : {key, renamed, old.key}) {
      REQUIRE(db.chosen(k));
      CHECK(db.chosen(k)->key == key);
      CHECK(db.top(k, 3).size() == 1);
      CHECK(db.failed(k).size() == 1);
      CHECK(db.failures(k).size() == 2);
      CHECK(db.code(k, "t", old.from.revision));
      record wanted = old;
      wanted.key = k;
      CHECK(db.why(wanted).find("a schedule is stored") == 0);
    }
    CHECK(db.lease(renamed, 60));
    CHECK_FALSE(db.lease(key, 60));
    db.release(old.key);
    CHECK(db.lease(key, 60));
    record_key other = key;
    other.arguments = "r r";
    CHECK_FALSE(db.chosen(other));
    other.arguments = "d10 r";
    CHECK_FALSE(db.chosen(other));
  }
}

TEST_CASE("records under keys in which block names count are found, and newer ones before them") {
  for (const bool memory : {true, false}) {
    const folder f;
    database db(memory ? ":memory:" : f.file());
    record old = sample("b0 = sch.get_block(name=\"C\", func_name=\"main\")", 1, true);
    old.key.workload = "named";
    db.add(old);
    db.add_failed({old.key, "t1", "build", "why", old.from});
    db.add_failures(old.key, {"timeout", 2, "slow"});
    db.add_code(old.key, old.trace, old.from, {std::byte{1}});
    record_key key = old.key;
    key.workload = "new";
    CHECK_FALSE(db.chosen(key));
    key.named_workload = "named";
    REQUIRE(db.chosen(key));
    CHECK(db.chosen(key)->trace == old.trace);
    CHECK(db.top(key, 3).size() == 1);
    CHECK(db.failed(key).size() == 1);
    CHECK(db.failures(key).size() == 2);
    CHECK(db.code(key, old.trace, old.from.revision));
    record wanted = old;
    wanted.key = key;
    CHECK(db.why(wanted).find("a schedule is stored") == 0);
    record slower = old;
    slower.key = key;
    slower.trace = "b0 = sch.get_block(name=\"#1\", func_name=\"main\")";
    slower.seconds = {5.0};
    db.add(slower);
    db.add_failures(key, {"timeout", 3, "slower"});
    CHECK(db.chosen(key)->trace == slower.trace);
    CHECK(db.chosen(old.key)->trace == old.trace);
    CHECK(db.top(key, 3).size() == 2);
    for (const failure_count& c : db.failures(key))
      if (c.kind == "timeout") CHECK(c.count == 5);
    const database behind(memory ? ":memory:" : ":memory:" + f.file());
    if (!memory) CHECK(behind.chosen(key)->trace == slower.trace);
  }
}

TEST_CASE("records of files that name the arguments are found, as they are and migrated") {
  for (const char* version : {"1", "2"}) {
    const folder f;
    std::filesystem::copy_file("tests/search/data/version_" + std::string(version) + ".db",
                               f.file());
    const auto check = [](const database& db) {
      CHECK(db.status() == "");
      const auto all = db.all([](const record& r) { return r.chosen; });
      REQUIRE(all.size() == 1);
      record_key key = all[0].key;
      CHECK(key.arguments == "r r r");
      REQUIRE(db.chosen(key));
      CHECK(db.top(key, 99).size() > 1);
      const auto code = db.code(key, all[0].trace, all[0].from.revision);
      key.arguments = "A:r B:r C:r";
      CHECK(db.chosen(key));
      key.arguments = "r r d10";
      CHECK_FALSE(db.chosen(key));
      return code.has_value();
    };
    const bool code = check(*database::reading(f.file()));
    CHECK(check(database(":memory:" + f.file())) == code);
    CHECK(check(database(f.file())) == code);
    CHECK(check(database(f.file())) == code);
  }
}

TEST_CASE("keys that differed in names alone become one when a file is migrated") {
  const folder f;
  std::filesystem::copy_file("tests/search/data/version_2.db", f.file());
  record r = database::reading(f.file())->all([](const record& x) { return x.chosen; }).at(0);
  const double before = r.best();
  r.key.arguments = "X:r Y:r Z:r";
  r.trace = "faster";
  r.seconds = {before / 2};
  const auto quoted = [](const std::string& text) { return ",'" + text + "'"; };
  run_sql(f.file(),
          ("insert into record(workload, isa, arguments, threads, family, extents, trace, seconds, "
           "best, chosen, cpu, llvm, date, revision, digest) values('" +
           r.key.workload + "'" + quoted(r.key.isa) + quoted(r.key.arguments) + "," +
           std::to_string(r.key.threads) + quoted(r.family) + quoted(write_numbers(r.extents)) +
           quoted(r.trace) + quoted(write_numbers(r.seconds)) + "," + write_numbers(r.seconds) +
           ",1" + quoted(r.from.cpu) + quoted(r.from.llvm) + quoted(r.from.date) + "," +
           std::to_string(r.from.revision) + quoted(r.digest()) +
           "); insert into failure select workload, isa, 'X:r Y:r Z:r', threads, kind, 4, detail "
           "from failure")
              .c_str());
  for (int again = 0; again < 2; ++again) {
    const database db(f.file());
    CHECK(db.status() == "");
    CHECK(db.skipped() == 0);
    CHECK(db.all().size() == 8);
    CHECK(db.all([](const record& x) { return x.chosen; }).size() == 1);
    CHECK(db.chosen(r.key)->trace == "faster");
    REQUIRE(db.failures(r.key).size() == 1);
    CHECK(db.failures(r.key)[0].count == 7);
  }
}
