#pragma once

#include <string>

#include <tilewright/impl/schedule/legality/refusal.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE void phrase::append_to(std::string& out) const {
  if (is_number_) {
    out += std::to_string(number_);
    return;
  }
  if (kind_) {
    out += kind_;
    out += " \"";
  }
  out += text_;
  if (kind_) out += '"';
}

TILEWRIGHT_INLINE std::string joined(std::initializer_list<phrase> phrases) {
  std::string out;
  for (const phrase& p : phrases) p.append_to(out);
  return out;
}

TILEWRIGHT_INLINE void refusal::operator()(int requirement,
                                           std::initializer_list<phrase> phrases) const {
  throw schedule_error(std::string(primitive_), requirement, joined(phrases));
}

}  // namespace tilewright::primitive
