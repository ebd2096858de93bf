#pragma once

#include <cstdlib>
#include <string>

#include <tilewright/expr/reified/padding.hpp>
#include <tilewright/expr/show.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/radix.hpp>

namespace tilewright::dsl {
namespace detail {

/// Calls visit(load, scope) for each guarded read below `at`.
template <class Visit>
void for_each_guarded(const program_view& p, int at, const axis_scope& scope, const Visit& visit) {
  const node& n = p.nodes[at];
  const children part = children_of(p.nodes, at);
  finding none;
  const axis_scope inner = n.kind == node_kind::reduce ? reduced_axes(p, at, scope, none) : scope;
  for (int k = 0; k < part.count; ++k) for_each_guarded(p, part.at[k], inner, visit);
  if (n.kind == node_kind::load && n.edge != border::none) visit(at, scope);
}

inline padding_plan plan_read(const program_view& p, int at, const axis_scope& scope, int version,
                              std::vector<padding_group>& groups) {
  const node& n = p.nodes[at];
  const children index = children_of(p.nodes, at);
  std::vector<index_interval> box;
  bool inside = true;
  for (int d = 0; d < index.count; ++d) {
    const index_interval i = interval_of(p.nodes, index.at[d], scope, p.dims);
    if (!i.known) return {padding_plan::guarded, -1};
    inside = inside && i.lo >= 0 && i.hi < p.dims.find(n.tensor->dims[d]);
    box.push_back(i);
  }
  if (inside) return {padding_plan::direct, -1};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    padding_group& group = groups[g];
    if (group.tensor != n.tensor || group.edge != n.edge || group.version != version) continue;
    for (std::size_t d = 0; d < box.size(); ++d) group.box[d] = unite(group.box[d], box[d]);
    return {padding_plan::padded, static_cast<int>(g)};
  }
  groups.push_back({n.tensor, n.edge, version, std::move(box)});
  return {padding_plan::padded, static_cast<int>(groups.size()) - 1};
}

inline void check_store(std::string_view kernel, const program_view& p, int store,
                        const axis_scope& scope) {
  const children index = children_of(p.nodes, store);
  for (int d = 0; d < index.count; ++d) {
    const affine_index sum = affine_of(p.nodes, index.at[d], scope, p.dims);
    support::radix terms;
    for (int k = 0; k < scope.count; ++k)
      if (sum.coefficient[k] != 0 && scope.axes[k].extent > 1)
        terms.add(std::abs(sum.coefficient[k]), scope.axes[k].extent);
    if (!sum.rest.known || sum.rest.lo != sum.rest.hi || terms.distance() == 0)
      throw argument_error("kernel " + std::string(kernel) + ": " + show(p.nodes, store) +
                           " with " + show_ranges(p.nodes, store, scope) +
                           " may store an element twice; its indices need to be distinct sums");
  }
}

}  // namespace detail

TILEWRIGHT_INLINE padding_plans find_paddings(const program_view& p) {
  padding_plans out;
  std::map<const tensor_info*, int> versions;
  for_each_definition(p.nodes, p.count, [&](int at) {
    finding none;
    const children part = children_of(p.nodes, at);
    const axis_scope left = left_axes(p, at, none);
    detail::for_each_guarded(
        p, part.at[part.count - 1], left, [&](int load, const axis_scope& scope) {
          const int version = versions[p.nodes[load].tensor];
          out.reads[load] = detail::plan_read(p, load, scope, version, out.groups);
        });
    for (int t = 0; t + 1 < part.count; ++t) ++versions[p.nodes[part.at[t]].tensor];
  });
  return out;
}

TILEWRIGHT_INLINE void check_stores(std::string_view kernel, const program_view& p) {
  std::map<const tensor_info*, std::int64_t> stored;
  for_each_definition(p.nodes, p.count, [&](int at) {
    finding none;
    const children part = children_of(p.nodes, at);
    const axis_scope scope = left_axes(p, at, none);
    std::int64_t instances = 1;
    for (int k = 0; k < scope.count; ++k) instances *= scope.axes[k].extent;
    for (int t = 0; t + 1 < part.count; ++t) {
      for (int k = 0; k < scope.count; ++k)
        if (scope.axes[k].extent > 1 && !any_below(p.nodes, part.at[t], [&](int x) {
              return detail::is_axis_node(p.nodes[x], scope.axes[k].name);
            }))
          throw argument_error("kernel " + std::string(kernel) +
                               ": the targets of one fold need the "
                               "same axes; " +
                               show(p.nodes, part.at[t]) + " lacks " +
                               std::string(scope.axes[k].name));
      detail::check_store(kernel, p, part.at[t], scope);
      stored[p.nodes[part.at[t]].tensor] += instances;
    }
  });
  for (int k = 0; k < p.param_count; ++k) {
    const tensor_info& t = *p.params[k];
    if (t.role != role::out) continue;
    std::int64_t total = 1;
    for (int d = 0; d < t.rank; ++d) total *= p.dims.find(t.dims[d]);
    if (stored[&t] < total)
      throw argument_error("kernel " + std::string(kernel) + ": output " + std::string(t.name) +
                           " has " + std::to_string(total) +
                           " elements, of which its definitions write " +
                           std::to_string(stored[&t]));
  }
}

}  // namespace tilewright::dsl
