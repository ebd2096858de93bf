// All members of a space, one after the other: how many there are, and search that leaves none out.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/schedule/possible_decisions.hpp>
#include <tilewright/search/candidate.hpp>

namespace tilewright::search {

/// Walks through the decisions of sketches like an odometer whose last digits are the last draws. A
/// refusal skips all that begins with the decisions before it.
class enumeration {
 public:
  /// @param sketches traces of `f`; what they decide is left out, but for what they fix
  /// @param finish as for `replay`
  enumeration(ir::function f, const std::vector<trace>& sketches, finisher finish = {});

  /// The next member; nothing when there are no more, or `over` says so. Different decisions may
  /// give equal programs.
  std::optional<candidate> next(const std::function<bool()>& over = {});

  std::size_t met() const noexcept { return met_; }          // members that `next` has given
  std::size_t refused() const noexcept { return refused_; }  // beginnings that a primitive refused
  bool at_end() const noexcept { return open_.empty() && sketch_ == sketches_.size(); }

 private:
  /// A draw with decisions that have not been had.
  struct draw {
    schedule before;
    std::size_t at;  // of the sketch's instructions
    std::vector<decision> options;
    std::size_t next = 0;
    double log_prior = 0;  // of what was drawn before
  };
  std::optional<candidate> run(schedule s, std::size_t at, double log_prior);

  ir::function f_;
  std::vector<trace> sketches_;
  finisher finish_;
  std::size_t sketch_ = 0;  // the next one
  std::vector<draw> open_;
  std::size_t met_ = 0, refused_ = 0;
};

/// The size of a space.
struct space_size {
  std::size_t sketches = 0;
  std::size_t members = 0;   // combinations of decisions that no primitive refuses
  std::size_t programs = 0;  // different ones
  std::size_t refused = 0;   // beginnings of traces
  bool complete = false;     // false: there are at least these
};

/// Counts by making every member, up to `most` of them.
space_size count_members(const ir::function& f, const std::vector<trace>& sketches,
                         const finisher& finish = {}, std::size_t most = 100000,
                         const std::function<bool()>& over = {});

}  // namespace tilewright::search
