#include <tilewright/impl/search/database/sqlite_image.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <tilewright/support/random.hpp>

#include "records.hpp"

using namespace tilewright;
using namespace tilewright::search;
using records::folder;

namespace {

/// Runs statements on a file and leaves it as a process that is killed does.
class writer {
 public:
  explicit writer(const std::string& path) {
    api_->open_v2(path.c_str(), &db_, sqlite_api::open_read_write | sqlite_api::open_create,
                  nullptr);
  }
  ~writer() { api_->close_v2(db_); }
  void run(const std::string& sql) {
    CHECK(api_->exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == sqlite_api::ok);
  }

 private:
  const sqlite_api* api_ = sqlite();
  sqlite3* db_ = nullptr;
};

/// Number and text of the rows of two columns, whose second one is a text.
std::map<std::int64_t, std::string> rows_of(const std::string& path) {
  std::map<std::int64_t, std::string> out;
  const sqlite_image::pages pages(path);
  pages.each([&](std::uint32_t number, const std::string& page) {
    const sqlite_page::leaf leaf = pages.leaf(page, number);
    for (std::size_t i = 0; i < leaf.size(); ++i) {
      const auto c = leaf.at(i);
      const auto bytes = c ? pages.whole(*c) : std::nullopt;
      const auto row = bytes ? sqlite_page::read_row(*bytes) : std::nullopt;
      if (row && row->size() == 2) out[c->rowid] = std::string((*row)[1].bytes);
    }
  });
  return out;
}

std::string text_of(int i) {
  return std::to_string(i) + std::string(static_cast<std::size_t>(i * i), 't');
}

std::string insert(int i) {
  return "insert into t values(" + std::to_string(i) + ", '" + text_of(i) + "');";
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("rows are read as SQLite wrote them, at every size of a page") {
  for (const int size : {512, 1024, 4096, 65536}) {
    const folder f;
    {
      writer w(f.file());
      w.run("pragma page_size=" + std::to_string(size) +
            "; create table t(a integer primary key, b)");
      for (int i = 1; i < 120; ++i) w.run(insert(i));
    }
    CHECK(sqlite_image::pages(f.file()).page_size() == static_cast<std::size_t>(size));
    const auto rows = rows_of(f.file());
    REQUIRE(rows.size() == 119);
    for (const auto& [number, text] : rows) CHECK(text == text_of(static_cast<int>(number)));
  }
}

TEST_CASE("the size of a page is found where the header has lost it") {
  for (const int size : {512, 4096, 16384}) {
    const folder f;
    {
      writer w(f.file());
      w.run("pragma page_size=" + std::to_string(size) +
            "; create table t(a integer primary key, b)");
      for (int i = 1; i < 120; ++i) w.run(insert(i));
    }
    {
      std::fstream bytes(f.file(), std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekp(16);
      bytes.put('\x03').put('\x03');
    }
    CHECK(sqlite_image::pages(f.file()).page_size() == static_cast<std::size_t>(size));
    CHECK(rows_of(f.file()).size() == 119);
  }
}

TEST_CASE("what was committed to the log lies over the file, and what was not does not") {
  const folder f, killed;
  writer w(f.file());
  w.run("create table t(a integer primary key, b); pragma journal_mode=wal;");
  for (int i = 1; i < 40; ++i) w.run(insert(i));
  w.run("pragma wal_checkpoint(truncate)");
  for (int i = 40; i < 60; ++i) w.run(insert(i));
  w.run("pragma cache_size=1; begin");
  for (int i = 60; i < 120; ++i) w.run(insert(i));  // written where the cache is full
  for (const char* tail : {"", "-wal"})
    std::filesystem::copy_file(f.file() + tail, killed.file() + tail);
  const auto rows = rows_of(killed.file());
  REQUIRE(rows.size() == 59);
  for (const auto& [number, text] : rows) CHECK(text == text_of(static_cast<int>(number)));
  // cut anywhere, a log holds what was committed before
  const std::string log = bytes_of(killed.file() + "-wal");
  for (std::size_t cut = 0; cut < log.size(); cut += 1777) {
    std::ofstream(killed.file() + "-wal", std::ios::binary) << log.substr(0, cut);
    const auto fewer = rows_of(killed.file());
    CHECK(fewer.size() >= 39);
    for (const auto& [number, text] : fewer) CHECK(text == text_of(static_cast<int>(number)));
  }
}

TEST_CASE("pages that are not in use are known") {
  const folder f;
  {
    writer w(f.file());
    w.run("create table t(a integer primary key, b)");
    for (int i = 1; i < 120; ++i) w.run(insert(i));
    w.run("delete from t where a > 5");
  }
  const auto unused = sqlite_image::pages(f.file()).unused();
  REQUIRE(unused);
  CHECK(unused->size() > 20);
  {
    std::fstream bytes(f.file(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(39);
    bytes.put(1);  // their number
  }
  CHECK_FALSE(sqlite_image::pages(f.file()).unused());
}

TEST_CASE("whatever a file and its log hold, reading them ends and stays inside") {
  const folder f;
  {
    writer w(f.file());
    w.run("create table t(a integer primary key, b); pragma journal_mode=wal;");
    for (int i = 1; i < 100; ++i) w.run(insert(i));
    w.run("delete from t where a > 90");
    for (const char* tail : {"", "-wal"})
      std::filesystem::copy_file(f.file() + tail, f.path + "/k" + tail);
  }
  const std::string file = bytes_of(f.file()), log = bytes_of(f.path + "/k-wal");
  support::random random(23);
  for (int round = 0; round < 60; ++round) {
    const folder here;
    std::string bad = file, bad_log = log;
    const std::uint64_t flips = random.below(round % 2 ? 20 : 4000);
    for (std::uint64_t i = 0; i < flips; ++i)
      bad[random.below(bad.size())] ^= static_cast<char>(1 + random.below(255));
    if (round % 3 == 0) bad_log[random.below(bad_log.size())] ^= 4;
    if (round % 5 == 0) bad.resize(random.below(bad.size()));
    std::ofstream(here.file(), std::ios::binary) << bad;
    if (round % 4 == 0) std::ofstream(here.file() + "-wal", std::ios::binary) << bad_log;
    CHECK(rows_of(here.file()).size() < 10000);
    sqlite_image::pages(here.file()).unused();
  }
}

TEST_CASE("rows that lead into a circle of pages end") {
  // a leaf of 60 cells, each of a row of 900,300 bytes that begins on page 2, which follows itself
  const folder f;
  std::string page(4096, '\0'), circle(4096, 'x');
  page[100] = 13;
  page[104] = 60;
  for (std::size_t i = 0; i < 60; ++i) {
    const std::size_t at = 1000;
    page[108 + 2 * i] = static_cast<char>(at >> 8);
    page[109 + 2 * i] = static_cast<char>(at & 0xff);
  }
  page.replace(1000, 4, std::string("\xb6\xf9\x4c\x01", 4));
  circle.replace(0, 4, std::string("\0\0\0\2", 4));
  page.replace(16, 2, std::string("\x10\0", 2));
  page.replace(1004 + 489, 4, std::string("\0\0\0\2", 4));  // 489 bytes of such a row stay here
  std::ofstream(f.file(), std::ios::binary) << page << circle;
  const sqlite_image::pages pages(f.file());
  int found = 0;
  pages.each([&](std::uint32_t number, const std::string& bytes) {
    const sqlite_page::leaf leaf = pages.leaf(bytes, number);
    for (std::size_t i = 0; i < leaf.size(); ++i)
      if (const auto c = leaf.at(i)) found += pages.whole(*c).has_value();
  });
  CHECK(found < 2);
}
