// Tensor maps as the driver encodes them, kept for as many addresses as calls alternate between.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::cuda::detail {

/// CUtensorMapDataType of elements; i8 is copied as u8.
inline int encoded_type(dtype t) {
  switch (t) {
    case dtype::i8:
    case dtype::u8: return tensor_u8;
    case dtype::u16: return tensor_u16;
    case dtype::u32: return tensor_u32;
    case dtype::i32: return tensor_i32;
    case dtype::u64: return tensor_u64;
    case dtype::i64: return tensor_i64;
    case dtype::f16: return tensor_f16;
    case dtype::f32: return tensor_f32;
    case dtype::f64: return tensor_f64;
    case dtype::bf16: return tensor_bf16;
    default: throw build_error("the copy engine knows no elements of type " + std::string(name(t)));
  }
}

/// CUtensorMapSwizzle.
inline int encoded_swizzle(std::int64_t bytes) {
  return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}

/// @throws build_error when the driver is too old or refuses
inline encoded_tensor_map encode(const driver_api& d, const target::tensor_box& what,
                                 device_pointer address, const std::string& symbol) {
  if (!d.TensorMapEncodeTiled)
    throw build_error(
        "kernel " + symbol +
        " copies by tensor maps, which the driver is too old for; it has to be one of "
        "CUDA 12 or later");
  if (address % 16 != 0)
    throw argument_error("kernel " + symbol + " copies boxes of a tensor at address " +
                         std::to_string(address) +
                         ", which is no multiple of 16 bytes; copy it to memory of its own");
  std::array<std::uint64_t, target::tensor_box::max_rank> extents{}, strides{};
  std::array<std::uint32_t, target::tensor_box::max_rank> box{}, steps{};
  for (std::size_t i = 0; i < what.extents.size(); ++i) {
    extents[i] = static_cast<std::uint64_t>(what.extents[i]);
    box[i] = static_cast<std::uint32_t>(what.box[i]);
    steps[i] = 1;
    if (i > 0) strides[i - 1] = static_cast<std::uint64_t>(what.strides[i - 1]);
  }
  encoded_tensor_map out;
  const int result = d.TensorMapEncodeTiled(
      &out, encoded_type(what.type), static_cast<unsigned>(what.extents.size()),
      reinterpret_cast<void*>(address), extents.data(), strides.data(), box.data(), steps.data(),
      tensor_not_interleaved, encoded_swizzle(what.swizzle), tensor_lines_of_128,
      tensor_zeros_outside);
  if (result != driver_success)
    throw build_error("the CUDA driver refuses a tensor map of " + symbol + ": error " +
                      std::to_string(result));
  return out;
}

/// The maps of one artifact. Threads may ask at once; nothing is allocated by asking.
class encoded_maps {
 public:
  /// Null where no launch has maps.
  static std::unique_ptr<encoded_maps> of(const artifact& a) {
    std::size_t count = 0;
    for (const launch& l : a.launches) count += l.tensor_maps.size();
    return count ? std::unique_ptr<encoded_maps>(new encoded_maps(a)) : nullptr;
  }

  /// The map of that number of a launch, for a tensor at that address. @throws as `encode`
  encoded_tensor_map get(const driver_api& d, std::size_t launch_number, std::size_t map,
                         const backend::launch& l, device_pointer address) {
    const std::lock_guard lock(using_);
    slots& mine = all_[first_[launch_number] + map];
    for (const slot& s : mine.kept)
      if (s.address == address) return s.map;
    slot& s = mine.kept[mine.next];
    s = {encode(d, l.tensor_maps[map].what, address, l.symbol), address};
    mine.next = (mine.next + 1) % mine.kept.size();
    return s.map;
  }

 private:
  struct slot {
    encoded_tensor_map map{};
    device_pointer address = 1;  // where no tensor begins
  };
  struct slots {
    std::array<slot, 8> kept;
    std::size_t next = 0;
  };

  explicit encoded_maps(const artifact& a) {
    std::size_t count = 0;
    for (const launch& l : a.launches) {
      first_.push_back(count);
      count += l.tensor_maps.size();
    }
    all_.resize(count);
  }

  std::mutex using_;
  std::vector<std::size_t> first_;  // [launches] of its maps
  std::vector<slots> all_;
};

}  // namespace tilewright::backend::cuda::detail
