#pragma once

#include <utility>

#include <tilewright/impl/model/operators/slice_spec.hpp>
#include <tilewright/model/memory_view.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {
namespace detail {

inline op_kind view_kind(const node& n) {
  const operator_definition* op = find_operator(n);
  return op ? op->kind : op_kind::opaque;
}

/// Whether elements lie one behind another in row-major order.
inline bool is_dense(const shape& extents, const std::vector<std::int64_t>& strides) {
  const std::vector<std::int64_t> dense = search::row_major(extents);
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (extents[d] != 1 && strides[d] != dense[d]) return false;
  return true;
}

class view_finder {
 public:
  explicit view_finder(const graph& g) : g_(g), views_(g.values.size()) {
    for (std::size_t v = 0; v < views_.size(); ++v)
      if (g.values[v].type)
        views_[v] = {static_cast<value_id>(v), 0, search::row_major(g.values[v].type->extents)};
  }

  std::vector<memory_view> run() && {
    // a result is placed before its parts, and parts of parts after them
    for (auto n = g_.nodes.rbegin(); n != g_.nodes.rend(); ++n)
      if (view_kind(*n) == op_kind::joined) place_inputs(*n);
    for (const node& n : g_.nodes) {
      if (view_kind(n) == op_kind::alias) place_alias(n);
      if (view_kind(n) == op_kind::part) place_part(n);
    }
    return std::move(views_);
  }

 private:
  memory_view& at(value_id v) { return views_[static_cast<std::size_t>(v)]; }

  void place_inputs(const node& n) {
    const memory_view whole = at(n.outputs[0]);
    const node_view asked(g_, n);
    const std::size_t axis = asked.dimension(n.integer("axis", 1), asked.rank(0));
    std::int64_t before = 0;
    for (const value_id v : n.inputs) {
      at(v) = {whole.root, whole.offset + before * whole.strides[axis], whole.strides};
      before += g_.type_of(v).extents[axis];
    }
  }

  void place_alias(const node& n) {
    const memory_view& of = at(n.inputs[0]);
    if (!is_dense(g_.type_of(n.inputs[0]).extents, of.strides))
      throw internal_error(text_of(n) + " is an alias of elements that do not lie densely");
    at(n.outputs[0]) = {of.root, of.offset, search::row_major(g_.type_of(n.outputs[0]).extents)};
  }

  void place_part(const node& n) {
    const slice_spec s = slice_of(node_view(g_, n));
    memory_view out = at(n.inputs[0]);
    for (std::size_t d = 0; d < out.strides.size(); ++d) {
      out.offset += s.start[d] * out.strides[d];
      out.strides[d] *= s.step[d];
    }
    at(n.outputs[0]) = std::move(out);
  }

  const graph& g_;
  std::vector<memory_view> views_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::vector<memory_view> memory_views(const graph& g) {
  return detail::view_finder(g).run();
}

TILEWRIGHT_INLINE bool is_view(const node& n) {
  const op_kind kind = detail::view_kind(n);
  return kind == op_kind::alias || kind == op_kind::part || kind == op_kind::joined;
}

}  // namespace tilewright::network
