// Where the constants of a network lie behind each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tilewright::network::detail {

/// Constants in the order in which they come to lie in one piece of memory, of a file or of a device; equal
/// addresses once, large ones at multiples of 4096 bytes, others of 64.
class constant_pool {
 public:
  struct part {
    const std::byte* data;
    std::int64_t bytes, at;
  };

  /// Offset from the first one. // bytes
  std::int64_t add(const void* data, std::int64_t bytes) {
    const auto [at, is_new] = known_.emplace(std::pair(data, bytes), 0);
    if (!is_new) return at->second;
    constexpr std::int64_t page = 4096;
    const std::int64_t align = bytes < page ? 64 : page;
    size_ = (size_ + align - 1) / align * align;
    at->second = size_;
    parts_.push_back({static_cast<const std::byte*>(data), bytes, size_});
    size_ += bytes;
    return at->second;
  }
  std::int64_t size() const { return size_; }
  /// Calls `copy` with data, bytes and offset of each.
  template <class Copy>
  void each(const Copy& copy) const {
    for (const part& p : parts_)
      if (p.bytes > 0) copy(p.data, static_cast<std::size_t>(p.bytes), p.at);
  }

  const std::vector<part>& parts() const { return parts_; }

 private:
  std::map<std::pair<const void*, std::int64_t>, std::int64_t> known_;
  std::vector<part> parts_;
  std::int64_t size_ = 0;
};

}  // namespace tilewright::network::detail
