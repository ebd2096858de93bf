#pragma once

#include <string>

#include <tilewright/expr/argument.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {
namespace dsl::detail {

[[noreturn]] inline void refuse_argument(const kernel_info& kernel, const std::string& what) {
  throw argument_error(kernel.name + ": " + what);
}

inline void check_argument_form(const kernel_info& kernel, const param_info& p, const argument& a) {
  if (a.type != p.type)
    refuse_argument(kernel, "argument " + p.name + " holds " + std::string(name(a.type)) +
                                ", but the parameter needs " + std::string(name(p.type)));
  if (a.rank != p.rank())
    refuse_argument(kernel, "argument " + p.name + " has rank " + std::to_string(a.rank) +
                                ", but the parameter needs " + std::to_string(p.rank()));
  if (p.written() && a.is_const)
    refuse_argument(kernel, "argument " + p.name + " is const, but the kernel writes it");
  bool empty = false;
  for (int d = 0; d < a.rank; ++d) empty = empty || a.extents[static_cast<std::size_t>(d)] == 0;
  if (!a.data && a.rank > 0 && !empty)
    refuse_argument(kernel, "argument " + p.name + " has a null data pointer");
}

/// Where a dimension's extent was seen first.
struct dim_origin {
  std::string param;
  int dimension;
};

}  // namespace dsl::detail

TILEWRIGHT_INLINE dim_values bind_extents(const kernel_info& kernel, const dsl::argument* args,
                                          std::size_t count) {
  using dsl::detail::refuse_argument;
  if (count != kernel.params.size())
    refuse_argument(kernel, "the call has " + std::to_string(count) + " arguments, the kernel " +
                                std::to_string(kernel.params.size()) + " parameters");
  dim_values out;
  std::map<std::string, dsl::detail::dim_origin> origin;
  for (std::size_t k = 0; k < count; ++k) {
    const param_info& p = kernel.params[k];
    dsl::detail::check_argument_form(kernel, p, args[k]);
    for (int d = 0; d < p.rank(); ++d) {
      const dim_description& dim = p.dims[static_cast<std::size_t>(d)];
      const std::int64_t extent = args[k].extents[static_cast<std::size_t>(d)];
      const std::string here = "dimension " + std::to_string(d) + " of argument " + p.name;
      if (extent < 1)
        refuse_argument(kernel,
                        here + " has extent " + std::to_string(extent) + "; extents are positive");
      if (dim.name.empty()) {
        if (extent != dim.extent)
          refuse_argument(kernel, here + " has extent " + std::to_string(extent) +
                                      ", but the parameter needs " + std::to_string(dim.extent));
        continue;
      }
      const auto [known, is_new] = out.emplace(dim.name, extent);
      if (is_new) {
        origin[dim.name] = {p.name, d};
      } else if (known->second != extent) {
        const dsl::detail::dim_origin& first = origin[dim.name];
        refuse_argument(kernel, dim.name + " is " + std::to_string(known->second) +
                                    " in dimension " + std::to_string(first.dimension) +
                                    " of argument " + first.param + ", but " +
                                    std::to_string(extent) + " in " + here);
      }
    }
  }
  return out;
}

}  // namespace tilewright
