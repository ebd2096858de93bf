#pragma once

#include <utility>

#include <tilewright/expr/kernel.hpp>
#include <tilewright/expr/show.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {

TILEWRIGHT_INLINE any_kernel::any_kernel(std::string_view name,
                                         std::vector<const dsl::tensor_info*> params,
                                         std::vector<dsl::node> nodes,
                                         std::shared_ptr<const void> storage)
    : name_(name),
      params_(std::move(params)),
      nodes_(std::move(nodes)),
      storage_(std::move(storage)) {}

TILEWRIGHT_INLINE kernel_info any_kernel::info() const {
  kernel_info out;
  out.name = name_;
  for (const dsl::tensor_info* t : params_) {
    param_info p{std::string(t->name), t->type, t->role, {}};
    for (int d = 0; d < t->rank; ++d) {
      p.dims.push_back({std::string(t->dims[d].name), t->dims[d].extent, t->dims[d].storage,
                        t->dims[d].index_bits, t->dims[d].group, std::string(t->dims[d].pattern),
                        t->dims[d].parts, t->dims[d].absent});
      const std::string& dim_name = p.dims.back().name;
      if (!dim_name.empty() && !support::contains(out.dim_names, dim_name))
        out.dim_names.push_back(dim_name);
    }
    out.params.push_back(std::move(p));
  }
  return out;
}

namespace dsl {

TILEWRIGHT_INLINE void throw_mistake(std::string_view kernel, const finding& problem,
                                     const node* nodes) {
  throw argument_error("kernel " + std::string(kernel) + ": " + describe(problem, nodes));
}

}  // namespace dsl
}  // namespace tilewright
