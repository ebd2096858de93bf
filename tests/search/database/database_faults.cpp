// What a database survives: writers that are killed, many processes, bits that flip. A few rounds
// by default; the target `database_faults` asks for many.
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/store.hpp>

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <tilewright/support/random.hpp>

#include "records.hpp"

using namespace tilewright;
using namespace tilewright::search;
using records::folder;

namespace {

int rounds(int usual) {
  const char* asked = std::getenv("TILEWRIGHT_FAULT_ROUNDS");
  return asked ? std::max(std::atoi(asked), 1) : usual;
}

record numbered(int writer, int n) {
  record r;
  r.key = {"w" + std::to_string(n % 7), "+avx2", "r", 1};
  r.family = "faults";
  r.extents = {writer, n};
  r.trace = std::to_string(writer) + "/" + std::to_string(n) + std::string(200, '.');
  r.seconds = {1e-3};
  r.from = {"cpu", "19", "2026-01-31T12:00:00Z", 1};
  r.chosen = n % 3 == 0;
  return r;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Adds records until it is killed, and says through `told` how many the database has accepted.
[[noreturn]] void write_until_killed(const std::string& file, int writer, int told) {
  database db(file);
  for (int n = 0;; ++n) {
    db.add(numbered(writer, n));
    if (!db.persistent()) continue;
    if (write(told, &writer, sizeof writer) != sizeof writer) _exit(1);
  }
}

}  // namespace

TEST_CASE("killing four writers at any moment loses no record that was committed") {
  support::random random(7);
  for (int round = 0; round < rounds(6); ++round) {
    const folder f;
    constexpr int writers = 4;
    int told[2];
    REQUIRE(pipe(told) == 0);
    std::vector<pid_t> children;
    for (int w = 0; w < writers; ++w) {
      const pid_t child = fork();
      if (child == 0) write_until_killed(f.file(), w, told[1]);
      children.push_back(child);
    }
    close(told[1]);
    usleep(static_cast<useconds_t>(20000 + random.below(150000)));
    for (const pid_t child : children) kill(child, SIGKILL);
    for (const pid_t child : children) waitpid(child, nullptr, 0);
    std::vector<int> committed(writers, 0);
    for (int w = 0; read(told[0], &w, sizeof w) == sizeof w;)
      ++committed[static_cast<std::size_t>(w)];
    close(told[0]);
    const database db(f.file());
    CHECK(db.status() == "");
    std::vector<std::set<std::int64_t>> found(writers);
    for (const record& r : db.all())
      found[static_cast<std::size_t>(r.extents[0])].insert(r.extents[1]);
    CHECK(db.skipped() == 0);
    for (std::size_t w = 0; w < writers; ++w)
      for (int n = 0; n < committed[w]; ++n) CHECK_MESSAGE(found[w].count(n) == 1, w << "/" << n);
  }
}

TEST_CASE("eight processes share one file") {
  const folder f;
  std::vector<pid_t> children;
  constexpr int each = 25;
  for (int w = 0; w < 8; ++w) {
    const pid_t child = fork();
    if (child == 0) {
      bool good = true;
      {
        database db(f.file());
        for (int n = 0; n < each; ++n) {
          db.add(numbered(w, n));
          good &= db.chosen(numbered(w, 0).key).has_value();
        }
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  const database db(f.file());
  CHECK(db.status() == "");
  CHECK(db.all().size() == 8 * each);
  std::set<std::string> chosen;
  for (const record& r : db.all([](const record& x) { return x.chosen; }))
    CHECK(chosen.insert(r.key.workload).second);
}

TEST_CASE("flipped bytes: the file opens or is salvaged, and what is read was written") {
  const folder f;
  std::set<std::string> written;
  {
    database db(f.file());
    for (int n = 0; n < 150; ++n) {
      db.add(numbered(0, n));
      written.insert(numbered(0, n).trace);
    }
  }
  const std::string good = bytes_of(f.file());
  support::random random(11);
  for (int round = 0; round < rounds(12); ++round) {
    std::string bad = good;
    for (int flips = 0; flips < 200; ++flips)
      bad[random.below(bad.size())] ^= static_cast<char>(1 + random.below(255));
    const folder here;
    std::ofstream(here.file(), std::ios::binary) << bad;
    bool left_alone = false;
    {
      database db(here.file());
      for (const record& r : db.all()) CHECK(written.count(r.trace) == 1);
      db.add(numbered(1, 1));
      // the flips have made it the file of a newer version, or of another program
      left_alone = db.status().find("left as it is") != std::string::npos;
      CHECK(db.persistent() == !left_alone);
    }
    if (left_alone) continue;
    const database again(here.file());
    bool there = false;
    for (const record& r : again.all()) there |= r.extents == std::vector<std::int64_t>{1, 1};
    CHECK(there);
  }
}

TEST_CASE("one flipped bit in the first page loses no row of another page, and not in silence") {
  constexpr int records = 500;
  const folder f;
  {
    database db(f.file());
    for (int n = 0; n < records; ++n) {
      const record r = numbered(0, n);
      db.add(r);
      db.add_failed({r.key, r.trace, "fault", "SIGSEGV", r.from});
      db.add_workload(r.key.workload, "script of " + r.key.workload);
    }
  }
  const std::string good = bytes_of(f.file());
  constexpr std::size_t page = 4096;
  REQUIRE(good.size() > 50 * page);
  support::random random(17);
  std::map<std::string, int> outcomes;
  std::set<std::size_t> flipped;
  for (int round = 0; round < rounds(60); ++round) {
    std::size_t bit = 0;
    do {
      bit = static_cast<std::size_t>(random.below(page * 8));
    } while (!flipped.insert(bit).second);
    CAPTURE(bit);
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const folder here;
    std::ofstream(here.file(), std::ios::binary) << bad;
    {
      // what only reads finds the same, and changes nothing
      const auto db = database::reading(here.file());
      CHECK(db->all().size() == records);
      CHECK(db->all_failed().size() == records);
      CHECK(bytes_of(here.file()) == bad);
    }
    bool told = false;
    {
      database db(here.file());
      told = !db.status().empty();
      std::set<std::string> found;
      for (const record& r : db.all()) found.insert(r.trace);
      CHECK(found.size() == records);
      CHECK(db.all_failed().size() == records);
      CHECK(db.workload("w3") == "script of w3");
      for (int n = 0; n < 100; ++n) db.add(numbered(1, n));
      CHECK(db.persistent());
      // trouble that shows itself at the first write is told then
      told |= !db.status().empty();
    }
    CHECK(database(here.file()).all().size() == records + 100);
    CHECK(database(here.file()).status() == "");
    CHECK(store(here.file()).intact());
    CHECK(told == std::filesystem::exists(here.file() + ".damaged"));
    ++outcomes[told ? "repaired, and told" : "nothing lost"];
  }
  for (const auto& [outcome, count] : outcomes) MESSAGE(outcome << ": " << count);
}

TEST_CASE("a header that names an unknown schema format is damage: the old file is kept") {
  const folder f;
  { database(f.file()).add(numbered(0, 1)); }
  {
    std::fstream file(f.file(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(47);  // the last byte of the schema format number
    file.put(9);
  }
  database db(f.file());
  CHECK(db.persistent());
  db.add(numbered(1, 1));
  CHECK(database(f.file()).all().size() >= 1);
  CHECK(std::ifstream(f.file() + ".damaged").good());
}

TEST_CASE(
    "flipped bytes of the log of a killed writer: what was checkpointed stays, what is read was "
    "written") {
  const folder f;
  std::set<std::string> checkpointed, written;
  {
    database db(f.file());
    for (int n = 0; n < 40; ++n) {
      db.add(numbered(0, n));
      checkpointed.insert(numbered(0, n).trace);
    }
  }  // the last connection writes the log back
  written = checkpointed;
  for (int n = 40; n < 60; ++n) written.insert(numbered(0, n).trace);
  const pid_t child = fork();
  if (child == 0) {
    database db(f.file());
    for (int n = 40; n < 60; ++n) db.add(numbered(0, n));
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const std::string main = bytes_of(f.file()), log = bytes_of(f.file() + "-wal");
  REQUIRE(log.size() > 1000);
  support::random random(13);
  for (int round = 0; round < rounds(12); ++round) {
    std::string bad = log;
    const std::uint64_t flips = 1 + random.below(200);
    for (std::uint64_t i = 0; i < flips; ++i)
      bad[random.below(bad.size())] ^= static_cast<char>(1 + random.below(255));
    const folder here;
    std::ofstream(here.file(), std::ios::binary) << main;
    std::ofstream(here.file() + "-wal", std::ios::binary) << bad;
    database db(here.file());
    std::set<std::string> found;
    for (const record& r : db.all()) {
      CHECK(written.count(r.trace) == 1);
      found.insert(r.trace);
    }
    for (const std::string& trace : checkpointed) CHECK(found.count(trace) == 1);
    db.add(numbered(1, 1));
    CHECK(db.persistent());
  }
}
