// Values by the addresses of nodes, for walks that bind and look up at every step.
//
// A flat table with linear probing: nothing is allocated per entry, and a removal leaves no trace.
// Addresses differ from run to run, so the entries are not offered in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilewright::support {

template <class Value>
class address_map {
 public:
  /// The value of the key, until the next insertion or removal; null when there is none.
  const Value* find(const void* key) const noexcept {
    if (slots_.empty()) return nullptr;
    const slot& s = slots_[place(key)];
    return s.key ? &s.value : nullptr;
  }
  bool contains(const void* key) const noexcept { return find(key) != nullptr; }

  /// The value of the key, `value` where it has none yet; and whether that is so.
  std::pair<Value*, bool> insert(const void* key, Value value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    slot& s = slots_[place(key)];
    if (s.key) return {&s.value, false};
    s = {key, std::move(value)};
    ++size_;
    return {&s.value, true};
  }

  void erase(const void* key) noexcept {
    if (!contains(key)) return;
    std::size_t hole = place(key);
    for (std::size_t i = next(hole); slots_[i].key; i = next(i))
      if (((i - home(slots_[i].key)) & mask()) >= ((i - hole) & mask())) {
        slots_[hole] = std::move(slots_[i]);
        hole = i;
      }
    slots_[hole] = {};
    --size_;
  }

  std::size_t size() const noexcept { return size_; }

 private:
  struct slot {
    const void* key = nullptr;
    Value value{};
  };

  std::size_t mask() const noexcept { return slots_.size() - 1; }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask(); }
  std::size_t home(const void* key) const noexcept {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key));
    return static_cast<std::size_t>(address * 0x9e3779b97f4a7c15u >> 32) & mask();
  }
  /// Where the key is, or the empty slot where it would be.
  std::size_t place(const void* key) const noexcept {
    std::size_t i = home(key);
    while (slots_[i].key && slots_[i].key != key) i = next(i);
    return i;
  }
  void grow() {
    constexpr std::size_t least = 32;
    std::vector<slot> old(slots_.empty() ? least : 2 * slots_.size());
    old.swap(slots_);
    for (slot& s : old)
      if (s.key) slots_[place(s.key)] = std::move(s);
  }

  std::vector<slot> slots_;  // a power of two of them, at least half of them empty
  std::size_t size_ = 0;
};

}  // namespace tilewright::support
