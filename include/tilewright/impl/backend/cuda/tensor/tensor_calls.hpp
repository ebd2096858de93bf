// Calls about boxes of tensors in statements (impl/pass/gpu/tensor/tensor_copy.hpp), and the maps that kernels get for them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/cuda/program.hpp>
#include <tilewright/impl/backend/cuda/text.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::cuda::detail {

inline bool is_tensor_call(const ir::expr& e) {
  namespace t = pass::detail::tensor_copies;
  constexpr std::array<std::string_view, 10> names{
      t::copy_name, t::expect_name,     t::wait_name,  t::init_name,   t::store_name,
      t::drop_name, t::fence_init_name, t::fence_name, t::arrive_name, t::commit_name};
  return e->op == ir::op::call && std::find(names.begin(), names.end(), e->name) != names.end();
}

inline bool is_box_store(const ir::expr& e) {
  return e->name == pass::detail::tensor_copies::store_name;
}
/// Where a copied or stored box begins, as a load of its tensor; null for other calls.
inline ir::expr copied_tensor(const ir::expr& e) {
  if (is_box_store(e)) return e->args[1];
  return e->name == pass::detail::tensor_copies::copy_name ? e->args[2] : ir::expr();
}

/// Sides of the box, outermost first, and its swizzle.
inline std::vector<std::int64_t> sides_of(const ir::expr& copy) {
  std::vector<std::int64_t> out;
  for (std::size_t i = is_box_store(copy) ? 2 : 3; i < copy->args.size(); ++i)
    out.push_back(ir::as_int(copy->args[i]));
  return out;
}

/// The map that a copy uses.
inline const named_map& map_of(const std::vector<named_map>& maps, const ir::expr& copy) {
  const std::vector<std::int64_t> sides = sides_of(copy);
  for (const named_map& m : maps)
    if (m.tensor == copied_tensor(copy)->buffer && m.sides == sides) return m;
  throw internal_error("the CUDA back end met a box of a tensor without a map: " +
                       copied_tensor(copy)->buffer->name);
}

/// What a map is encoded with, but for its address.
inline target::tensor_box described(const named_map& m) {
  const ir::buffer& b = m.tensor;
  target::tensor_box out;
  out.type = b->type;
  std::int64_t step = bytes(b->type);
  for (std::size_t d = b->shape.size(); d-- > 0;) {
    const std::int64_t stride =
        b->strides.empty() ? step : ir::as_int(b->strides[d]) * bytes(b->type);
    if (d + 1 < b->shape.size()) out.strides.push_back(stride);
    out.extents.push_back(ir::as_int(b->shape[d]));
    out.box.push_back(m.sides[d]);
    step = stride * ir::as_int(b->shape[d]);
  }
  out.swizzle = m.sides.back();
  if (const std::string why = out.why_not(); !why.empty())
    throw internal_error("the CUDA back end met a box of " + b->name + " with " + why);
  return out;
}

/// Tensors of which the kernel copies boxes become parameters, once for each form of a box, behind those that have
/// the memory of the tensors.
inline void declare_maps(const ir::stmt& s, expression_text& words, kernel& k) {
  ir::for_each_expr(s, [&](const ir::expr& e) {
    const ir::expr tensor = e->op == ir::op::call ? copied_tensor(e) : ir::expr();
    if (!tensor) return;
    const std::vector<std::int64_t> sides = sides_of(e);
    const ir::buffer& b = tensor->buffer;
    for (const named_map& m : words.maps)
      if (m.tensor == b && m.sides == sides) return;
    const named_map m{b, sides, words.fresh(b->name + "_map")};
    words.maps.push_back(m);
    std::size_t pointer = 0;
    while (k.parameters[pointer].name != words.name(b)) ++pointer;
    const launch_argument from = k.start.arguments[pointer];
    k.parameters.push_back({m.name, b->type, false, false, k.parameters[pointer].elements});
    k.start.arguments.push_back({launch_argument::kind::tensor_map, 8,
                                 static_cast<std::int64_t>(k.start.tensor_maps.size())});
    k.start.tensor_maps.push_back({from.from, from.index, described(m)});
  });
}

}  // namespace tilewright::backend::cuda::detail
