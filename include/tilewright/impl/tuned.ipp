#pragma once

#include <tilewright/expr/alternatives.hpp>
#include <tilewright/tuned.hpp>

namespace tilewright {

TILEWRIGHT_INLINE std::shared_ptr<search::dispatcher> make_dispatcher(
    const std::vector<any_kernel>& algorithms, tuned_options options) {
  search::kernel_signature signature;
  const kernel_info info = algorithms.at(0).info();
  signature.name = info.name;
  for (const param_info& p : info.params) {
    search::parameter_signature s;
    s.name = p.name;
    s.type = p.type;
    s.written = p.written();
    s.updated = p.role == dsl::role::inout;
    for (const dim_description& d : p.dims) s.dims.push_back({d.name, d.extent});
    signature.params.push_back(std::move(s));
  }
  return std::make_shared<search::dispatcher>(
      std::move(signature),
      [algorithms](const search::extent_map& dims) { return reify(algorithms, dims); },
      std::move(options));
}

}  // namespace tilewright
