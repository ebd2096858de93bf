#pragma once

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::space {
namespace detail {

/// Stride that is not known before the call: large, and never one.
inline constexpr std::int64_t unknown_stride = std::int64_t{1} << 32;

/// Row-major or declared strides of a buffer, in elements.
inline std::vector<std::int64_t> strides_of(const ir::buffer& b) {
  std::vector<std::int64_t> out(b->shape.size(), unknown_stride);
  std::int64_t contiguous = 1;
  for (std::size_t d = out.size(); d-- > 0;) {
    if (!b->strides.empty()) {
      if (ir::is_int(b->strides[d])) out[d] = b->strides[d]->integer;
    } else {
      out[d] = contiguous;
      contiguous = ir::is_int(b->shape[d])
                       ? support::saturated_product(contiguous, b->shape[d]->integer)
                       : unknown_stride;
    }
  }
  return out;
}

inline bool costly(const ir::expr& e) {
  const bool cheap = e->name == "maximum" || e->name == "minimum";
  return (e->op == ir::op::call && !cheap) || e->op == ir::op::if_then_else;
}

/// Loops of a block are its iteration variables, in order, from 0 and of constant extent.
inline bool bound_to_loops(const schedule& s, const ir::block_realize_node& realize) {
  const std::vector<ir::var> loops = primitive::get_loops(s.function(), realize.block->id);
  if (loops.size() != realize.values.size()) return false;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const ir::iter_var& iter = realize.block->iters[i];
    if (!realize.values[i].same(loops[i]) || !ir::is_int(iter.dom.extent) ||
        !ir::is_int(iter.dom.min, 0))
      return false;
    if (iter.kind != ir::iter_kind::spatial && iter.kind != ir::iter_kind::reduce) return false;
  }
  return true;
}

}  // namespace detail

namespace detail {

/// Indices in which quotients and remainders are decided by the domains of the block's variables
/// where they can be.
inline std::vector<ir::expr> within_domains(const ir::block_node& block,
                                            const std::vector<ir::expr>& indices) {
  const auto divides = [](const ir::expr& index) {
    bool found = false;
    ir::for_each_expr(index, [&](const ir::expr& e) {
      found = found || e->op == ir::op::floordiv || e->op == ir::op::floormod;
    });
    return found;
  };
  if (support::none(indices, divides)) return indices;
  arith::analyzer known;
  for (const ir::iter_var& iter : block.iters) known.bind(iter.var, iter.dom);
  std::vector<ir::expr> out;
  for (const ir::expr& index : indices) out.push_back(known.simplify(index));
  return out;
}

/// Joins `v // n` and `v % n` to `v` where the former takes n steps of the latter.
inline void join_digits(std::vector<std::pair<ir::expr, std::int64_t>>& terms) {
  for (auto& [low, step] : terms) {
    if (low->op != ir::op::floormod || !ir::is_var(low->args[0]) || !ir::is_int(low->args[1]))
      continue;
    const ir::expr digits = low->args[0];
    const std::int64_t n = low->args[1]->integer, whole = step * n;
    const auto high = std::find_if(terms.begin(), terms.end(), [&](const auto& t) {
      return t.second == whole && t.first->op == ir::op::floordiv &&
             t.first->args[0].same(digits) && ir::is_int(t.first->args[1], n);
    });
    if (high == terms.end()) continue;
    low = digits;
    terms.erase(high);
    return join_digits(terms);
  }
}

}  // namespace detail

TILEWRIGHT_INLINE access_profile profile_access(const ir::block_node& block,
                                                const ir::buffer& buffer,
                                                const std::vector<ir::expr>& all) {
  const std::vector<ir::expr> indices = detail::within_domains(block, all);
  access_profile out{buffer, std::vector<std::int64_t>(block.iters.size(), 0), true, -1};
  const std::vector<std::int64_t> strides = detail::strides_of(buffer);
  std::vector<std::pair<ir::expr, std::int64_t>> terms;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    out.affine = out.affine && !ir::reads_memory(indices[d]);
    for (const auto& [term, coefficient] : arith::to_linear(indices[d]).terms)
      terms.emplace_back(term, coefficient * strides[d]);
  }
  detail::join_digits(terms);
  for (const auto& [term, stride] : terms)
    for (std::size_t i = 0; i < block.iters.size(); ++i)
      if (ir::uses_var(term, block.iters[i].var))
        // a quotient or remainder moves irregularly: count it as a stride that is never one
        out.stride[i] += ir::is_var(term) ? stride : detail::unknown_stride;
  return out;
}

TILEWRIGHT_INLINE std::int64_t block_profile::instances() const noexcept {
  std::int64_t out = 1;
  for (const std::int64_t n : extent) out = support::saturated_product(out, n);
  return out;
}

TILEWRIGHT_INLINE std::int64_t block_profile::terms() const noexcept {
  std::int64_t out = 1;
  for (std::size_t i = 0; i < kind.size(); ++i)
    if (kind[i] == ir::iter_kind::reduce) out = support::saturated_product(out, extent[i]);
  return out;
}

TILEWRIGHT_INLINE double block_profile::uses_of(const ir::buffer& operand) const noexcept {
  return static_cast<double>(instances()) / static_cast<double>(ir::elements_of(operand));
}

TILEWRIGHT_INLINE bool block_profile::has(ir::iter_kind k) const noexcept {
  for (std::size_t i = 0; i < kind.size(); ++i)
    if (kind[i] == k && extent[i] > 1) return true;
  return false;
}

TILEWRIGHT_INLINE std::optional<std::size_t> block_profile::contiguous() const noexcept {
  for (std::size_t i = kind.size(); i-- > 0;)
    if (kind[i] == ir::iter_kind::spatial && extent[i] > 1 && write.stride[i] == 1) return i;
  return std::nullopt;
}

TILEWRIGHT_INLINE bool block_profile::loads_vectors(std::size_t iter) const noexcept {
  return support::all(reads,
                      [&](const access_profile& r) { return detail::loads_vectors(r, iter); });
}

TILEWRIGHT_INLINE std::optional<std::size_t> block_profile::reuse(
    std::size_t vector) const noexcept {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < kind.size(); ++i) {
    if (i == vector || kind[i] != ir::iter_kind::spatial || extent[i] < 2) continue;
    bool shared = false;
    for (const access_profile& r : reads)
      shared = shared || (r.affine && r.stride[i] == 0 && r.stride[vector] != 0);
    if (shared && (!best || extent[i] >= extent[*best])) best = i;
  }
  return best;
}

TILEWRIGHT_INLINE std::vector<std::size_t> block_profile::walking_order() const {
  const auto step = [&](std::size_t iter) {
    if (!reduction) return std::abs(write.stride[iter]);
    if (kind[iter] != ir::iter_kind::reduce) return std::numeric_limits<std::int64_t>::max();
    std::int64_t longest = 0;
    if (in_order) return longest;  // those of the reduction stay as they are
    for (const access_profile& r : reads)
      if (r.affine) longest = std::max(longest, std::abs(r.stride[iter]));
    return longest;
  };
  std::vector<std::size_t> order(kind.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  support::stable_sort(order, [&](std::size_t a, std::size_t b) { return step(a) > step(b); });
  return order;
}

TILEWRIGHT_INLINE std::optional<block_profile> profile(const schedule& s, const std::string& name) {
  const ir::block_realize_node& realize = named_block(s, name);
  const ir::block_node& b = *realize.block;
  const ir::store_node* store = ir::as_store(b.body);
  if (b.writes.size() != 1 || !store || !detail::bound_to_loops(s, realize)) return std::nullopt;
  block_profile out;
  out.reduction = static_cast<bool>(b.init);
  out.in_order = ir::keeps_term_order(s.function()) && ir::reduces_floats(b);
  for (const ir::iter_var& iter : b.iters) {
    out.kind.push_back(iter.kind);
    out.extent.push_back(iter.dom.extent->integer);
  }
  out.write = profile_access(b, store->buffer, store->indices);
  if (!out.write.affine) return std::nullopt;
  out.cheap = true;
  ir::for_each_expr(store->value, [&](const ir::expr& e) {
    out.cheap = out.cheap && !detail::costly(e);
    out.updates = out.updates || (e->op == ir::op::load && e->buffer == store->buffer && !b.init);
    if (e->op != ir::op::load || e->buffer == store->buffer) return;
    access_profile access = profile_access(b, e->buffer, e->args);
    for (std::size_t r = 0; r < b.reads.size(); ++r)
      if (b.reads[r].buffer == e->buffer) access.region = static_cast<int>(r);
    out.reads.push_back(std::move(access));
  });
  return out;
}

TILEWRIGHT_INLINE std::optional<std::vector<ir::expr>> common_point(const ir::block_node& b) {
  if (b.writes.empty()) return std::nullopt;
  std::vector<ir::expr> out;
  for (const ir::range& r : b.writes[0].box) out.push_back(r.min);
  for (const ir::buffer_region& w : b.writes) {
    if (w.box.size() != out.size()) return std::nullopt;
    for (std::size_t d = 0; d < out.size(); ++d)
      if (!ir::is_int(w.box[d].extent, 1) || !arith::same_value(w.box[d].min, out[d]))
        return std::nullopt;
  }
  return out;
}

TILEWRIGHT_INLINE std::optional<block_profile> reduction_profile(const schedule& s,
                                                                 const std::string& name) {
  const ir::block_realize_node& realize = named_block(s, name);
  const ir::block_node& b = *realize.block;
  if (b.writes.size() < 2) return profile(s, name);
  const std::optional<std::vector<ir::expr>> point = common_point(b);
  if (!b.init || !point || !detail::bound_to_loops(s, realize)) return std::nullopt;
  block_profile out;
  out.reduction = true;
  out.in_order = ir::keeps_term_order(s.function()) && ir::reduces_floats(b);
  for (const ir::iter_var& iter : b.iters) {
    out.kind.push_back(iter.kind);
    out.extent.push_back(iter.dom.extent->integer);
  }
  out.write = profile_access(b, b.writes[0].buffer, *point);
  if (!out.write.affine) return std::nullopt;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    const auto is_written = [&](const ir::buffer_region& w) { return w.buffer == e->buffer; };
    if (e->op == ir::op::load && support::none(b.writes, is_written))
      out.reads.push_back(profile_access(b, e->buffer, e->args));
  });
  return out;
}

}  // namespace tilewright::space
