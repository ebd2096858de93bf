// Kinds of one thing by name (strategies, cost models): what a tool offers and a program may add.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/support/error.hpp>

namespace tilewright::support {

/// A list of kinds, each a value with a `name`. Any thread may call any function.
template <class Kind>
class kind_table {
 public:
  /// @param what  how messages call the thing: "strategy"
  kind_table(std::string_view what, std::vector<Kind> kinds)
      : what_(what), kinds_(std::move(kinds)) {}

  /// The kinds in the order in which they came.
  std::vector<Kind> all() const {
    const std::lock_guard lock(guard_);
    return kinds_;
  }

  /// Adds a kind, or takes the place of the one of that name.
  void add(const Kind& kind) {
    const std::lock_guard lock(guard_);
    for (Kind& k : kinds_)
      if (k.name == kind.name) {
        k = kind;
        return;
      }
    kinds_.push_back(kind);
  }

  /// @throws argument_error for a name that no kind has; the text lists the names
  Kind find(std::string_view name) const {
    std::string names;
    for (const Kind& k : all()) {
      if (k.name == name) return k;
      names += (names.empty() ? "" : ", ") + std::string(k.name);
    }
    throw argument_error("no " + what_ + " \"" + std::string(name) + "\"; there are " + names);
  }

 private:
  mutable std::mutex guard_;
  std::string what_;
  std::vector<Kind> kinds_;
};

}  // namespace tilewright::support
