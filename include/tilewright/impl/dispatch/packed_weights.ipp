#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <tilewright/dispatch/packed_weights.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::dispatch {
namespace detail::packing {

/// Memory of whole pages, zeroed: what a preparation leaves out at the edge of a tile is read into
/// lanes that count for nothing, and should at least be numbers.
inline std::byte* zeroed(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>((bytes + 4095) / 4096 * 4096);
  auto* out = static_cast<std::byte*>(std::aligned_alloc(4096, size));
  if (!out)
    throw build_error("no memory for " + std::to_string(bytes) +
                      " bytes of packed weights or lists");
  std::memset(out, 0, size);
  return out;
}

}  // namespace detail::packing

TILEWRIGHT_INLINE void packed_weights::release::operator()(std::byte* p) const noexcept {
  std::free(p);
}

TILEWRIGHT_INLINE packed_weights::packed_weights(const backend::loaded& code,
                                                 const std::vector<const void*>& bound,
                                                 std::size_t strides,
                                                 const backend::executor& exec) {
  if (!code.preparation()) return;
  if (support::all(bound, [](const void* p) { return p == nullptr; }))
    throw internal_error("code for bound weights, but no weight is bound");
  // what is not bound is not read, but scalars are loaded before anybody knows
  alignas(64) std::byte nothing[64] = {};
  std::vector<void*> all;
  for (const void* p : bound) all.push_back(p ? const_cast<void*>(p) : nothing);
  const std::vector<std::int64_t> no_strides(strides + 1, 0);
  fill(code, std::move(all), no_strides.data(), exec);
}

TILEWRIGHT_INLINE packed_weights::packed_weights(const backend::loaded& code,
                                                 std::vector<void*> arguments,
                                                 const std::int64_t* strides,
                                                 const backend::executor& exec) {
  if (code.preparation()) fill(code, std::move(arguments), strides, exec);
}

TILEWRIGHT_INLINE void packed_weights::fill(const backend::loaded& code, std::vector<void*> all,
                                            const std::int64_t* strides,
                                            const backend::executor& exec) {
  const auto aligned = [](std::int64_t size) { return (size + 63) / 64 * 64; };
  for (std::int64_t size : code.packed_bytes()) bytes_ += aligned(size);
  memory_.reset(detail::packing::zeroed(std::max<std::int64_t>(bytes_, 1)));
  std::byte* at = memory_.get();
  for (std::int64_t size : code.packed_bytes()) {
    data_.push_back(at);
    all.push_back(at);
    at += aligned(size);
  }
  const std::int64_t need = code.preparation()->workspace_bytes();
  const std::unique_ptr<std::byte, release> workspace(need ? detail::packing::zeroed(need)
                                                           : nullptr);
  const backend::call call{all.data(), strides, workspace.get(), &exec, nullptr, nullptr};
  (*code.preparation())(call);
}

}  // namespace tilewright::dispatch
