#pragma once

#include <utility>

#include <tilewright/impl/model/passes/pass_list.hpp>
#include <tilewright/model/passes.hpp>

namespace tilewright::network {
namespace detail {

inline void simplify(graph& g) {
  for (const named_pass& pass : simplifying_passes) pass.run(g);
}

}  // namespace detail

TILEWRIGHT_INLINE void make_kernels(graph& g, bool parts_in_place) {
  for (const detail::named_pass& pass : detail::kernel_passes)
    if (parts_in_place || pass.run != &place_parts) pass.run(g);
}

TILEWRIGHT_INLINE void optimize(graph& g) {
  detail::simplify(g);
  make_kernels(g);
}

TILEWRIGHT_INLINE std::vector<graph> forms_of(graph g) {
  detail::simplify(g);
  std::vector<graph> out{std::move(g)};
  for (const auto pass : {group_attention, join_products})
    for (std::size_t k = out.size(); k-- > 0;) {
      graph other = out[k];
      pass(other);
      if (other.nodes.size() != out[k].nodes.size() || other.values.size() != out[k].values.size())
        out.push_back(std::move(other));
    }
  return out;
}

TILEWRIGHT_INLINE std::vector<graph> alternatives_of(graph g) {
  std::vector<graph> out = forms_of(std::move(g));
  for (graph& each : out) make_kernels(each);
  return out;
}

}  // namespace tilewright::network
