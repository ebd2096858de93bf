// Arrays in a GPU's memory that a program owns, and copies between them and the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/expr/device_array.hpp>

namespace tilewright {

/// Row-major elements on one device, freed with this; an argument of calls that run there:
///
///     cuda::device_buffer<float, 2> x({rows, columns}), y({rows, columns});
///     x.copy_from(host_x);
///     op(x, y);
///     y.copy_to(host_y);
///
/// Its elements are whatever lay there before. Movable.
template <class T, std::size_t Rank>
class device_buffer {
 public:
  /// @param device its number among those that this process may use
  /// @throws build_error when there is no such device, or not enough memory on it
  explicit device_buffer(const std::int64_t (&extents)[Rank], int device = 0)
      : on_(std::make_unique<backend::cuda::device>(device)),
        shape_(tilewright::view(static_cast<T*>(nullptr), extents)),
        memory_(*on_, bytes()) {
    shape_.data = reinterpret_cast<T*>(memory_.get());
  }

  /// Of the elements, on the device.
  T* data() const noexcept { return shape_.data; }
  const std::array<std::int64_t, Rank>& extents() const noexcept { return shape_.extents; }
  std::size_t size() const noexcept {
    std::size_t out = 1;
    for (const std::int64_t e : shape_.extents) out *= static_cast<std::size_t>(e);
    return out;
  }
  device_array<strided_view<T, Rank>> view() const noexcept { return {shape_}; }

  /// Copies all elements to the device, or to the host, behind what was started on the stream. They return
  /// when the copy is made, and at once where the host's memory is locked: then the stream says when it
  /// is.
  /// @throws build_error when the driver refuses
  void copy_from(const T* host, void* stream = nullptr) {
    on_->copy_in(memory_.get(), host, bytes(), ref(stream));
  }
  void copy_to(T* host, void* stream = nullptr) const {
    on_->copy_out(host, memory_.get(), bytes(), ref(stream));
  }
  /// Waits for what was started on the stream.
  void synchronize(void* stream = nullptr) const { on_->synchronize(ref(stream)); }

 private:
  static backend::cuda::stream_ref ref(void* stream) {
    return static_cast<backend::cuda::stream_ref>(stream);
  }
  std::size_t bytes() const noexcept { return size() * sizeof(T); }

  std::unique_ptr<backend::cuda::device> on_;
  strided_view<T, Rank> shape_;
  backend::cuda::device_memory memory_;
};

namespace dsl {

template <class T, std::size_t Rank>
inline constexpr bool lies_on_device<device_buffer<T, Rank>> = true;

/// @cond
template <class T, std::size_t Rank>
struct recognized<device_buffer<T, Rank>> : recognized<strided_view<T, Rank>> {
  static argument make(device_buffer<T, Rank>& a, int rank) {
    strided_view<T, Rank> elements = a.view().elements;
    return recognized<strided_view<T, Rank>>::make(elements, rank);
  }
};
template <class T, std::size_t Rank>
struct recognized<const device_buffer<T, Rank>> : recognized<strided_view<const T, Rank>> {
  static argument make(const device_buffer<T, Rank>& a, int rank) {
    strided_view<const T, Rank> elements{a.data(), a.extents(), a.view().elements.strides};
    return recognized<strided_view<const T, Rank>>::make(elements, rank);
  }
};
/// @endcond

}  // namespace dsl
}  // namespace tilewright
