// Memory of one argument of a field_problem.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <random>

#include "field_problem.hpp"

namespace bench {

/// Aligned to cache lines, and poisoned where nothing was drawn into it.
class argument_memory {
 public:
  explicit argument_memory(const field_argument& a);

  void draw(std::mt19937& generator);
  void poison();
  /// The same as the reference takes it: numbers with a fraction become double.
  argument_memory widened() const;

  /// Largest difference from `want`, relative to its largest element.
  double error(const argument_memory& want) const;
  /// What of that rounding explains in a result of a few operations, or of sums of so many terms.
  double bound(int terms = 0) const;

  void* data() const { return memory_.get(); }
  field_argument of;

 private:
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }
  std::size_t count_ = 1;
  std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
};

}  // namespace bench
