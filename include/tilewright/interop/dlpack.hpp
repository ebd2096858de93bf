// Tensors of other frameworks by DLPack, as arguments of calls: of PyTorch, JAX, CuPy, NumPy, ...
//
//     tw::dlpack_array<float, 2> x(managed_x), y(managed_y);   // takes DLManagedTensor*
//     op(x.on_device(), y.on_device());                        // or on_host()
//
// No header of DLPack is included: a tensor is taken for the members that it has. Who receives a
// pointer without a type, such as that of a capsule named "dltensor" or "dltensor_versioned", finds the two
// structures below.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include <tilewright/expr/device_array.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright {

/// The structures of DLPack's interface, version 1; their layout is fixed by it.
namespace dlpack {

struct device_place {
  std::int32_t device_type;  // 1 host, 2 CUDA, 3 host memory locked by CUDA, 13 managed by CUDA
  std::int32_t device_id;
};
struct data_type {
  std::uint8_t code;  // 0 signed, 1 unsigned, 2 float, 4 bfloat16, 6 boolean
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct tensor {
  void* data;
  device_place device;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;    // [ndim]
  std::int64_t* strides;  // [ndim], elements; null: row-major and contiguous
  std::uint64_t byte_offset;
};
/// What a capsule "dltensor" points to.
struct managed_tensor {
  tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(managed_tensor*);
};
struct interface_version {
  std::uint32_t major, minor;
};
/// What a capsule "dltensor_versioned" points to.
struct managed_tensor_versioned {
  interface_version version;
  void* manager_ctx;
  void (*deleter)(managed_tensor_versioned*);
  std::uint64_t flags;  // bit 0: read only
  tensor dl_tensor;
};

}  // namespace dlpack

namespace detail {

template <class Managed>
concept dlpack_managed = requires(Managed& m) {
  m.dl_tensor.byte_offset;
  m.dl_tensor.device.device_type;
  m.dl_tensor.dtype.lanes;
  m.deleter(&m);
};
template <class Managed>
concept dlpack_versioned = requires(Managed& m) {
  m.version.major;
  m.flags;
};

inline constexpr std::int32_t dlpack_host = 1, dlpack_cuda = 2, dlpack_cuda_host = 3,
                              dlpack_cuda_managed = 13;

/// The code of an element type. Its bits are those of the type.
constexpr std::uint8_t dlpack_code(dtype t) {
  if (t == dtype::boolean) return 6;
  if (t == dtype::bf16) return 4;
  if (is_float(t)) return 2;
  return is_unsigned(t) ? 1 : 0;
}

inline std::string dlpack_type_text(int code, int bits, int lanes) {
  constexpr const char* names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  std::string out = code < 7 ? names[code] : "code " + std::to_string(code) + ", bits ";
  out += std::to_string(bits);
  return lanes == 1 ? out : out + "x" + std::to_string(lanes);
}

inline constexpr support::refusal<argument_error> refuse_dlpack{"a DLPack tensor "};

}  // namespace detail

/// A tensor of another framework, taken over: it is given back by its deleter when this and all copies end.
///
/// It requires: 1) an interface of version 1, where the tensor names one; 2) elements of type T, which is
/// const where the tensor may only be read; 3) Rank dimensions; 4) memory of the host or of CUDA. What is
/// refused is given back too. What its framework has started on the device must have ended, or be on the
/// stream of the call.
template <class T, std::size_t Rank>
class dlpack_array {
  using element = std::remove_const_t<T>;

 public:
  /// @param taken a DLManagedTensor or DLManagedTensorVersioned, of a header of DLPack or of the above
  /// @throws argument_error that says what the tensor is and what is needed
  template <detail::dlpack_managed Managed>
  explicit dlpack_array(Managed* taken) {
    if (!taken) detail::refuse_dlpack("is a null pointer");
    owner_ = std::shared_ptr<void>(taken, [taken](void*) {
      if (taken->deleter) taken->deleter(taken);
    });
    if constexpr (detail::dlpack_versioned<Managed>) {
      if (taken->version.major != 1)
        detail::refuse_dlpack("has interface version " + std::to_string(taken->version.major) +
                              "; ask its framework for max_version=(1, 0)");
      if (!std::is_const_v<T> && (taken->flags & 1) != 0)
        detail::refuse_dlpack("may only be read; take it as dlpack_array<const T, Rank>");
    }
    read(taken->dl_tensor);
  }

  bool lies_on_device() const noexcept { return type_ != detail::dlpack_host; }
  /// Number of its device; 0 on the host.
  int device() const noexcept { return device_; }
  const std::array<std::int64_t, Rank>& extents() const noexcept { return elements_.extents; }

  /// As an argument of calls on a GPU.
  /// @throws argument_error when it lies on the host
  device_array<strided_view<T, Rank>> on_device() const {
    if (type_ == detail::dlpack_host || type_ == detail::dlpack_cuda_host)
      detail::refuse_dlpack("lies on the host; move it to the GPU, or take on_host()");
    return {elements_};
  }
  /// As an argument of calls on the host.
  /// @throws argument_error when it lies on a device
  strided_view<T, Rank> on_host() const {
    if (type_ == detail::dlpack_cuda)
      detail::refuse_dlpack("lies on CUDA device " + std::to_string(device_) +
                            "; move it to the host, or take on_device()");
    return elements_;
  }

 private:
  template <class Tensor>
  void read(const Tensor& t) {
    type_ = static_cast<std::int32_t>(t.device.device_type);
    device_ = static_cast<int>(t.device.device_id);
    if (type_ != detail::dlpack_host && type_ != detail::dlpack_cuda &&
        type_ != detail::dlpack_cuda_host && type_ != detail::dlpack_cuda_managed)
      detail::refuse_dlpack("lies on a device of type " + std::to_string(type_) +
                            "; the host (1) and CUDA (2, 3, 13) are known; move it there");
    constexpr dtype wanted = dsl::dtype_of<element>;
    constexpr int code = detail::dlpack_code(wanted), bits = 8 * static_cast<int>(sizeof(element));
    if (t.dtype.code != code || t.dtype.bits != bits || t.dtype.lanes != 1)
      detail::refuse_dlpack("has elements of type " +
                            detail::dlpack_type_text(t.dtype.code, t.dtype.bits, t.dtype.lanes) +
                            ", and " + detail::dlpack_type_text(code, bits, 1) +
                            " is needed; convert it");
    if (t.ndim != static_cast<std::int32_t>(Rank))
      detail::refuse_dlpack("has " + std::to_string(t.ndim) + " dimensions, and " +
                            std::to_string(Rank) + " are needed; reshape it");
    std::int64_t dense = 1;
    for (std::size_t d = Rank; d-- > 0;) {
      if (t.shape[d] < 0)
        detail::refuse_dlpack("has extent " + std::to_string(t.shape[d]) + " in dimension " +
                              std::to_string(d));
      elements_.extents[d] = t.shape[d];
      elements_.strides[d] = t.strides ? t.strides[d] : dense;
      if (__builtin_mul_overflow(dense, t.shape[d], &dense))
        dense = std::numeric_limits<std::int64_t>::max();
    }
    if (t.data)
      elements_.data = reinterpret_cast<T*>(static_cast<std::byte*>(t.data) + t.byte_offset);
  }

  std::shared_ptr<void> owner_;
  std::int32_t type_ = detail::dlpack_host;
  int device_ = 0;
  strided_view<T, Rank> elements_;
};

}  // namespace tilewright
