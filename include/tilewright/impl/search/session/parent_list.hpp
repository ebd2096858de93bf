// The fastest schedules that a session knows.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search::detail {

/// A verified or measured schedule that new candidates are made from.
struct parent {
  tilewright::trace trace;
  double seconds = 0;
};

class parent_list {
 public:
  void add(parent p) { list_.push_back(std::move(p)); }
  void add_all(std::vector<parent> more) {
    for (parent& p : more) list_.push_back(std::move(p));
  }
  /// Puts the fastest first; those of equal times keep their order. The slowest beyond `most` are dropped.
  void keep_fastest() {
    support::stable_sort(list_,
                         [](const parent& a, const parent& b) { return a.seconds < b.seconds; });
    if (list_.size() > most) list_.resize(most);
  }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

  static constexpr std::size_t most = 24;

 private:
  std::vector<parent> list_;
};

}  // namespace tilewright::search::detail
