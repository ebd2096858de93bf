// Memory of shared nodes.
//
// Replaying a trace makes and drops thousands of small nodes in less than a millisecond, hundreds
// at a time: more than malloc keeps at hand, which took a third of the time. A thread keeps the
// memory of nodes that it has dropped, by size, and makes its next nodes of it. Under the address
// sanitizer all memory goes back at once, so that nothing hides from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include <tilewright/config.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/threads/thread_end.hpp>

namespace tilewright::support {
namespace detail {

/// Dropped memory of one thread, in sizes that are multiples of 16 bytes.
class node_shelf {
 public:
  static constexpr std::size_t step = 16;     // bytes
  static constexpr std::size_t sizes = 16;    // up to 256 bytes
  static constexpr std::uint32_t most = 512;  // of one size: 1 MiB in all when every size is full

  static constexpr std::size_t index(std::size_t bytes) noexcept { return (bytes - 1) / step; }

  void* take(std::size_t i) noexcept {
    piece* const top = lists_[i].top;
    if (!top) return nullptr;
    lists_[i].top = top->next;
    --lists_[i].count;
    return top;
  }
  /// False when there is no room, or the thread has ended.
  bool put(std::size_t i, void* memory) noexcept {
    list& l = lists_[i];
    if (l.count >= limit_) return l.count == 0 && open() && put(i, memory);
    l.top = ::new (memory) piece{l.top};
    ++l.count;
    return true;
  }

 private:
  struct piece {
    piece* next;
  };
  struct list {
    piece* top = nullptr;
    std::uint32_t count = 0;
  };
  /// Gives everything back when the thread ends; nodes that die later are not kept.
  void close() noexcept {
    limit_ = 0;
    closed_ = true;
    for (std::size_t i = 0; i < sizes; ++i)
      while (void* memory = take(i)) ::operator delete(memory);
  }

  bool open() noexcept {
    if (closed_ || TILEWRIGHT_ADDRESS_SANITIZER) return false;
    const fork_pass inside;
    static const thread_end end([](void* shelf) { static_cast<node_shelf*>(shelf)->close(); });
    end.ask(this);
    limit_ = most;
    return true;
  }

  std::array<list, sizes> lists_{};
  std::uint32_t limit_ = 0;  // `most` from the first node on that the thread drops
  bool closed_ = false;
};

// Needs no destructor, so that reading it costs nothing and is allowed at any time.
inline constinit thread_local node_shelf shelf{};

}  // namespace detail

/// @name Memory for a node of that many bytes; any thread may drop what another one has taken.
/// @{
inline void* take_node(std::size_t bytes) {
  const std::size_t i = detail::node_shelf::index(bytes);
  if (i >= detail::node_shelf::sizes) return ::operator new(bytes);
  void* const kept = detail::shelf.take(i);
  return kept ? kept : ::operator new((i + 1) * detail::node_shelf::step);
}
inline void drop_node(void* memory, std::size_t bytes) noexcept {
  const std::size_t i = detail::node_shelf::index(bytes);
  if (i >= detail::node_shelf::sizes || !detail::shelf.put(i, memory)) ::operator delete(memory);
}
/// @}

/// Of short lists that are made as often as nodes.
template <class T>
struct node_allocator {
  using value_type = T;

  node_allocator() = default;
  template <class Other>
  node_allocator(const node_allocator<Other>&) noexcept {}  // NOLINT: as all allocators convert

  T* allocate(std::size_t n) { return static_cast<T*>(take_node(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t n) noexcept { drop_node(memory, n * sizeof(T)); }
  friend bool operator==(const node_allocator&, const node_allocator&) noexcept { return true; }
};

}  // namespace tilewright::support
