// What a path may lead to that is no database of this version, or cannot be written.
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/store.hpp>
#include <tilewright/support/hash.hpp>

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include "records.hpp"

using namespace tilewright::search;
using namespace records;

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

TEST_CASE("a folder that cannot be made is named, and what to write instead") {
  const folder f;
  std::ofstream(f.file()) << "a file where a folder is asked for";
  const std::string wanted = f.file() + "/below/records.db";
  database db(wanted);
  db.add(sample("kept in memory", 1, true, 1));
  CHECK(db.all().size() == 1);
  CHECK(!db.persistent());
  CHECK(db.status() ==
        "records are kept in memory: cannot make the folder of " + wanted +
            "; TILEWRIGHT_DB or the option database has to name a file that can be written: Not a "
            "directory");
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
