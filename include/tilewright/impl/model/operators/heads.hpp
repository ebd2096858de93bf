// Features in heads, as attention and rotary embeddings have them.
#pragma once

#include <string>

#include <tilewright/model/operators.hpp>

namespace tilewright::network::detail {

/// Heads of an input [batch, heads, positions, size] or [batch, positions, heads * size].
struct head_spec {
  std::int64_t heads, positions, size;
  bool is_flat;

  /// Indices of a feature.
  dsl::index_list at(const dsl::runtime_expression& b, const dsl::runtime_expression& h,
                     const dsl::runtime_expression& s, const dsl::runtime_expression& d) const {
    if (is_flat) return {b, s, h * size + d};
    return {b, h, s, d};
  }
};

/// @param heads of a flat input; 0: it is not given
inline head_spec heads_of(const node_view& n, std::size_t k, std::int64_t heads,
                          const char* attribute_name) {
  const shape& s = n.in(k).extents;
  if (s.size() == 4) return {s[1], s[2], s[3], false};
  if (s.size() != 3)
    n.fail("input " + std::to_string(k) + " has the shape " + text_of(s) +
           "; it has 3 or 4 dimensions");
  if (heads < 1 || s[2] % heads != 0)
    n.fail("attribute " + std::string(attribute_name) + " is " + std::to_string(heads) +
           ", which does not divide the " + std::to_string(s[2]) + " features of input " +
           std::to_string(k));
  return {heads, s[1], s[2] / heads, true};
}

}  // namespace tilewright::network::detail
