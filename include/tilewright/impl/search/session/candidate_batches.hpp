// Candidates that a session measures together, and their code on its way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <tilewright/impl/search/measurement/test_bench.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/function_ref.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search::detail {

/// What a strategy proposes together.
struct proposed_batch {
  std::vector<candidate> candidates;
  bool is_empty = false;  // nothing was proposed; else callbacks may have dropped all of it
};

/// Batches of candidates, one after the other. On a CPU, measurements need the cores that compile, and a batch is
/// built and measured before the next one is proposed. For a GPU, making code takes most of the time, and measuring
/// leaves the cores free: as soon as threads have nothing more to build, others are proposed, and what is ready first
/// is measured first; a batch is then what is measured before a strategy learns from it.
class candidate_batches {
 public:
  /// @param count of candidates
  /// @param coming trials that come before these
  using proposer = support::function_ref<proposed_batch(std::size_t count, std::size_t coming)>;

  /// Workload and bench outlive this.
  candidate_batches(const workload& w, const session_options& o, const test_bench& bench)
      : bench_(bench),
        ahead_(w.machine.gpu != nullptr),
        size_(static_cast<std::size_t>(std::max(o.batch, 0))) {
    // of a number that nobody has named: as many as keep all cores at work
    const auto busy = 2 * static_cast<std::size_t>(target::host().cores);
    if (ahead_ && o.batch == session_options{}.batch) size_ = std::max(size_, busy);
  }

  /// Begins a batch. @returns false when there is nothing to measure, and nothing was proposed
  bool advance(proposer propose) {
    taken_ = 0;
    is_dry_ = false;
    if (!ahead_) end_batch();
    if (ahead_ && queue_)
      look_ahead(propose);
    else
      begin(propose);
    return !is_dry_ || coming_ > 0;
  }

  /// Candidates of this batch that are not taken.
  std::size_t left() const { return ahead_ ? std::min(coming_, size_ - taken_) : coming_; }

  /// Proposes more where that is done ahead, and threads have nothing more to build.
  void look_ahead(proposer propose) {
    if (ahead_ && !is_dry_ && queue_->all_begun()) begin(propose);
  }

  struct taken {
    candidate what;
    built code;
  };
  /// Waits for the code of one that is left.
  taken take() {
    --coming_;
    const std::size_t n = taken_++;
    if (!ahead_) return {std::move(candidates_[n]), queue_->take(n)};
    auto [i, code] = queue_->take_any();
    return {std::move(candidates_[i]), std::move(code)};
  }

  /// Nothing more is taken of this batch: on a CPU, the cores are free when this returns.
  void end_batch() {
    if (ahead_) return;
    queue_.reset();
    candidates_.clear();
    coming_ = 0;
  }

  /// Nothing more is taken at all. What a GPU's compiler is at comes to its end beside what follows.
  void end() {
    end_batch();
    if (queue_) queue_->end();
  }

 private:
  void begin(proposer propose) {
    proposed_batch fresh = propose(size_, coming_);
    is_dry_ = fresh.is_empty;
    std::vector<ir::function> programs;
    for (candidate& c : fresh.candidates) {
      programs.push_back(c.scheduled.function());
      candidates_.push_back(std::move(c));
      ++coming_;
    }
    if (queue_)
      queue_->add(std::move(programs));
    else
      queue_ = bench_.queue(std::move(programs));
  }

  const test_bench& bench_;
  bool ahead_;
  std::size_t size_;
  std::vector<candidate> candidates_;  // as they are numbered in the queue
  std::unique_ptr<build_queue> queue_;
  std::size_t coming_ = 0;  // that are not taken
  std::size_t taken_ = 0;   // of this batch
  bool is_dry_ = false;     // nothing was proposed when this batch last asked
};

}  // namespace tilewright::search::detail
