#pragma once

#include <algorithm>
#include <string>

#include <tilewright/expr/argument.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

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

/// First position at which two arrays of indices differ; -1 when they are equal.
template <class Index>
std::int64_t first_difference(const argument& a, const argument& b) {
  const auto *x = static_cast<const Index*>(a.data), *y = static_cast<const Index*>(b.data);
  if (x == y) return -1;
  const auto [at, other] = std::mismatch(x, x + a.extents[0], y);
  return at == x + a.extents[0] ? -1 : at - x;
}

}  // namespace dsl::detail

TILEWRIGHT_INLINE void dsl::refuse_padding(const tensor_info& param) {
  throw argument_error("the matrix given for \"" + std::string(param.name) +
                       "\" holds another value where it has no element than the parameter counts "
                       "as absent, which is " +
                       support::general_text(param.absent(), 6) +
                       "; make it with this value as its option absent");
}

TILEWRIGHT_INLINE void dsl::check_same_pattern(const tensor_info& param, const argument* own,
                                               const argument* of) {
  const auto refuse = [&](const std::string& what) {
    throw argument_error("the sparse matrix given for \"" + std::string(param.name) + "\" " + what +
                         "; it begins as a copy of the one given for \"" +
                         std::string(param.pattern()) + "\"");
  };
  if (own[0].type != of[0].type) refuse("has another type of indices");
  const auto has = [](std::int64_t n, const char* what) { return std::to_string(n) + what; };
  if (own[0].extents[0] != of[0].extents[0])
    refuse("has " + has(own[0].extents[0] - 1, " rows instead of ") +
           std::to_string(of[0].extents[0] - 1));
  if (own[1].extents[0] != of[1].extents[0])
    refuse("has " + has(own[1].extents[0], " elements instead of ") +
           std::to_string(of[1].extents[0]));
  for (const int array : {0, 1}) {
    const std::int64_t at = own[array].type == dtype::i64
                                ? detail::first_difference<std::int64_t>(own[array], of[array])
                                : detail::first_difference<std::int32_t>(own[array], of[array]);
    if (at >= 0)
      refuse("has another " + std::string(array ? "index" : "offset") + " at position " +
             std::to_string(at));
  }
}

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
