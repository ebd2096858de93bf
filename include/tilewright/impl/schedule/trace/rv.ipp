#pragma once

#include <tilewright/schedule/rv.hpp>

namespace tilewright {

TILEWRIGHT_INLINE factor::factor(op o, factor a, factor b)
    : op_(o),
      operands_(std::make_shared<const std::pair<factor, factor>>(std::move(a), std::move(b))) {}

TILEWRIGHT_INLINE bool operator==(const factor& a, const factor& b) {
  if (a.op_ != b.op_ || a.value_ != b.value_) return false;
  if (a.operands_ == b.operands_) return true;
  return a.operands_ && b.operands_ && *a.operands_ == *b.operands_;
}

}  // namespace tilewright
