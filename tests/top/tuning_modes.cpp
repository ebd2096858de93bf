#include <tilewright/tuned.hpp>

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Eigen/Core>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <tilewright/ir/key.hpp>
#include <tilewright/search/database/database.hpp>

#include "top/product.hpp"

using namespace tilewright;
using namespace products;

namespace {

/// A process beside this one, which a pipe stops at a point of its own choosing.
class other_process {
 public:
  template <class Work>
  explicit other_process(const Work& work) {
    REQUIRE(pipe(says_) == 0);
    REQUIRE(pipe(hears_) == 0);
    pid_ = fork();
    if (pid_ != 0) return;
    work(*this);
    _exit(0);
  }
  ~other_process() { end(); }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  // in the other process
  void say() const { CHECK(write(says_[1], "x", 1) == 1); }
  void hear() const {
    char c = 0;
    CHECK(read(hears_[0], &c, 1) == 1);
  }
  // in this one
  void wait_for_it() const {
    char c = 0;
    CHECK(read(says_[0], &c, 1) == 1);
  }
  void let_go() const { CHECK(write(hears_[1], "x", 1) == 1); }
  void end() {
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void murder() {
    kill(pid_, SIGKILL);
    end();
  }

 private:
  int says_[2], hears_[2];
  pid_t pid_ = 0;
};

/// Tunes `p` and stops after the first measurement until it is told to go on.
void tune_and_stop(const other_process& self, const std::string& file, problem p) {
  tuned_options o = quick(file);
  o.seconds = 60;
  bool first = true;
  o.events = [&](const search::event& e) {
    if (e.what != search::event::kind::progress || !first) return;
    first = false;
    self.say();
    self.hear();
  };
  tuned{product, o}(p.a, p.b, p.c);
}

/// Calls until the report holds `text`; false after half a minute.
template <class Op>
bool comes_to(const Op& op, problem& p, const std::string& text) {
  for (int i = 0; i < 600; ++i) {
    if (!p.right(op)) return false;
    if (op.report(p.a, p.b, p.c).find(text) != std::string::npos) return true;
    usleep(50000);
  }
  return false;
}

}  // namespace

TEST_CASE("who loses the tuning to another process takes its result when it is there" *
          doctest::skip(!forks_usable)) {
  for (const mode m : {mode::now, mode::background}) {
    const folder f;
    problem p;
    other_process other{[&](const other_process& self) { tune_and_stop(self, f.file(), p); }};
    other.wait_for_it();
    const tuned op{product, quick(f.file(), m)};
    CHECK(p.right(op));
    CHECK(op.report(p.a, p.b, p.c).find("fallback") != std::string::npos);
    CHECK(p.right(op));  // still
    other.let_go();
    CHECK(comes_to(op, p, "stored code"));
    other.end();
  }
}

TEST_CASE("what an earlier revision chose is timed beside the default schedule, once") {
  for (const mode m : {mode::now, mode::background}) {
    const folder f;
    problem p;
    search::record old;
    {
      const tuned op{product, quick(f.file())};
      CHECK(p.right(op));
      search::database db(f.file());
      old = db.all([](const search::record& r) { return r.chosen; }).at(0);
      const int here = old.from.revision;
      REQUIRE(here > 1);
      old.from.revision = here - 1;
      old.seconds = {100};  // s: whatever is measured now is faster
      db.add(old);
      REQUIRE(db.chosen(old.key)->from.revision == here - 1);
    }
    {
      const tuned off{product, quick(f.file(), mode::off)};  // measures nothing
      CHECK(p.right(off));
      CHECK(search::database(f.file()).chosen(old.key)->from.revision == old.from.revision);
    }
    {
      const tuned op{product, quick(f.file(), m)};
      CHECK(p.right(op));
      CHECK(comes_to(op, p, "tuned by this process"));
      CHECK(op.report(p.a, p.b, p.c).find("0 candidates measured") != std::string::npos);
    }
    const search::record renewed = *search::database(f.file()).chosen(old.key);
    CHECK(renewed.from.revision == old.from.revision + 1);
    CHECK(renewed.best() < 100);
    const tuned later{product, quick(f.file(), m)};
    CHECK(p.right(later));
    CHECK(later.report(p.a, p.b, p.c).find("stored code") != std::string::npos);
  }
}

TEST_CASE("who loses the tuning takes the other's place when that one dies" *
          doctest::skip(!forks_usable)) {
  const folder f;
  problem p;
  other_process other{[&](const other_process& self) { tune_and_stop(self, f.file(), p); }};
  other.wait_for_it();
  const tuned op{product, quick(f.file())};
  CHECK(p.right(op));
  CHECK(op.report(p.a, p.b, p.c).find("another process is tuning") != std::string::npos);
  other.murder();
  CHECK(comes_to(op, p, "tuned by this process"));
}

TEST_CASE("a child takes the result of the tuning that its parent does in the background" *
          doctest::skip(!forks_usable)) {
  const folder f;
  problem p;
  std::atomic<bool> hold{true}, held{false};
  tuned_options o = quick(f.file(), mode::background);
  o.seconds = 60;
  o.events = [&](const search::event& e) {
    if (e.what == search::event::kind::progress) held = true;
    while (held && hold) usleep(1000);
  };
  const tuned op{product, o};
  CHECK(p.right(op));
  while (!held) usleep(1000);
  other_process child{[&](const other_process& self) {
    op.wait();  // this process has no thread to wait for
    const bool at_once = p.right(op);
    self.say();
    _exit(at_once && comes_to(op, p, "stored code") ? 0 : 1);
  }};
  child.wait_for_it();
  hold = false;
  op.wait();
  CHECK(comes_to(op, p, "tuned by this process"));
}

TEST_CASE("two threads with one database tune a key once") {
  const folder f;
  std::atomic<int> sessions{0};
  tuned_options o = quick(f.file());
  o.events = [&](const search::event& e) {
    if (e.what == search::event::kind::progress && e.state.trials == 1) {
      ++sessions;
      usleep(200000);
    }
  };
  const tuned one{product, o}, two{product, o};
  problem p, q = p;
  std::thread beside([&] { p.right(one); });
  q.right(two);
  beside.join();
  CHECK(sessions == 1);
  const bool first = one.report(p.a, p.b, p.c).find("tuned by this process") != std::string::npos;
  CHECK((first ? comes_to(two, q, "stored code") : comes_to(one, p, "stored code")));
  CHECK(sessions == 1);
}

TEST_CASE("cancelling ends one tuning, keeps what was measured, and is not for ever") {
  const folder f;
  problem p, other(48, 72, 64);
  tuned_options o = quick(f.file());
  o.seconds = 60;
  o.trials = 1 << 20;
  std::atomic<int> limit{3};
  std::function<void()> stop;
  o.events = [&](const search::event& e) {
    if (e.what == search::event::kind::progress && e.state.trials >= limit) stop();
  };
  const tuned op{product, o};
  stop = [&] { op.cancel(); };
  CHECK(p.right(op));
  const std::size_t measured = search::database(f.file()).all().size();
  CHECK(measured >= 3);
  CHECK_FALSE(
      search::database(f.file()).all([](const search::record& r) { return r.chosen; }).size());
  CHECK(op.report(p.a, p.b, p.c).find("3 candidates measured") != std::string::npos);
  limit = 5;
  CHECK(other.right(op));  // tunes again
  CHECK(op.report(other.a, other.b, other.c).find("5 candidates measured") != std::string::npos);
  limit = 4;
  op.warm(p.a, p.b, p.c);  // goes on
  CHECK(op.report(p.a, p.b, p.c).find("4 candidates measured") != std::string::npos);
}

TEST_CASE("warming that is cancelled does not begin anew by itself") {
  tuned_options o = quick(":memory:");
  o.seconds = 60;
  int measured = 0;
  std::function<void()> stop;
  o.events = [&](const search::event& e) {
    if (e.what != search::event::kind::progress) return;
    ++measured;
    stop();
  };
  const tuned op{product, o};
  stop = [&] { op.cancel(); };
  const auto warm_it = [&] { warm(op, {{"M", 24}, {"K", 16}, {"N", 20}}, storage::row_major); };
  warm_it();
  CHECK(measured == 1);
  warm_it();  // asked for again, it goes on
  CHECK(measured == 2);
}

TEST_CASE("cancelling in the background") {
  problem p;
  tuned_options o = quick(":memory:", mode::background);
  o.seconds = 600;
  o.trials = 1 << 20;
  const tuned op{product, o};
  CHECK(p.right(op));
  op.cancel();
  op.wait();
  CHECK(p.right(op));
  problem q(8, 8, 8);
  CHECK(q.right(op));
  cancel(op);
  op.wait();
}

TEST_CASE("ops share a database that the program holds") {
  const auto held = std::make_shared<search::database>(":memory:");
  tuned_options o = quick();
  o.own_database = held;
  matrix a = matrix::Ones(8, 6), b = matrix::Ones(6, 7), c(8, 7);
  tuned first{product, o};
  first(a, b, c);
  CHECK(held->all().size() >= 4);
  o.mode = mode::miss_error;
  tuned second{product, o};
  second(a, b, c);
  CHECK(c(3, 4) == 6.0f);
}

TEST_CASE("a database of the user's own keeps what is tuned, and gives it back") {
  struct table final : search::database {
    table() : database(":memory:") {}
    void add(const search::record& r) override {
      const std::lock_guard lock(mutex);
      rows.push_back(r);
    }
    std::optional<search::record> chosen(const search::record_key& key) const override {
      const std::lock_guard lock(mutex);
      for (const search::record& r : rows)
        if (r.chosen && r.key == key) return r;
      return std::nullopt;
    }
    mutable std::mutex mutex;
    std::vector<search::record> rows;
  };
  const auto mine = std::make_shared<table>();
  tuned_options o = quick();
  o.own_database = mine;
  matrix a = matrix::Ones(8, 6), b = matrix::Ones(6, 7), c(8, 7);
  tuned first{product, o};
  first(a, b, c);
  CHECK(mine->rows.size() >= 5);
  CHECK(mine->rows.back().chosen);
  CHECK(mine->all().empty());  // the base got none of them
  o.mode = mode::miss_error;
  tuned second{product, o};
  second(a, b, c);
  CHECK(c(3, 4) == 6.0f);
  CHECK_THROWS_AS(second(matrix(a.topRows(3)), b, c), const argument_error&);
}

TEST_CASE("budgets that make no sense are refused") {
  const auto refusal = [](const tuned_options& o) {
    try {
      tuned op{product, o};
    } catch (const argument_error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(refusal({.seconds = -1}) == "product: seconds has to be 0 or more");
  CHECK(refusal({.seconds = NAN}) == "product: seconds has to be 0 or more");
  CHECK(refusal({.trials = -1}) == "product: trials has to be 0 or more");
  CHECK(refusal({.target = -1e-9}) == "product: target has to be 0 or more");
  CHECK(refusal({.patience = -1}) == "product: patience has to be 0 or more");
  CHECK(refusal({.gain = -1}) == "product: gain has to be 0 or more");
}

TEST_CASE("the stop rules combine") {
  problem p;
  const auto trials_with = [&](const auto& change) {
    tuned_options o = quick();
    o.seconds = 60;
    o.trials = 40;
    int trials = 0;
    change(o);
    o.events = [&](const search::event& e) { trials = std::max(trials, e.state.trials); };
    CHECK(p.right(tuned{product, o}));
    return trials;
  };
  CHECK(trials_with([](tuned_options& o) { o.trials = 3; }) == 3);
  CHECK(trials_with([](tuned_options& o) { o.target = 3600; }) == 0);  // the default is that fast
  CHECK(trials_with([](tuned_options& o) { o.target = 1e-12; }) > 3);
  const int patient = trials_with([](tuned_options& o) { o.patience = 2; });
  CHECK(patient >= 2);
  CHECK(patient < 40);
  CHECK(trials_with([](tuned_options& o) { o.seconds = 0; }) == 0);
  CHECK(trials_with([](tuned_options& o) {
          o.trials = 60;
          o.gain = 1;
        }) == 32);  // as few as can tell
}

TEST_CASE("efforts: an estimate measures nothing, exhaustive has no end in time") {
  problem p;
  int events = 0, learned = 0, scored = 0;
  tuned_options o = quick();
  o.effort = effort::estimate;
  o.events = [&](const search::event& e) { events += e.what == search::event::kind::progress; };
  const tuned plain{product, o};
  CHECK(p.right(plain));
  CHECK(plain.report(p.a, p.b, p.c).find("estimated") != std::string::npos);  // by the prior
  o.model.score = [&](const std::vector<search::candidate>& all) {
    ++scored;
    std::vector<double> out;
    for (std::size_t i = 0; i < all.size(); ++i) out.push_back(static_cast<double>(i));
    return out;
  };
  o.model.learn = [&](const auto&, const auto&) { ++learned; };
  const tuned ranked{product, o};
  CHECK(p.right(ranked));
  CHECK(ranked.report(p.a, p.b, p.c).find("estimated") != std::string::npos);
  CHECK(events == 0);
  CHECK(learned == 0);
  CHECK(scored == 1);

  tuned_options all = quick();
  all.seconds = 0;
  all.effort = effort::exhaustive;
  const tuned thorough{product, all};
  CHECK(p.right(thorough));
  CHECK(thorough.report(p.a, p.b, p.c).find("4 candidates measured") != std::string::npos);
}

TEST_CASE("a host program hears of misses, progress, swaps and failures") {
  problem p;
  std::vector<search::event> heard;
  std::mutex mutex;
  tuned_options o = quick(":memory:", mode::background);
  o.events = [&](const search::event& e) {
    const std::lock_guard lock(mutex);
    heard.push_back(e);
  };
  const tuned op{product, o};
  CHECK(p.right(op));
  op.wait();
  using kind = search::event::kind;
  REQUIRE(heard.size() >= 3);
  CHECK(heard.front().what == kind::miss);
  CHECK(heard.front().kernel == "product");
  CHECK(heard.front().text.find("no schedule is stored") != std::string::npos);
  CHECK(heard[1].what == kind::progress);
  CHECK(heard.back().what == kind::swap);
  CHECK(heard.back().text.find("tuned by this process") != std::string::npos);

  heard.clear();
  o.mode = mode::now;
  o.model.score = [](const std::vector<search::candidate>&) -> std::vector<double> {
    throw build_error("a model that fails");
  };
  o.model.oversample = 4;
  CHECK_THROWS_AS(tuned(product, o)(p.a, p.b, p.c), build_error);
  CHECK(heard.back().what == kind::failure);
  CHECK(heard.back().text == "a model that fails");
}

TEST_CASE("an op is warmed for extents alone") {
  const folder f;
  {
    const tuned op{product, quick(f.file())};
    warm(op, {{"M", 96}, {"K", 64}, {"N", 80}}, storage::column_major);
    const auto refusal = [&](const search::extent_map& extents) {
      try {
        warm(op, extents);
      } catch (const argument_error& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    CHECK(refusal({{"M", 96}, {"K", 64}}) == "product: extent \"N\" of \"B\" is missing");
    CHECK(refusal({{"M", 96}, {"K", 64}, {"N", 80}, {"P", 1}}) ==
          "product: it has no dimension \"P\"; its dimensions are M, K, N");
    const std::int64_t huge = std::int64_t{1} << 40;
    CHECK(refusal({{"M", huge}, {"K", huge}, {"N", huge}}).find("beyond what memory can hold") !=
          std::string::npos);
    problem p;
    CHECK(p.right(op));
    CHECK(op.report(p.a, p.b, p.c).find("tuned by this process") != std::string::npos);
  }
  problem p;
  const tuned frozen{product, quick(f.file(), mode::miss_error)};
  CHECK(p.right(frozen));
}

TEST_CASE("child that logs" * doctest::skip()) {
  problem p;
  CHECK(p.right(tuned{product, quick()}));
}

TEST_CASE("child that logs and measures nothing" * doctest::skip()) {
  problem p;
  tuned_options o = quick();
  o.target = 3600;  // the default is that fast
  CHECK(p.right(tuned{product, o}));
}

TEST_CASE("TILEWRIGHT_LOG asks for lines of progress, which are absent otherwise") {
  const folder f;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto logged = [&](const std::string& variable, const std::string& child) {
    const std::string to = f.path + "/log";
    CHECK(std::system((variable + " TILEWRIGHT_DB= '" + self + "' -ns -tc='" + child +
                       "' > /dev/null 2> '" + to + "'")
                          .c_str()) == 0);
    std::stringstream text;
    text << std::ifstream(to).rdbuf();
    return text.str();
  };
  const std::string measuring = "child that logs", idle = "child that logs and measures nothing";
  CHECK(logged("TILEWRIGHT_LOG=1", measuring).find("product: ") == 0);
  CHECK(logged("TILEWRIGHT_LOG=0", measuring) == "");
  CHECK(logged("TILEWRIGHT_LOG=1", idle) ==
        "product: no candidate was measured: the default schedule meets the target\n");
  CHECK(logged("TILEWRIGHT_LOG=0", idle) == "");
}
