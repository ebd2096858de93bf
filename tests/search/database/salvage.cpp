#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/store.hpp>

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "records.hpp"

using namespace tilewright::search;
using namespace records;

namespace {

/// 400 records and as many failed candidates, and two pages in the middle that are overwritten.
void make_damaged(const std::string& file) {
  {
    database db(file);
    for (int i = 0; i < 400; ++i) {
      const record r =
          sample("trace " + std::to_string(i) + std::string(500, 'x'), 1 + i, true, i + 1);
      db.add(r);
      db.add_failed({r.key, r.trace, "fault", "SIGSEGV", r.from});
    }
    db.add_workload("w1", "a script");
  }
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(4096 * 20);
  for (int i = 0; i < 4096 * 2; ++i) bytes.put('\x5a');
}

/// Names and contents of the files of a folder.
std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream from(entry.path(), std::ios::binary);
    out[entry.path().filename()] = {std::istreambuf_iterator<char>(from), {}};
  }
  return out;
}

}  // namespace

TEST_CASE("a damaged file is salvaged row by row and kept") {
  const folder f;
  make_damaged(f.file());
  database db(f.file());
  const std::size_t left = db.all().size();
  CHECK(left > 300);
  CHECK(left < 400);
  CHECK(db.all_failed().size() > 300);
  CHECK(db.status().find("was damaged") != std::string::npos);
  CHECK(std::filesystem::exists(f.file() + ".damaged"));
  db.add(sample("after", 1, true, 999));
  CHECK(db.persistent());
  CHECK(database(f.file()).all().size() == left + 1);
}

TEST_CASE("rows of a damaged file that lead back to each other are saved once") {
  const folder f;
  std::filesystem::copy_file("tests/search/data/rows_in_a_circle.db", f.file());
  std::filesystem::permissions(
      f.file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  database db(f.file());
  std::set<std::string> traces;
  for (const record& r : db.all()) CHECK(traces.insert(r.trace).second);
  CHECK(traces.size() > 10);
  CHECK(db.status().find("was damaged") != std::string::npos);
  CHECK(std::filesystem::file_size(f.file()) < 1000000);
}

TEST_CASE("rows of the first page's tables are found when nothing of their description is left") {
  const folder f;
  {
    database db(f.file());
    for (int i = 0; i < 100; ++i) {
      const record r = sample("trace " + std::to_string(i), 1 + i, true, i + 1);
      db.add(r);
      db.add_failed({r.key, r.trace, "fault", "SIGSEGV", r.from});
      db.add_failures(r.key, {"timeout", 3, "slow"});
      db.add_workload(r.key.workload, std::string(20000, 's') + std::to_string(i));  // many pages
    }
  }
  {
    std::fstream bytes(f.file(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(100);  // behind the header
    for (int i = 100; i < 2000; ++i) bytes.put('\x5a');
  }
  database db(f.file());
  CHECK(db.all().size() == 100);
  CHECK(db.all_failed().size() == 100);
  CHECK(db.status().find("was damaged: 100 records were saved;") != std::string::npos);
  for (int i = 0; i < 100; ++i) {
    const record_key key = sample("", 1, true, i + 1).key;
    CHECK(db.chosen(key)->trace == "trace " + std::to_string(i));
    CHECK(db.workload(key.workload) == std::string(20000, 's') + std::to_string(i));
    REQUIRE(db.failures(key).size() == 2);
    CHECK(db.failures(key)[0].count == 3);
  }
  CHECK(db.persistent());
}

TEST_CASE("records in the log of a damaged file are saved too") {
  const folder f, other;
  database(f.file()).add(sample("back in the file", 1, true, 1));
  database open(f.file());
  for (int i = 2; i < 20; ++i) open.add(sample("in the log", 1, true, i));
  for (const char* tail : {"", "-wal"})
    std::filesystem::copy_file(f.file() + tail, other.file() + tail);
  {
    std::fstream bytes(other.file(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(0);
    bytes.put('s');  // of "SQLite format 3"
  }
  const database db(other.file());
  CHECK(db.all().size() == 19);
  CHECK(db.status().find("19 records were saved") != std::string::npos);
}

TEST_CASE("a link to a damaged file stays a link") {
  const folder f, other;
  make_damaged(f.file());
  std::filesystem::create_symlink(f.file(), other.file());
  const std::size_t saved = database(other.file()).all().size();
  CHECK(saved > 300);
  CHECK(std::filesystem::is_symlink(other.file()));
  CHECK(database::reading(f.file())->all().size() == saved);
  CHECK(std::filesystem::exists(f.file() + ".damaged"));
}

TEST_CASE("a damaged file that is only read is left as it is, and what can be read of it is read") {
  const folder f;
  make_damaged(f.file());
  const auto before = contents(f.path);
  {
    const auto db = database::reading(f.file());
    const std::size_t read = db->all().size();
    CHECK(read > 300);
    CHECK(read < 400);
    CHECK(db->all_failed().size() > 300);
    CHECK(db->workload("w1") == "a script");
    CHECK(db->status().find("is damaged and left as it is: " + std::to_string(read) +
                            " records were read, " + std::to_string(400 - read) +
                            " were not readable") != std::string::npos);
    db->add(sample("mine", 1));
    CHECK(db->all().size() == read + 1);  // in memory
    const database behind(f.path + "/mine.db:" + f.file());
    CHECK(behind.all().size() == read);
    CHECK(behind.workload("w1") == "a script");
    CHECK(behind.status().find("is damaged and left as it is") != std::string::npos);
  }
  auto after = contents(f.path);
  // what SQLite needs beside a file that is open may stay
  std::erase_if(after, [&](const auto& file) { return before.count(file.first) == 0; });
  CHECK((after == before));
}

TEST_CASE("a damaged file that this user may not write is read too, and stays") {
  for (const int folder_mode : {0555, 0777}) {
    const folder f;
    make_damaged(f.file());
    const auto before = contents(f.path);
    REQUIRE(chmod(f.file().c_str(), 0444) == 0);
    REQUIRE(chmod(f.path.c_str(), static_cast<mode_t>(folder_mode)) == 0);
    CHECK(in_child([&] {
      if (geteuid() == 0 && setuid(65534) != 0) return false;
      return database::reading(f.file())->all().size() > 300 &&
             database(f.file()).all().size() > 300;
    }));
    REQUIRE(chmod(f.path.c_str(), 0755) == 0);
    CHECK((contents(f.path) == before));
  }
}

TEST_CASE("what is no database, or not there, gives nothing when it is read") {
  const folder f;
  const std::string text = f.path + "/text.db";
  std::ofstream(text) << "this is a text file, long enough to have a wrong header, "
                      << std::string(2000, '.');
  const auto before = contents(f.path);
  for (const std::string& path : {text, f.path + "/none.db"}) {
    const auto db = database::reading(path);
    CHECK(db->all().empty());
    CHECK(db->status().find(path) != std::string::npos);
  }
  CHECK((contents(f.path) == before));
}
