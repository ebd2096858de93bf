// Where programs come from in the place of replays: a search that is repeated on records takes them
// from a table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <tilewright/search/candidate.hpp>

namespace tilewright::search::detail {

/// As the `finish` of a task it answers every replay of a strategy.
class program_source {
 public:
  /// What takes the place of a trace, some decisions of which may be missing; nothing refuses it. What is
  /// drawn comes from `seed`. Any thread may call it.
  using lookup = std::function<std::optional<candidate>(const trace& t, std::uint64_t seed)>;

  explicit program_source(lookup of) : of_(std::move(of)) {}

  std::optional<candidate> operator()(const trace& t, std::uint64_t seed) const {
    return of_(t, seed);
  }
  /// As a finisher it changes nothing: programs are finished when they are taken.
  void operator()(schedule&) const {}

  /// The source that a finisher is; null: it is none.
  static const program_source* in(const finisher& f) { return f.target<program_source>(); }

 private:
  lookup of_;
};

}  // namespace tilewright::search::detail
