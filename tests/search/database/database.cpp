#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/hash.hpp>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "records.hpp"

using namespace tilewright::search;
using namespace records;

TEST_CASE("number lists survive text, and malformed text gives nothing") {
  const std::vector<double> v{1.5e-6, 0.1, 3};
  CHECK(read_reals(write_numbers(v)) == v);
  CHECK(read_integers("1 2 3") == std::vector<std::int64_t>{1, 2, 3});
  CHECK(read_integers("1 x").empty());
  CHECK(read_integers("1,2").empty());
}

TEST_CASE("records are there for the next handle") {
  const folder f;
  {
    database db(f.file());
    CHECK(db.status() == "");
    CHECK(db.persistent());
    db.add(sample("slow", 3e-3));
    db.add(sample("fast", 1e-3, true));
    db.add(sample("fast", 1.2e-3));
  }
  database db(f.file());
  const auto hit = db.chosen(sample("", 1).key);
  REQUIRE(hit);
  CHECK(hit->trace == "fast");
  CHECK(hit->seconds == sample("", 1e-3).seconds);
  CHECK(hit->from.cpu == "test cpu");
  CHECK(hit->extents == std::vector<std::int64_t>{64, 64});
  const auto top = db.top(hit->key, 8);
  REQUIRE(top.size() == 2);  // one per trace
  CHECK(top[0].trace == "fast");
  CHECK(db.all().size() == 3);
}

TEST_CASE("a better choice takes the mark") {
  for (const bool memory : {true, false}) {
    const folder f;
    database db(memory ? ":memory:" : f.file());
    db.add(sample("a", 3e-3, true));
    db.add(sample("b", 2e-3, true));
    CHECK(db.chosen(sample("", 1).key)->trace == "b");
    CHECK(db.all([](const record& r) { return r.chosen; }).size() == 1);
  }
}

TEST_CASE("the nearest extents of the same kernel are found") {
  database db(":memory:");
  db.add(sample("small", 1, true, 64));
  db.add(sample("large", 1, true, 1024));
  const record_key other{"w900", "+avx2", "r64", 2};
  CHECK(db.nearest("matmul", {900, 64}, other)->trace == "large");
  CHECK(db.nearest("matmul", {100, 64}, other)->trace == "small");
  CHECK_FALSE(db.nearest("conv", {100, 64}, other));
  CHECK_FALSE(db.nearest("matmul", {100, 64}, {"w", "+sse", "", 2}));
  CHECK(std::isinf(extent_distance({1, 2}, {1})));
}

TEST_CASE("why names the field that differs, and the revision of code that is too old") {
  const folder f;
  database db(f.file());
  record r = sample("t", 1, true);
  db.add(r);
  record wanted = r;
  wanted.key.threads = 8;
  const std::string text = db.why(wanted);
  CHECK(text.find("threads: 8 wanted, 2 stored") != std::string::npos);
  CHECK(text.find("instruction set") == std::string::npos);
  CHECK(db.why(r).find("test cpu") != std::string::npos);
  db.add_code(r.key, "t", r.from, {std::byte{1}});
  wanted = r;
  wanted.from.revision = 9;
  CHECK(db.why(wanted).find("lowering revision 9, but for revision 3") != std::string::npos);
}

TEST_CASE("a lease is exclusive between processes and ends with its owner") {
  const folder f;
  const record_key key = sample("", 1).key;
  database db(f.file());
  CHECK(db.lease(key, 60));
  CHECK_FALSE(db.lease(key, 60));  // another thread has to wait too
  db.renew(key, 60);
  CHECK(in_child([&] { return !database(f.file()).lease(key, 60); }));
  db.release(key);
  CHECK(in_child([&] { return database(f.file()).lease(key, 60); }));  // ends without releasing

  CHECK(db.lease(key, 60));
}

TEST_CASE("a handle survives fork in the child and in the parent") {
  const folder f;
  database db(f.file());
  db.add(sample("parent", 1, true));
  CHECK(in_child([&] {
    db.add(sample("child", 0.5, true));
    return db.persistent();
  }));
  CHECK(db.chosen(sample("", 1).key)->trace == "child");
}

TEST_CASE("what a child adds is kept when its parent closes the file first") {
  const folder f;
  auto db = std::make_unique<database>(f.file());
  db->add(sample("parent", 1));
  int ready[2], closed[2];
  REQUIRE(pipe(ready) == 0);
  REQUIRE(pipe(closed) == 0);
  const pid_t child = fork();
  if (child == 0) {
    char c = 0;
    db->add(sample("child before", 1));
    bool fine = write(ready[1], "x", 1) == 1 && read(closed[0], &c, 1) == 1;
    db->add(sample("child after", 1));
    fine = fine && db->persistent();
    _exit(fine ? 0 : 1);
  }
  char c = 0;
  CHECK(read(ready[0], &c, 1) == 1);
  db.reset();
  CHECK(write(closed[1], "x", 1) == 1);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(database(f.file()).all().size() == 3);
  for (const int end : {ready[0], ready[1], closed[0], closed[1]}) close(end);
}

TEST_CASE("a child may be forked while other threads use the handle") {
  const folder f;
  database db(f.file());
  std::atomic<bool> end{false};
  std::thread writer([&] {
    for (int i = 0; !end; ++i) db.add(sample(std::to_string(i), 1, false, i));
  });
  for (int i = 0; i < 20; ++i)
    CHECK(in_child([&] {
      db.add(sample("child", 1, true, -1 - i));
      return db.chosen(sample("", 1, true, -1 - i).key).has_value();
    }));
  end = true;
  writer.join();
  CHECK(db.all([](const record& r) { return r.trace == "child"; }).size() == 20);
}

TEST_CASE("a damaged row is skipped") {
  const folder f;
  {
    database db(f.file());
    db.add(sample("good", 1));
    db.add(sample("bad", 1));
  }
  run_sql(f.file(), "update record set trace='worse' where trace='bad'");
  database db(f.file());
  const auto all = db.all();
  REQUIRE(all.size() == 1);
  CHECK(all[0].trace == "good");
  CHECK(db.skipped() == 1);
}

TEST_CASE("failed candidates are kept with their traces, and a damaged one is skipped") {
  for (const bool memory : {true, false}) {
    const folder f;
    database db(memory ? ":memory:" : f.file());
    const failed_candidate one{sample("", 1).key, "t1", "build", "why", {"cpu", "19", "now", 3}};
    failed_candidate two = one, other = one;
    two.trace = "t2";
    two.kind = "timeout";
    other.key.threads = 7;
    for (const failed_candidate& x : {one, two, other}) db.add_failed(x);
    const auto found = db.failed(one.key);
    REQUIRE(found.size() == 2);
    CHECK(found[0].digest() == one.digest());
    CHECK(found[1].digest() == two.digest());
    CHECK(db.all_failed().size() == 3);
    REQUIRE(db.failures(one.key).size() == 2);
    CHECK(db.failures(one.key)[0].kind == "build");
    CHECK(db.failures(one.key)[0].detail == "why");
    CHECK(db.all().empty());
    if (memory) continue;
    CHECK(database(":memory::" + f.file()).failed(one.key).size() == 2);  // a file behind
    run_sql(f.file(), "update failed set trace='t9' where trace='t1'");
    CHECK(database(f.file()).failed(one.key).size() == 1);
  }
}

TEST_CASE("failures are counted by kind") {
  for (const bool memory : {true, false}) {
    const folder f;
    database db(memory ? ":memory:" : f.file());
    const record_key key = sample("", 1).key;
    db.add_failures(key, {"build", 1, "first"});
    db.add_failures(key, {"build", 3, "last"});
    db.add_failures(key, {"timeout", 1, "slow"});
    db.add_failures({"other", "", "", 1}, {"timeout", 1, "slow"});
    const std::vector<failure_count> all = db.failures(key);
    REQUIRE(all.size() == 2);
    CHECK(all[0].kind == "build");
    CHECK(all[0].count == 4);
    CHECK(all[0].detail == "last");
    CHECK(all[1].count == 1);
  }
}

TEST_CASE("several files are read in order, and the first is written") {
  const folder f;
  const std::string user = f.path + "/user.db", team = f.path + "/team.db",
                    shipped = f.path + "/shipped.db";
  database(team).add(sample("team", 2e-3, true, 1));
  database(shipped).add(sample("shipped", 1e-3, true, 1));
  database(shipped).add(sample("shipped", 1e-3, true, 2));
  database(shipped).add_workload("w2", "text");
  database(shipped).add_code(sample("", 1, true, 2).key, "shipped", {"", "", "", 3},
                             {std::byte{1}});
  database db(user + ":" + team + ":" + shipped);
  CHECK(db.status() == "");
  CHECK(db.path() == user);
  CHECK(db.chosen(sample("", 1, true, 1).key)->trace == "team");
  CHECK(db.chosen(sample("", 1, true, 2).key)->trace == "shipped");
  CHECK(db.workload("w2") == "text");
  CHECK(db.code(sample("", 1, true, 2).key, "shipped", 3).has_value());
  CHECK(db.nearest("matmul", {3, 64}, sample("", 1, true, 3).key)->trace == "shipped");
  CHECK(db.top(sample("", 1, true, 1).key, 5).size() == 2);
  db.add(sample("mine", 3e-3, true, 1));
  CHECK(db.chosen(sample("", 1, true, 1).key)->trace == "mine");
  CHECK(db.all().size() == 4);
  CHECK(database(team).all().size() == 1);
  const database missing(user + ":" + f.path + "/nowhere.db");
  CHECK(missing.chosen(sample("", 1, true, 1).key));
  CHECK_FALSE(missing.chosen({"unknown", "", "", 1}));
  CHECK(missing.status().find("nowhere.db") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(f.path + "/nowhere.db"));
  database memory(":memory:" + team);
  CHECK(memory.chosen(sample("", 1, true, 1).key)->trace == "team");
}

TEST_CASE("a file that may only be read is read, and additions stay in memory") {
  const folder f;
  database(f.file()).add(sample("t", 1, true));
  REQUIRE(chmod(f.file().c_str(), 0444) == 0);
  REQUIRE(chmod(f.path.c_str(), 0555) == 0);
  CHECK(in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return false;
    database db(f.file());
    const bool read = db.chosen(sample("", 1).key).has_value();
    db.add(sample("mine", 0.5, true));
    const bool kept = db.chosen(sample("", 1).key)->trace == "mine";
    return read && kept && !db.persistent() &&
           db.status().find("kept in memory") != std::string::npos;
  }));
  REQUIRE(chmod(f.path.c_str(), 0755) == 0);
  CHECK(database(f.file()).all().size() == 1);
}

TEST_CASE("code comes back only when its digest matches and nobody else may write it") {
  const folder f;
  database db(f.file());
  const record r = sample("t", 1, true);
  const std::vector<std::byte> bytes(1000, std::byte{7});
  db.add_code(r.key, "t", r.from, bytes);
  std::string why;
  REQUIRE(db.code(r.key, "t", 3, &why));
  CHECK(*db.code(r.key, "t", 3) == bytes);
  CHECK_FALSE(db.code(r.key, "t", 4));  // another lowering
  CHECK_FALSE(db.code(r.key, "u", 3));
  chmod(f.path.c_str(), 0777);
  CHECK_FALSE(db.code(r.key, "t", 3, &why));
  CHECK(why.find("written by others") != std::string::npos);
  chmod(f.path.c_str(), 0700);
  chmod(f.file().c_str(), 0666);
  CHECK_FALSE(db.code(r.key, "t", 3, &why));
  chmod(f.file().c_str(), 0600);
  run_sql(f.file(), "update code set object = x'00'");
  CHECK_FALSE(db.code(r.key, "t", 3, &why));
  CHECK(why.find("digest") != std::string::npos);
}

TEST_CASE("many threads and handles write at once and nothing is lost") {
  const folder f;
  {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        database db(f.file());
        for (int i = 0; i < 50; ++i)
          db.add(sample(std::to_string(t * 50 + i), 1, true, t * 50 + i));
        CHECK(db.status() == "");
      });
    for (std::thread& t : threads) t.join();
  }
  CHECK(database(f.file()).all().size() == 200);
}

TEST_CASE("the default path follows the environment") {
  setenv("TILEWRIGHT_DB", "/x/y.db", 1);
  CHECK(default_database_path() == "/x/y.db");
  unsetenv("TILEWRIGHT_DB");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  CHECK(default_database_path() == "/cache/tilewright/tuning.db");
  unsetenv("XDG_CACHE_HOME");
  CHECK(default_database_path().find("/.cache/tilewright/tuning.db") != std::string::npos);
}

TEST_CASE("classes of arguments on a device say so, by position as others do") {
  CHECK(on_device("r d10 bound", 32) == "r@g16 d10@g16 bound@g16 i32");
  CHECK(on_device("", 64) == "i64");
  CHECK(arguments_by_position(on_device("r r", 64)) == "r@g16 r@g16 i64");
}
