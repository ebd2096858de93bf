#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/hash.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
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

namespace {

/// What later versions keep: a digest of the version and the tables, in the table `seal`.
void become_newer(const std::string& file) {
  run_sql(file, "create table later(a text); pragma user_version=99");
  const sqlite_api* api = sqlite();
  sqlite3* raw = nullptr;
  REQUIRE(api->open_v2(file.c_str(), &raw, sqlite_api::open_read_only, nullptr) == sqlite_api::ok);
  tilewright::support::hasher tables, places;
  tables.add(std::uint64_t{0x54574442});
  tables.add(std::uint64_t{99});
  sqlite3_stmt* q = nullptr;
  api->prepare_v2(
      raw, "select type, name, tbl_name, sql, rootpage, rowid from sqlite_master order by name", -1,
      &q, nullptr);
  while (api->step(q) == sqlite_api::row)
    for (int i = 0; i < 6; ++i) {
      const auto* text = reinterpret_cast<const char*>(api->column_text(q, i));
      (i < 4 ? tables : places).add(std::string_view(text ? text : ""));
    }
  api->finalize(q);
  api->close_v2(raw);
  run_sql(file,
          ("update seal set schema='" + tables.finish().hex() + " " + places.finish().hex() + "'")
              .c_str());
}

/// Bytes of a file, and of nothing where there is none.
std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    out.insert(entry.path().filename().string());
  return out;
}

}  // namespace

TEST_CASE("a newer schema is left alone") {
  const folder f;
  database(f.file()).add(sample("t", 1, true));
  become_newer(f.file());
  const std::string before = bytes_of(f.file());
  database db(f.file());
  CHECK(db.status().find("newer") != std::string::npos);
  CHECK(db.status().find("99") != std::string::npos);
  db.add(sample("mine", 1, true));
  CHECK(db.chosen(sample("", 1).key)->trace == "mine");  // in memory
  CHECK_FALSE(db.persistent());
  CHECK(bytes_of(f.file()) == before);
}

TEST_CASE("a version that the tables do not have is damage") {
  for (const char* version : {"99", "3", "0", "-4"}) {
    const folder f;
    database(f.file()).add(sample("t", 1, true));
    run_sql(f.file(), (std::string("pragma user_version=") + version).c_str());
    database db(f.file());
    CHECK(db.status().find("1 records were saved") != std::string::npos);
    CHECK(db.persistent());
    CHECK(db.chosen(sample("", 1).key));
  }
}

TEST_CASE("a file that somebody has vacuumed is a database as before") {
  const folder f;
  {
    database db(f.file());
    for (int i = 0; i < 100; ++i) db.add(sample(std::string(3000, 'x'), 1, false, i));
  }
  run_sql(f.file(),
          "drop index record_by_family; delete from record where id < 50; vacuum;"
          "create index record_by_family on record(family, isa, threads, chosen)");
  database db(f.file());
  CHECK(db.status() == "");
  CHECK(db.all().size() == 51);
}

TEST_CASE("what is no database stays as it is, whatever its name") {
  struct file {
    const char* what;
    std::string bytes;
  };
  const std::string script = "@T.prim_func\ndef main(a: T.handle):\n" + std::string(3000, '#');
  for (const file& one : {file{"a script", script}, file{"shorter than the magic", "SQLite"},
                          file{"one byte", "x"}, file{"zeros", std::string(8192, '\0')},
                          file{"a dump",
                               "CREATE TABLE record(id integer primary key, workload text,"
                               " isa text, arguments text);" +
                                   script},
                          file{"nearly", "SQLite format 4" + std::string(5000, '\0')}}) {
    CAPTURE(one.what);
    const folder f;
    std::ofstream(f.file(), std::ios::binary) << one.bytes;
    {
      database db(f.file());
      CHECK(db.status().find(f.file() + " is a file without the first bytes of an SQLite database"
                                        ": it is no tuning database and is left as it is") !=
            std::string::npos);
      db.add(sample("mine", 1, true));
      CHECK(db.chosen(sample("", 1).key)->trace == "mine");  // in memory
      CHECK_FALSE(db.persistent());
      CHECK_THROWS_AS(salvage(f.file()), const store_error&);
      CHECK(database::reading(f.file())->status().find("left as it is") != std::string::npos);
      CHECK(database(":memory:" + f.file()).all().empty());
    }
    CHECK(bytes_of(f.file()) == one.bytes);
    CHECK(names_in(f.path).size() <= 2);  // the lock of salvage, which was called by name
    CHECK(names_in(f.path).count("t.db.damaged") == 0);
  }
}

TEST_CASE("a directory, a pipe and a link to a script are no databases") {
  const folder f;
  std::filesystem::create_directory(f.path + "/d");
  REQUIRE(mkfifo((f.path + "/p").c_str(), 0600) == 0);
  std::ofstream(f.path + "/k.py") << "print()";
  std::filesystem::create_symlink(f.path + "/k.py", f.path + "/l");
  const auto before = names_in(f.path);
  for (const char* name : {"d", "p", "l", "k.py"}) {
    database db(f.path + "/" + name);
    CHECK(db.status().find(f.path + "/" + name + " is ") != std::string::npos);
    db.add(sample("mine", 1, true));
    CHECK_FALSE(db.persistent());
    CHECK_FALSE(database::reading(f.path + "/" + name)->persistent());
  }
  CHECK(names_in(f.path) == before);
  CHECK(bytes_of(f.path + "/k.py") == "print()");
}

TEST_CASE("an empty file becomes a database when it is written, and stays empty when it is read") {
  const folder f;
  std::ofstream(f.file()).flush();
  {
    const auto db = database::reading(f.file());
    CHECK(db->status() == "");
    CHECK(db->all().empty());
    CHECK_FALSE(db->chosen(sample("", 1).key));
    CHECK(db->failures(sample("", 1).key).empty());
    CHECK(db->all_failed().empty());
    CHECK_FALSE(db->workload("w"));
    CHECK_FALSE(db->code(sample("", 1).key, "t", 1));
    CHECK(std::filesystem::file_size(f.file()) == 0);
    CHECK(names_in(f.path) == std::set<std::string>{"t.db"});
    database(f.file()).add(sample("t", 1, true));
    CHECK(db->chosen(sample("", 1).key));  // it is seen that somebody wrote
  }
  CHECK(database(f.file()).status() == "");
}

TEST_CASE("reading makes nothing, neither file nor folder") {
  const folder f;
  const std::string nowhere = f.path + "/no/such/folder/t.db";
  CHECK(database::reading(nowhere)->status().find("there is no file " + nowhere) !=
        std::string::npos);
  CHECK(names_in(f.path).empty());
  database(f.file()).add(sample("t", 1, true));
  const std::string before = bytes_of(f.file());
  {
    const auto db = database::reading(f.file() + ":" + nowhere);
    CHECK(db->all().size() == 1);
    CHECK(db->paths().size() == 2);
    CHECK(db->status().find(nowhere) != std::string::npos);
    CHECK(names_in(f.path) == std::set<std::string>{"t.db"});
    database(f.file()).add(sample("u", 0.5, true));
    CHECK(db->chosen(sample("", 1).key)->trace == "u");
  }
  CHECK(names_in(f.path) == std::set<std::string>{"t.db"});
}

TEST_CASE("a list of files that begins with nothing says so, and is read") {
  const folder f;
  database(f.file()).add(sample("team", 1, true));
  database db(":" + f.file());
  CHECK(db.status().find("the list \":" + f.file() + "\" begins with ':'") != std::string::npos);
  CHECK(db.status().find("HOME") == std::string::npos);
  CHECK(db.status().find("\":memory:" + f.file() + "\"") != std::string::npos);
  CHECK(db.chosen(sample("", 1).key)->trace == "team");
  db.add(sample("mine", 0.5, true));
  CHECK(db.chosen(sample("", 1).key)->trace == "mine");
  CHECK(database::reading(":" + f.file())->chosen(sample("", 1).key));
}

TEST_CASE("a database of another program is left alone") {
  const folder f;
  const sqlite_api* api = sqlite();
  REQUIRE(api);
  sqlite3* raw = nullptr;
  api->open_v2(f.file().c_str(), &raw, sqlite_api::open_read_write | sqlite_api::open_create,
               nullptr);
  api->exec(raw, "create table mine(a)", nullptr, nullptr, nullptr);
  api->close_v2(raw);
  const std::string before = bytes_of(f.file());
  CHECK(database(f.file()).status().find("another program") != std::string::npos);
  CHECK(database::reading(f.file())->status().find("another program") != std::string::npos);
  CHECK(bytes_of(f.file()) == before);
  {
    std::fstream bytes(f.file(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(100);
    bytes.put('\x5a');  // damaged, and none of our business
  }
  const std::string damaged = bytes_of(f.file());
  CHECK(database(f.file()).status().find("of another program as far as can be seen") !=
        std::string::npos);
  CHECK(bytes_of(f.file()) == damaged);
  CHECK(names_in(f.path) == std::set<std::string>{"t.db"});
}

TEST_CASE("no permission: memory, with the reason") {
  database nowhere("/proc/tilewright/t.db");
  CHECK(nowhere.status().find("/proc/tilewright/t.db") != std::string::npos);
  nowhere.add(sample("t", 1, true));
  CHECK(nowhere.chosen(sample("", 1).key));

  const folder f;
  REQUIRE(chmod(f.path.c_str(), 0555) == 0);
  CHECK(in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return false;
    database db(f.file());
    db.add(sample("t", 1, true));
    return db.status().find("Permission denied") != std::string::npos &&
           db.chosen(sample("", 1).key).has_value();
  }));
  REQUIRE(chmod(f.path.c_str(), 0755) == 0);
}

TEST_CASE("a full disk: memory until there is room") {
  const folder f;
  database(f.file()).add(sample("first", 1, true, 1));
  CHECK(in_child([&] {  // with the signal of the limit at its default
    const rlimit small{8192, RLIM_INFINITY};
    database db(f.file());
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 2; i < 40; ++i)
      db.add(sample(std::string(3000, 'y') + std::to_string(i), 1, true, i));
    const bool said = !db.status().empty() && !db.persistent();
    const bool kept = db.all().size() == 39;
    const rlimit large{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &large);
    return said && kept;  // the destructor writes what was kept
  }));
  CHECK(database(f.file()).all().size() >= 1);
}

TEST_CASE("what was kept is written when the handle closes") {
  const folder f;
  CHECK(in_child([&] {
    {
      database db(f.file());
      const rlimit small{8192, RLIM_INFINITY};
      setrlimit(RLIMIT_FSIZE, &small);
      for (int i = 0; i < 30; ++i) db.add(sample(std::string(3000, 'y'), 1, true, i));
      const rlimit large{RLIM_INFINITY, RLIM_INFINITY};
      setrlimit(RLIMIT_FSIZE, &large);
    }
    return database(f.file()).all().size() == 30;
  }));
}

TEST_CASE("no room at all: every operation goes on in memory") {
  const folder f;
  CHECK(in_child([&] {
    const rlimit none{0, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &none);
    database db(f.file());
    const record r = sample("t", 1, true);
    db.add(r);
    db.add_failed({r.key, "u", "fault", "SIGSEGV", r.from});
    db.add_failures(r.key, {"timeout", 1, "slow"});
    db.add_workload(r.key.workload, "script");
    db.add_code(r.key, "t", r.from, {std::byte{1}});
    const bool leased = db.lease(r.key, 10);
    db.renew(r.key, 10);
    db.release(r.key);
    return leased && db.chosen(r.key) && db.failures(r.key).size() == 2 && !db.persistent() &&
           !db.status().empty();
  }));
}

TEST_CASE("a locked file: reading works, writing is kept in memory") {
  const folder f;
  database db(f.file());
  db.add(sample("a", 1, true));
  const sqlite_api* api = sqlite();
  sqlite3* raw = nullptr;
  api->open_v2(f.file().c_str(), &raw, sqlite_api::open_read_write, nullptr);
  REQUIRE(api->exec(raw, "begin immediate", nullptr, nullptr, nullptr) == sqlite_api::ok);
  db.add(sample("b", 0.5, true));
  CHECK(db.chosen(sample("", 1).key)->trace == "b");
  CHECK(db.status().find("locked") != std::string::npos);
  api->exec(raw, "rollback", nullptr, nullptr, nullptr);
  api->close_v2(raw);
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
