// What has been found out about an immutable node, kept with it.
//
// A search asks the same of a program after each of its steps, most of which leave most nodes as they are. Whoever asks first leaves
// the answer with the node; whoever asks later, on any thread, finds it there. A copy of a node is made to be changed, so that
// it begins with nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace tilewright::support {

/// A few bits that follow from what can be reached from the node; 0 while nobody has asked.
class kept_bits {
 public:
  kept_bits() = default;
  kept_bits(const kept_bits&) noexcept {}
  kept_bits& operator=(const kept_bits&) noexcept {
    keep(0);
    return *this;
  }

  std::uint8_t get() const noexcept { return bits_.load(std::memory_order_relaxed); }
  void keep(std::uint8_t bits) const noexcept { bits_.store(bits, std::memory_order_relaxed); }

 private:
  mutable std::atomic<std::uint8_t> bits_{0};
};

/// An answer that needs memory of its own.
struct answer {
  virtual ~answer() = default;
};

/// The answer that one question has left; null while nobody has asked.
class kept_answer {
 public:
  kept_answer() = default;
  kept_answer(const kept_answer&) noexcept {}
  kept_answer& operator=(const kept_answer&) noexcept {
    delete held_.exchange(nullptr);
    return *this;
  }
  ~kept_answer() { delete held_.load(std::memory_order_acquire); }

  const answer* get() const noexcept { return held_.load(std::memory_order_acquire); }
  /// Owns `made` from now on, and gives what is kept: where two threads have asked at once, the answer that was there first.
  const answer& keep(const answer* made) const noexcept {
    const answer* first = nullptr;
    if (held_.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *first;
  }

 private:
  mutable std::atomic<const answer*> held_{nullptr};
};

}  // namespace tilewright::support
