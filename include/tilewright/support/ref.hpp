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

#include <tilewright/support/node_memory.hpp>

namespace tilewright::support {

/// Base of every shared node; carries the owner count.
class counted {
 public:
  counted() = default;
  counted(const counted&) noexcept {}
  counted& operator=(const counted&) noexcept { return *this; }

  static void* operator new(std::size_t bytes) { return take_node(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    drop_node(memory, bytes);
  }

  /// From now on the node is never deleted, and owners are not counted: for the few that everybody
  /// shares. Called before another thread knows the node.
  void keep_forever() const noexcept { owners_.store(forever, std::memory_order_relaxed); }

 private:
  template <class T>
  friend class ref;
  static constexpr std::uint32_t forever = std::uint32_t{1} << 31;
  mutable std::atomic<std::uint32_t> owners_{0};
};

/// Shared handle to a node of type T; null when default constructed. T derives from `counted`.
template <class T>
class ref {
 public:
  ref() = default;
  explicit ref(T* node) noexcept : node_(node) { adopt(); }
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
  // Counting stays inline also where a translation unit has grown so much that the compiler inlines
  // hardly anything any more; what is rare does not.
  [[gnu::always_inline]] void acquire() const noexcept {
    if (node_ && node_->owners_.load(std::memory_order_relaxed) != counted::forever)
      node_->owners_.fetch_add(1, std::memory_order_relaxed);
  }
  /// A node that nobody owns yet is known to this thread alone, and need not lock its count.
  [[gnu::always_inline]] void adopt() const noexcept {
    if (node_ && node_->owners_.load(std::memory_order_relaxed) == 0)
      node_->owners_.store(1, std::memory_order_relaxed);
    else
      acquire();
  }
  [[gnu::always_inline]] void release() const noexcept {
    if (!node_) return;
    const std::uint32_t owners = node_->owners_.load(std::memory_order_acquire);
    if (owners == counted::forever) return;
    // a node has no weak owners: whoever is alone stays so, and need not lock the count
    if (owners == 1 || node_->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(node_);
  }
  [[gnu::noinline]] static void destroy(T* node) noexcept { delete node; }
  T* node_ = nullptr;
};

}  // namespace tilewright::support

template <class T>
struct std::hash<tilewright::support::ref<T>> {
  std::size_t operator()(const tilewright::support::ref<T>& r) const noexcept {
    return std::hash<const void*>{}(r.get());
  }
};
