#pragma once

#include <utility>

#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/specialize.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir {
namespace detail {

/// Replaces variables, in the layouts of buffers too.
class specializer : public mutator {
 public:
  explicit specializer(const var_map& values) : values_(values) {}
  using mutator::mutate;

  expr mutate(const expr& e) override {
    if (e->op != op::var) return mutator::mutate(e);
    const auto found = values_.find(e);
    return found == values_.end() ? e : found->second;
  }

  buffer mutate(const buffer& b) override {
    const auto known = buffers_.find(b);
    if (known != buffers_.end()) return known->second;
    auto* node = new buffer_node(*b);
    const buffer changed(node);
    for (expr& extent : node->shape) extent = mutate(extent);
    for (expr& stride : node->strides) stride = mutate(stride);
    if (node->elem_offset) node->elem_offset = mutate(node->elem_offset);
    bool same = node->elem_offset.same(b->elem_offset);
    for (std::size_t d = 0; d < node->shape.size(); ++d)
      same = same && node->shape[d].same(b->shape[d]);
    for (std::size_t d = 0; d < node->strides.size(); ++d)
      same = same && node->strides[d].same(b->strides[d]);
    return buffers_[b] = same ? b : changed;
  }

  block mutate(const block& b) override {
    block_node out = *mutator::mutate(b);
    for (match_buffer& m : out.match_buffers) m.buffer = mutate(m.buffer);
    return make_block(std::move(out));
  }

 private:
  const var_map& values_;
  buffer_map buffers_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::vector<var> symbolic_extents(const function& f) {
  std::vector<var> out;
  var_set seen;
  const auto collect = [&](const expr& e) {
    for (const var& v : free_vars(e))
      if (seen.insert(v).second) out.push_back(v);
  };
  for (const param& p : f.params) {
    if (!p.buffer) continue;
    for (const expr& extent : p.buffer->shape) collect(extent);
    if (p.buffer->elem_offset) collect(p.buffer->elem_offset);
  }
  return out;
}

TILEWRIGHT_INLINE function specialize(const function& f,
                                      const std::map<std::string, std::int64_t>& values) {
  std::vector<var> known = symbolic_extents(f);
  const var_set of_shapes(known.begin(), known.end());
  for (const param& p : f.params)
    if (!p.buffer) known.push_back(p.scalar);
  var_map map;
  for (const auto& [name, value] : values) {
    bool found = false;
    for (const var& v : known) {
      if (v->name != name) continue;
      if (is_float(v.type()))
        throw argument_error("scalar " + name + " is no integer; it cannot be specialized");
      if (wrap_to(v.type(), value) != value)
        throw argument_error(name + " = " + std::to_string(value) + " does not fit into " +
                             std::string(tilewright::name(v.type())) + ", its type in function " +
                             f.name);
      if (value < 0 && of_shapes.count(v))
        throw argument_error("extent " + name + " = " + std::to_string(value) +
                             " is negative; extents are 0 or more");
      map[v] = integer(v.type(), value);
      found = true;
    }
    if (!found)
      throw argument_error("function " + f.name + " has no symbolic extent or scalar parameter " +
                           name);
  }
  if (map.empty()) return f;
  detail::specializer change(map);
  function out = f;
  for (param& p : out.params)
    if (p.buffer) p.buffer = change.mutate(p.buffer);
  out.body = change.mutate(f.body);
  try {
    check_extents(out);
  } catch (const argument_error& e) {
    std::string chosen;
    for (const auto& [name, value] : values)
      chosen += (chosen.empty() ? "" : ", ") + name + " = " + std::to_string(value);
    throw argument_error(chosen + ": " + e.what());
  }
  return out;
}

}  // namespace tilewright::ir
