// Values on the pattern of a matrix in another format, for parameters of a call that are stored like it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <tilewright/dispatch/signature.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::detail {

/// The element that each place of one part of a format holds: a list that the conversion keeps.
struct place_list {
  const void* elements;  // negative: none  // [places]
  std::int64_t places;
  bool wide;  // of 64 bits, else of 32
};

inline std::int64_t places_of(const std::vector<place_list>& parts) {
  std::int64_t out = 0;
  for (const place_list& part : parts) out += part.places;
  return out;
}

/// Memory for values at the places of a matrix in a format, which calls use again. Any number of threads may take some
/// at once.
class followed_values {
 public:
  using memory = std::vector<std::vector<std::byte>>;  // of each part

  /// @param element bytes of a value
  memory take(const std::vector<place_list>& parts, int element) {
    memory out;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        out = std::move(free_.back());
        free_.pop_back();
      }
    }
    out.resize(parts.size());
    for (std::size_t part = 0; part < parts.size(); ++part)
      out[part].resize(static_cast<std::size_t>(parts[part].places * element));
    return out;
  }
  void give(memory m) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(m));
    } catch (...) {  // no memory to keep it: it is freed
    }
  }

 private:
  std::mutex mutex_;
  std::vector<memory> free_;
};

/// One parameter of a call on the pattern of a matrix in another format.
class followed_argument {
 public:
  /// Loads what the call reads.
  followed_argument(followed_values& by, std::vector<place_list> parts,
                    const dispatch::call_argument& given,
                    const dispatch::parameter_signature& parameter)
      : by_(by),
        parts_(std::move(parts)),
        given_(given),
        element_(tilewright::bytes(parameter.type)),
        written_(parameter.written),
        values_(by.take(parts_, element_)) {
    if (!written_ || parameter.updated) load();
  }
  ~followed_argument() { by_.give(std::move(values_)); }
  followed_argument(const followed_argument&) = delete;
  followed_argument& operator=(const followed_argument&) = delete;

  /// An array for each part.
  void add_to(std::vector<dispatch::call_argument>& to) {
    for (std::size_t part = 0; part < parts_.size(); ++part)
      to.push_back({values_[part].data(), &parts_[part].places, &one});
  }
  /// Gives back what the call has written.
  void store() {
    if (!written_) return;
    each([](std::byte* place, std::byte* value, auto zero) {
      if (value) std::memcpy(value, place, sizeof zero);
    });
  }

 private:
  static constexpr std::int64_t one = 1;

  /// Places that hold no element get zero.
  void load() {
    each([](std::byte* place, const std::byte* value, auto zero) {
      std::memcpy(place, value ? value : reinterpret_cast<const std::byte*>(&zero), sizeof zero);
    });
  }

  /// Calls `use` with each place, the value of its element and a zero of its size; null: it holds none.
  template <class Use>
  void each(const Use& use) {
    for (std::size_t part = 0; part < parts_.size(); ++part)
      with_type([&](auto zero) {
        const void* elements = parts_[part].elements;
        if (parts_[part].wide)
          each_of(part, static_cast<const std::int64_t*>(elements), zero, use);
        else
          each_of(part, static_cast<const std::int32_t*>(elements), zero, use);
      });
  }
  template <class Index, class Raw, class Use>
  void each_of(std::size_t part, const Index* elements, Raw zero, const Use& use) {
    auto* first = static_cast<std::byte*>(given_.data);
    const std::int64_t step = given_.strides[0] * static_cast<std::int64_t>(sizeof(Raw));
    std::byte* to = values_[part].data();
    for (std::int64_t at = 0; at < parts_[part].places; ++at, to += sizeof(Raw))
      use(to, elements[at] < 0 ? nullptr : first + elements[at] * step, zero);
  }
  template <class Use>
  void with_type(const Use& use) const {
    switch (element_) {
      case 1: return use(std::uint8_t{0});
      case 2: return use(std::uint16_t{0});
      case 4: return use(std::uint32_t{0});
      default: return use(std::uint64_t{0});
    }
  }

  followed_values& by_;
  std::vector<place_list> parts_;
  const dispatch::call_argument& given_;
  int element_;  // bytes
  bool written_;
  followed_values::memory values_;
};

}  // namespace tilewright::detail
