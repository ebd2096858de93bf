// What is known of one set of extents and strides, found without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tilewright/dispatch/argument_checks.hpp>
#include <tilewright/dispatch/signature.hpp>

namespace tilewright::dispatch::detail {

struct specialization_slot;

/// One set of extents and strides that calls came with.
struct binding {
  specialization_slot* of = nullptr;
  std::vector<std::int64_t> extents, strides;  // of all parameters
  std::vector<touched_bytes> touched;          // per parameter
  std::uint64_t hash = 0;
  bool nothing = false;  // every output is empty
};

/// Bindings by extents and strides: values with `extents`, `strides` and `hash` as a `binding` has them.
/// `find` may run on any number of threads beside one `add`.
template <class Binding>
class table_of_bindings {
 public:
  explicit table_of_bindings(const kernel_signature& kernel) {
    for (const parameter_signature& p : kernel.params)
      ranks_.push_back({static_cast<int>(p.rank()), static_cast<int>(p.beside.size())});
  }

  bool matches(const Binding& b, const call_argument* a) const {
    const std::int64_t *e = b.extents.data(), *s = b.strides.data();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const auto [n, beside] = ranks_[i];
      for (int d = 0; d < n; ++d)
        if (e[d] != a[i].extents[d] || s[d] != a[i].strides[d]) return false;
      for (int d = n; d < n + beside; ++d)
        if (e[d] != a[i].extents[d]) return false;
      e += n + beside;
      s += n;
    }
    return true;
  }

  const Binding* find(const call_argument* a) const {
    const slots* t = published_.load(std::memory_order_acquire);
    if (!t) return nullptr;
    const std::size_t mask = t->at.size() - 1;
    for (std::size_t i = hash(a) & mask;; i = (i + 1) & mask) {
      const Binding* b = t->at[i].load(std::memory_order_acquire);
      if (!b || matches(*b, a)) return b;
    }
  }

  /// Adds what `find` did not find. One thread at a time.
  const Binding& add(std::unique_ptr<Binding> fresh, const call_argument* a) {
    fresh->hash = hash(a);
    bindings_.push_back(std::move(fresh));
    const Binding* b = bindings_.back().get();
    slots* t = tables_.empty() ? nullptr : tables_.back().get();
    if (!t || 2 * (t->used + 1) > t->at.size()) {
      // readers may still hold the old table: it stays
      tables_.push_back(std::make_unique<slots>(t ? 2 * t->at.size() : 16));
      for (const auto& old : bindings_) tables_.back()->put(old.get());
      published_.store(tables_.back().get(), std::memory_order_release);
    } else {
      t->put(b);
    }
    return *b;
  }

 private:
  struct slots {
    explicit slots(std::size_t n) : at(n) {}
    void put(const Binding* b) {
      std::size_t i = b->hash & (at.size() - 1);
      while (at[i].load(std::memory_order_relaxed)) i = (i + 1) & (at.size() - 1);
      at[i].store(b, std::memory_order_release);
      ++used;
    }
    std::vector<std::atomic<const Binding*>> at;  // power of two, open addressing
    std::size_t used = 0;
  };

  static std::uint64_t mix(std::uint64_t h, std::int64_t v) {
    h = (h ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
  }
  std::uint64_t hash(const call_argument* a) const {
    std::uint64_t h = 1;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      for (int d = 0; d < ranks_[i].arrays; ++d) h = mix(mix(h, a[i].extents[d]), a[i].strides[d]);
    return h;
  }

  struct rank {
    int arrays, beside;  // dimensions with a stride, and others
  };
  std::vector<rank> ranks_;
  std::vector<std::unique_ptr<Binding>> bindings_;
  std::vector<std::unique_ptr<slots>> tables_;
  std::atomic<const slots*> published_{nullptr};
};

using binding_table = table_of_bindings<binding>;

}  // namespace tilewright::dispatch::detail
