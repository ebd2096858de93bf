// Values that are computed once a scope: what a key stood for is found again until the scope ends in which it was kept.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <tilewright/backend/llvm/builder.hpp>

namespace tilewright::backend::llvm {

/// Values by what they were computed of, in the order in which they were.
template <class Key>
class scoped_values {
 public:
  std::size_t size() const { return order_.size(); }

  /// Null where none was kept.
  value_ref find(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : found->second;
  }

  /// The first one of a key stays.
  void keep(Key key, value_ref v) {
    if (values_.emplace(key, v).second) order_.push_back(std::move(key));
  }

  /// Forgets all but the first `count`, at a scope's end those that it began with.
  void keep_first(std::size_t count) {
    for (; order_.size() > count; order_.pop_back()) values_.erase(order_.back());
  }

 private:
  std::map<Key, value_ref> values_;
  std::vector<Key> order_;
};

}  // namespace tilewright::backend::llvm
