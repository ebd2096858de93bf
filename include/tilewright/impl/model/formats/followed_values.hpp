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

/// Where the elements of a matrix lie in a format, and memory for values at its places, which calls use again. Any
/// number of threads may take some at once.
class followed_values {
 public:
  using memory = std::vector<std::vector<std::byte>>;  // of each part

  /// @param sources of each place of each part the element that it holds; negative: none
  explicit followed_values(std::vector<std::vector<std::int64_t>> sources)
      : sources_(std::move(sources)) {}

  std::size_t parts() const noexcept { return sources_.size(); }
  std::int64_t places(std::size_t part) const {
    return static_cast<std::int64_t>(sources_[part].size());
  }

  /// @param element bytes of a value
  memory take(int element) {
    memory out;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        out = std::move(free_.back());
        free_.pop_back();
      }
    }
    out.resize(parts());
    for (std::size_t part = 0; part < parts(); ++part)
      out[part].resize(sources_[part].size() * static_cast<std::size_t>(element));
    return out;
  }
  void give(memory m) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(m));
    } catch (...) {  // no memory to keep it: it is freed
    }
  }

  /// Takes the values of all elements; places that hold none get zero.
  void load(memory& to, const dispatch::call_argument& from, int element) const {
    with_type(element, [&]<class Raw>(Raw zero) {
      each<Raw>(to, from, [&](std::byte* place, const std::byte* value) {
        std::memcpy(place, value ? value : reinterpret_cast<const std::byte*>(&zero), sizeof(Raw));
      });
    });
  }
  /// Gives the values of all elements.
  void store(memory& from, const dispatch::call_argument& to, int element) const {
    with_type(element, [&]<class Raw>(Raw) {
      each<Raw>(from, to, [](const std::byte* place, std::byte* value) {
        if (value) std::memcpy(value, place, sizeof(Raw));
      });
    });
  }

 private:
  template <class Use>
  static void with_type(int element, const Use& use) {
    switch (element) {
      case 1: return use(std::uint8_t{0});
      case 2: return use(std::uint16_t{0});
      case 4: return use(std::uint32_t{0});
      default: return use(std::uint64_t{0});
    }
  }

  /// Calls `use` with each place and the value of its element; null: it holds none.
  template <class Raw, class Use>
  void each(memory& places, const dispatch::call_argument& values, const Use& use) const {
    auto* first = static_cast<std::byte*>(values.data);
    const std::int64_t step = values.strides[0] * static_cast<std::int64_t>(sizeof(Raw));
    for (std::size_t part = 0; part < parts(); ++part) {
      std::byte* at = places[part].data();
      for (const std::int64_t element : sources_[part]) {
        use(at, element < 0 ? nullptr : first + element * step);
        at += sizeof(Raw);
      }
    }
  }

  std::vector<std::vector<std::int64_t>> sources_;
  std::mutex mutex_;
  std::vector<memory> free_;
};

/// One parameter of a call on the pattern of a matrix in another format.
class followed_argument {
 public:
  /// Loads what the call reads.
  followed_argument(followed_values& by, const dispatch::call_argument& given,
                    const dispatch::parameter_signature& parameter)
      : by_(by),
        given_(given),
        element_(tilewright::bytes(parameter.type)),
        written_(parameter.written),
        values_(by.take(element_)) {
    for (std::size_t part = 0; part < by_.parts(); ++part) extents_.push_back(by_.places(part));
    if (!written_ || parameter.updated) by_.load(values_, given_, element_);
  }
  ~followed_argument() { by_.give(std::move(values_)); }
  followed_argument(const followed_argument&) = delete;
  followed_argument& operator=(const followed_argument&) = delete;

  /// An array for each part.
  void add_to(std::vector<dispatch::call_argument>& to) {
    for (std::size_t part = 0; part < extents_.size(); ++part)
      to.push_back({values_[part].data(), &extents_[part], &one});
  }
  /// Gives back what the call has written.
  void store() {
    if (written_) by_.store(values_, given_, element_);
  }

 private:
  static constexpr std::int64_t one = 1;
  followed_values& by_;
  const dispatch::call_argument& given_;
  int element_;  // bytes
  bool written_;
  followed_values::memory values_;
  std::vector<std::int64_t> extents_;  // [parts]
};

}  // namespace tilewright::detail
