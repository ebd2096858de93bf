#pragma once

#include <algorithm>
#include <iterator>

#include <tilewright/model/operators.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE const std::vector<operator_definition>& all_operators() {
  static const std::vector<operator_definition> all = [] {
    std::vector<operator_definition> out;
    for (auto* add : {add_activations, add_arithmetic, add_attention, add_bits, add_comparisons,
                      add_constants, add_control, add_convolutions, add_data_movement, add_einsum,
                      add_functions, add_normalizations, add_pooling, add_products, add_reductions,
                      add_resizing, add_rotary_embedding, add_shapes, add_trigonometry})
      add(out);
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
      return std::tie(a.name, a.domain, a.since) < std::tie(b.name, b.domain, b.since);
    });
    return out;
  }();
  return all;
}

TILEWRIGHT_INLINE const operator_definition* find_operator(const node& n) {
  const std::vector<operator_definition>& all = all_operators();
  const operator_definition* best = nullptr;
  auto at = std::lower_bound(
      all.begin(), all.end(), n.op,
      [](const operator_definition& d, const std::string& op) { return d.name < op; });
  for (; at != all.end() && at->name == n.op; ++at)
    if (at->domain == n.domain && at->since <= n.version) best = &*at;
  return best;
}

TILEWRIGHT_INLINE void infer_same(inference& n) { n.out(0, n.in(0)); }

TILEWRIGHT_INLINE void infer_broadcast(inference& n) {
  tensor_type out = n.in(0);
  for (std::size_t k = 1; k < n.input_count(); ++k) {
    if (n.in(k).type != out.type)
      n.fail("its inputs hold " + std::string(name(out.type)) + " and " +
             std::string(name(n.in(k).type)) + "; they need one element type");
    out.extents = broadcast(n, out.extents, n.in(k).extents);
  }
  n.out(0, out);
}

}  // namespace tilewright::network
