// Where the time of a long task goes: stages by name, each with the time that its thread spent in
// it and not in a stage inside.
//
//   support::stage_clock clock;
//   const support::stage_clock::running here(clock);   // on this thread, until the end of the scope
//   { const support::stage at("compile"); ... }
//   clock.times();
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/support/stage_time.hpp>

namespace tilewright::support {

/// Keeps the time of one thread. Stages that are entered where no clock runs cost a look at a
/// variable of the thread.
class stage_clock {
 public:
  using clock = std::chrono::steady_clock;

  /// Runs a clock on this thread; another one that ran is stopped until the end of the scope.
  class running {
   public:
    explicit running(stage_clock& c) : before_(std::exchange(current(), &c)) {
      c.last_ = clock::now();
    }
    ~running() {
      current()->charge();
      current() = before_;
      if (before_) before_->last_ = clock::now();
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;

   private:
    stage_clock* before_;
  };

  /// The clock that runs on this thread; null where none does.
  static stage_clock*& current() {
    thread_local stage_clock* out = nullptr;
    return out;
  }

  void enter(std::string_view name) {
    charge();
    inside_.push_back(find(name));
    ++stages_[inside_.back()].times;
  }
  void leave() {
    charge();
    inside_.pop_back();
  }

  /// The stages in the order in which they were first entered; what was spent in none is last, as
  /// "other".
  std::vector<stage_time> times() {
    charge();
    std::vector<stage_time> out = stages_;
    out.push_back({"other", rest_, 1});
    return out;
  }

 private:
  std::size_t find(std::string_view name) {
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (stages_[i].name == name) return i;
    stages_.push_back({name});
    return stages_.size() - 1;
  }
  void charge() {
    const clock::time_point now = clock::now();
    const double passed = std::chrono::duration<double>(now - last_).count();
    (inside_.empty() ? rest_ : stages_[inside_.back()].seconds) += passed;
    last_ = now;
  }

  std::vector<stage_time> stages_;
  std::vector<std::size_t> inside_;  // outermost first
  double rest_ = 0;                  // s in no stage
  clock::time_point last_ = clock::now();
};

/// In a stage until the end of the scope, on the thread that made it.
class stage {
 public:
  explicit stage(std::string_view name) : clock_(stage_clock::current()) {
    if (clock_) clock_->enter(name);
  }
  ~stage() {
    if (clock_) clock_->leave();
  }
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

 private:
  stage_clock* clock_;
};

}  // namespace tilewright::support
