#pragma once

#include <utility>

#include <tilewright/config.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

namespace tilewright::primitive {
namespace detail {

inline bool& refuses_as_tvm() noexcept {
  thread_local bool wanted = false;
  return wanted;
}

}  // namespace detail

TILEWRIGHT_INLINE bool as_tvm() noexcept { return detail::refuses_as_tvm(); }

TILEWRIGHT_INLINE tvm_refusals::tvm_refusals(bool wanted) noexcept
    : before_(std::exchange(detail::refuses_as_tvm(), wanted)) {}
TILEWRIGHT_INLINE tvm_refusals::~tvm_refusals() { detail::refuses_as_tvm() = before_; }

}  // namespace tilewright::primitive
