#pragma once

#include <string>

#include <tilewright/support/refusal.hpp>

namespace tilewright::support {

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

}  // namespace tilewright::support
