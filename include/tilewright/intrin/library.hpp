// The intrinsics of the library: one line each.
#pragma once

#include <span>
#include <string_view>

#include <tilewright/intrin/intrinsic.hpp>

namespace tilewright::intrin {

/// An intrinsic that is made when it is first asked for.
struct library_entry {
  std::string_view name;
  intrinsic (*make)();
};

/// All of them.
std::span<const library_entry> library();

}  // namespace tilewright::intrin
