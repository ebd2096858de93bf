#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/index_type.hpp>

namespace tilewright::ir {
namespace detail {

inline stmt dense_nest(const sparse_iteration& it) {
  block_node b;
  b.name = it.name;
  b.annotations = it.annotations;
  b.init = it.init;
  b.body = it.body;
  std::vector<expr> values;
  std::vector<var> loops;
  for (const sparse_iter& i : it.iters) {
    const dtype type = i.var.type();
    b.iters.push_back({i.var, {integer(type, 0), cast(type, i.axis->length)}, i.kind});
    loops.push_back(make_var(i.var->name + "_loop", type));
    values.push_back(loops.back());
  }
  infer_regions(b, true, true);
  std::vector<range> domains;
  for (const iter_var& i : b.iters) domains.push_back(i.dom);
  stmt out = make_realize(std::move(values), boolean(true), make_block(std::move(b)));
  for (std::size_t k = loops.size(); k-- > 0;)
    out = make_loop(loops[k], domains[k].min, domains[k].extent, out);
  return out;
}

class sparse_verifier {
 public:
  explicit sparse_verifier(const sparse_function& f) : f_(f) {}

  void run() const {
    for (std::size_t k = 0; k < f_.axes.size(); ++k) check_axis(f_.axes[k], k);
    for (const sparse_buffer& b : f_.buffers) check_buffer(b);
    for (const auto& part : f_.body)
      if (const auto* it = std::get_if<sparse_iteration>(&part)) check_iteration(*it);
    verify(dense_form(f_));
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw verify_error(what); }

  bool is_param(const buffer& b) const {
    return support::any(f_.params, [&](const param& p) { return p.buffer == b; });
  }

  void check_axis(const sparse_axis& axis, std::size_t at) const {
    const std::string name = "axis \"" + axis->name + "\" ";
    if (!axis->parent && axis->kind != axis_kind::dense_fixed) fail(name + "has no parent");
    if (axis->parent &&
        std::find(f_.axes.begin(), f_.axes.begin() + static_cast<std::ptrdiff_t>(at),
                  axis->parent) == f_.axes.begin() + static_cast<std::ptrdiff_t>(at))
      fail(name + "stands before its parent \"" + axis->parent->name + "\"");
    check_array(axis->variable(), axis->indptr, name + "needs offsets");
    check_array(axis->sparse(), axis->indices, name + "needs indices");
  }

  bool is_allocated(const buffer& b) const {
    return std::find(f_.alloc_buffers.begin(), f_.alloc_buffers.end(), b) != f_.alloc_buffers.end();
  }

  void check_array(bool needed, const buffer& b, const std::string& what) const {
    if (!needed) return;
    const bool fits = b && is_param(b) && b->shape.size() == 1 && is_index(b->type);
    if (!fits) fail(what + ": a parameter of one dimension of int32 or int64");
  }

  void check_buffer(const sparse_buffer& b) const {
    const std::string name = "sparse buffer \"" + b.coordinates->name + "\" ";
    if (b.axes.size() != b.coordinates->shape.size()) fail(name + "needs one axis per dimension");
    for (std::size_t d = 0; d < b.axes.size(); ++d)
      if (!equal(b.axes[d]->length, b.coordinates->shape[d]))
        fail(name + "has another extent than axis \"" + b.axes[d]->name + "\"");
    const std::size_t behind = b.axes.size() - stored_rank(b);
    bool fits = is_param(b.storage) || is_allocated(b.storage);
    fits = fits && b.storage->type == b.coordinates->type;
    fits = fits && (b.storage->shape.size() == 1 || b.storage->shape.size() == 1 + behind);
    for (std::size_t d = 1; fits && d < b.storage->shape.size(); ++d)
      fits = equal(b.storage->shape[d], b.axes[b.axes.size() - 1 - behind + d]->length);
    if (b.absent && (b.absent.type() != b.coordinates->type ||
                     (b.absent->op != op::real && b.absent->op != op::integer)))
      fail(name + "has a default value that is no literal of its type");
    if (!fits)
      fail(
          name +
          "needs storage of its type: a parameter, or a buffer that the function allocates, of one "
          "dimension, or of one and those of its dense axes behind the stored ones");
  }

  /// An axis that merges patterns is dense and alone, and reads at least two of them.
  void check_merged(const sparse_iteration& it, const sparse_iter& i) const {
    if (i.walk == axis_walk::every) return;
    const std::string name = "iteration \"" + it.name + "\" merges axis \"" + i.axis->name + "\", ";
    if (i.axis->kind != axis_kind::dense_fixed || i.axis->parent)
      fail(name + "which is no dense axis that stands alone");
    std::vector<expr> reads;
    for_each_expr(it.body, [&](const expr& e) {
      if (!reads_along(f_, i, e)) return;
      if (support::none(reads, [&](const expr& known) { return equal(known, e); }))
        reads.push_back(e);
    });
    if (reads.size() < 2) fail(name + "along which it reads fewer than two sparse buffers");
  }

  /// The last axis of the group counts the elements of the whole, so that nothing is around the first one.
  static void check_fused(const sparse_iteration& it, std::size_t k) {
    if (!in_fused_group(it.iters, k)) return;
    const sparse_iter& i = it.iters[k];
    const std::string name =
        "iteration \"" + it.name + "\" has axis \"" + i.axis->name + "\" among fused ones, ";
    const bool first = k == 0 || !it.iters[k - 1].fused;
    if (i.walk != axis_walk::every || i.attached) fail(name + "which is merged or attached");
    if (first && i.axis->parent) fail(name + "before which its parent is missing");
    if (!first && (!i.axis->variable() || !(i.axis->parent == it.iters[k - 1].axis)))
      fail(name + "which is no axis of variable extent below the one before");
    if (i.fused && k + 1 == it.iters.size()) fail(name + "behind which there is none");
  }

  /// Rows of an attached axis are numbered by coordinates of the axis that it is attached to.
  static void check_attached(const sparse_iteration& it, const sparse_iter& i) {
    if (!i.attached) return;
    const std::string name =
        "iteration \"" + it.name + "\" attaches axis \"" + i.axis->name + "\" ";
    const sparse_axis& rows = i.axis->parent;
    if (!i.axis->variable() || rows->kind != axis_kind::dense_fixed || rows->parent)
      fail(name + "which is no axis of rows that have offsets");
    if (!equal(rows->length, i.attached->length))
      fail(name + "to \"" + i.attached->name + "\", which has another extent than its rows");
    if (i.walk != axis_walk::every ||
        support::any(it.iters, [&](const sparse_iter& o) { return o.axis == rows; }))
      fail(name + "which is merged, or whose own rows are walked");
  }

  void check_iteration(const sparse_iteration& it) const {
    const std::string name = "iteration \"" + it.name + "\" ";
    for (std::size_t k = 0; k < it.iters.size(); ++k) {
      const sparse_iter& i = it.iters[k];
      if (i.kind != iter_kind::spatial && i.kind != iter_kind::reduce)
        fail(name + "takes axis \"" + i.axis->name + "\" neither as spatial nor as reduce");
      check_merged(it, i);
      check_fused(it, k);
      check_attached(it, i);
      const sparse_axis& above = i.attached ? i.attached : i.axis->parent;
      bool found = !above;
      for (std::size_t before = 0; before < k; ++before) {
        if (it.iters[before].axis == i.axis) fail(name + "has axis \"" + i.axis->name + "\" twice");
        found = found || it.iters[before].axis == above;
      }
      if (!found)
        fail(name + "has axis \"" + i.axis->name + "\" without its parent \"" + above->name +
             "\" before it");
    }
  }

  const sparse_function& f_;
};

}  // namespace detail

TILEWRIGHT_INLINE function dense_form(const sparse_function& f) {
  function out;
  out.name = f.name;
  const auto holds = [&](const buffer& b) {
    return support::any(f.axes,
                        [&](const sparse_axis& a) { return a->indptr == b || a->indices == b; });
  };
  for (const param& p : f.params) {
    if (p.buffer && holds(p.buffer)) continue;
    param kept = p;
    for (const sparse_buffer& b : f.buffers)
      if (p.buffer && b.storage == p.buffer) kept.buffer = b.coordinates;
    out.params.push_back(kept);
  }
  std::vector<stmt> body;
  for (const auto& part : f.body) {
    const auto* it = std::get_if<sparse_iteration>(&part);
    body.push_back(it ? detail::dense_nest(*it) : std::get<stmt>(part));
  }
  std::vector<buffer> allocated = f.alloc_buffers;
  for (buffer& one : allocated)
    for (const sparse_buffer& b : f.buffers)
      if (b.storage == one) one = b.coordinates;
  out.body = make_root(make_seq(std::move(body)), std::move(allocated));
  return out;
}

TILEWRIGHT_INLINE void verify(const sparse_function& f) { detail::sparse_verifier(f).run(); }

}  // namespace tilewright::ir
