// The passes of `optimize` in their order, by name.
#pragma once

#include <array>

#include <tilewright/model/passes.hpp>

namespace tilewright::network::detail {

struct named_pass {
  const char* name;  // of the function
  void (*run)(graph&);
};

/// Those before kernels are made.
inline constexpr std::array<named_pass, 6> simplifying_passes{
    {{"remove_unused", &remove_unused},
     {"fold_constants", &fold_constants},
     {"remove_repeated", &remove_repeated},
     {"replace_nan", &replace_nan},
     {"scale_products", &scale_products},
     {"channels_last", &channels_last}}};
/// Those that make kernels.
inline constexpr std::array<named_pass, 3> kernel_passes{
    {{"fuse", &fuse}, {"place_parts", &place_parts}, {"remove_unused", &remove_unused}}};

}  // namespace tilewright::network::detail
