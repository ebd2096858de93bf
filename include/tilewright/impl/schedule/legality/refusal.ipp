#pragma once

#include <string>

#include <tilewright/impl/schedule/legality/refusal.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE void refusal::operator()(int requirement,
                                           std::initializer_list<phrase> phrases) const {
  throw schedule_error(std::string(primitive_), requirement, joined(phrases));
}

}  // namespace tilewright::primitive
