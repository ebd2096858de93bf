// Intrusive shared ownership of immutable nodes.
//
// The IR is a graph of immutable nodes that schedules, traces and threads share; a handle must be
// one word and its copy one relaxed increment. It does not support weak references or arrays.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace tilewright::support {

/// Base of every shared node; carries the owner count.
class counted {
 public:
  counted() = default;
  counted(const counted&) noexcept {}
  counted& operator=(const counted&) noexcept { return *this; }

 private:
  template <class T>
  friend class ref;
  mutable std::atomic<std::uint32_t> owners_{0};
};

/// Shared handle to a node of type T; null when default constructed. T derives from `counted`.
template <class T>
class ref {
 public:
  ref() = default;
  explicit ref(T* node) noexcept : node_(node) { acquire(); }
  ref(const ref& other) noexcept : node_(other.node_) { acquire(); }
  ref(ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  ref& operator=(ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~ref() { release(); }

  T* get() const noexcept { return node_; }
  T* operator->() const noexcept { return node_; }
  T& operator*() const noexcept { return *node_; }
  explicit operator bool() const noexcept { return node_ != nullptr; }
  friend bool operator==(const ref& a, const ref& b) noexcept { return a.node_ == b.node_; }

 private:
  void acquire() const noexcept {
    if (node_) node_->owners_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() const noexcept {
    if (node_ && node_->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
  }
  T* node_ = nullptr;
};

}  // namespace tilewright::support

template <class T>
struct std::hash<tilewright::support::ref<T>> {
  std::size_t operator()(const tilewright::support::ref<T>& r) const noexcept {
    return std::hash<const void*>{}(r.get());
  }
};
