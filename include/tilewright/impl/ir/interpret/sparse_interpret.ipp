#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir {
namespace detail {

/// Writes a sparse program down point by point, for one pattern.
class pattern_expander {
 public:
  pattern_expander(const sparse_function& f, const std::vector<tensor_view>& args)
      : f_(f), args_(args) {}

  function run() {
    function out;
    out.name = f_.name;
    out.params = f_.params;
    std::vector<stmt> body;
    for (const auto& part : f_.body) {
      const auto* it = std::get_if<sparse_iteration>(&part);
      if (!it) {
        body.push_back(std::get<stmt>(part));
        continue;
      }
      statements_.clear();
      it_ = it;
      if (it->init) visit_spatial(0);
      visit(0, it->body);
      body.push_back(make_seq(statements_));
    }
    stmt all = make_seq(std::move(body));
    for (const buffer& b : f_.alloc_buffers) all = make_allocate(b, std::move(all));
    out.body = std::move(all);
    return out;
  }

 private:
  using place = std::map<const sparse_axis_node*, std::int64_t>;  // position along each axis

  static std::int64_t number(const expr& e) {
    if (is_int(e)) return as_int(e);
    throw argument_error("the interpreter of sparse programs needs literal extents");
  }

  std::int64_t read(const buffer& b, std::int64_t at) const {
    for (std::size_t i = 0; i < f_.params.size(); ++i) {
      if (!(f_.params[i].buffer == b)) continue;
      if (at < 0 || at >= number(b->shape[0]))
        throw argument_error("\"" + b->name + "\" is read at " + std::to_string(at) +
                             ", out of its bounds");
      if (!args_[i].strides.empty()) at *= args_[i].strides[0];
      return b->type == dtype::i64 ? static_cast<const std::int64_t*>(args_[i].data)[at]
                                   : static_cast<const std::int32_t*>(args_[i].data)[at];
    }
    throw argument_error("\"" + b->name + "\" is no parameter");
  }

  /// Where the elements of the axis begin below the position of its parent, among all of them.
  std::int64_t start(const sparse_axis_node& axis, const place& at) const {
    return axis.variable() ? read(axis.indptr, address(*axis.parent, at)) : 0;
  }
  std::int64_t count(const sparse_axis_node& axis, const place& at) const {
    if (axis.variable()) return read(axis.indptr, address(*axis.parent, at) + 1) - start(axis, at);
    return number(axis.kind == axis_kind::sparse_fixed ? axis.width : axis.length);
  }
  /// Number of the element at this place among all of the axis and those above it.
  std::int64_t address(const sparse_axis_node& axis, const place& at) const {
    const std::int64_t own = at.at(&axis);
    if (axis.variable()) return start(axis, at) + own;
    return axis.parent ? address(*axis.parent, at) * count(axis, at) + own : own;
  }
  std::int64_t coordinate(const sparse_axis_node& axis, const place& at) const {
    return axis.sparse() ? read(axis.indices, address(axis, at)) : at.at(&axis);
  }

  /// `init` at each point of the spatial axes, as coordinates of dense ones.
  void visit_spatial(std::size_t k) {
    if (k == it_->iters.size()) return emit(it_->init);
    const sparse_iter& i = it_->iters[k];
    if (i.kind != iter_kind::spatial) return visit_spatial(k + 1);
    for_each_position(i, [&] { visit_spatial(k + 1); });
  }

  void visit(std::size_t k, const stmt& body) {
    if (k == it_->iters.size()) {
      if (support::all(it_->iters, [&](const sparse_iter& i) { return is_walked(i, body); }))
        emit(body);
      return;
    }
    for_each_position(it_->iters[k], [&] { visit(k + 1, body); });
  }

  /// Whether an axis that merges patterns has the point at hand.
  bool is_walked(const sparse_iter& i, const stmt& body) const {
    if (i.walk == axis_walk::every) return true;
    bool some = false, all = true;
    for_each_expr(body, [&](const expr& e) {
      if (!reads_along(f_, i, e)) return;
      const bool stored = find(*f_.find(e->buffer), e->args).has_value();
      some = some || stored;
      all = all && stored;
    });
    return i.walk == axis_walk::unite ? some : all;
  }

  template <class F>
  void for_each_position(const sparse_iter& i, const F& f) {
    if (i.attached) here_[i.axis->parent.get()] = coordinate(*i.attached, here_);
    const std::int64_t n = count(*i.axis, here_);
    for (std::int64_t p = 0; p < n; ++p) {
      here_[i.axis.get()] = p;
      values_[i.var] = integer(i.var.type(), coordinate(*i.axis, here_));
      f();
    }
    here_.erase(i.axis.get());
    if (i.attached) here_.erase(i.axis->parent.get());
    values_.erase(i.var);
  }

  void emit(const stmt& s) {
    constexpr std::size_t most = 1'000'000;
    if (statements_.size() == most)
      throw argument_error("the interpreter of sparse programs takes a million points");
    at_point change(*this);
    statements_.push_back(change.mutate(s));
  }

  /// The statement at one point.
  class at_point : public mutator {
   public:
    explicit at_point(const pattern_expander& of) : of_(of) {}
    using mutator::mutate;
    expr mutate(const expr& e) override {
      if (e->op == op::var) {
        const auto found = of_.values_.find(e);
        return found == of_.values_.end() ? e : found->second;
      }
      if (e->op == op::load)
        if (const sparse_buffer* b = of_.f_.find(e->buffer)) {
          const std::optional<std::vector<expr>> at = of_.find(*b, e->args);
          return at ? load(b->storage, *at) : absent_value(*b);
        }
      return mutator::mutate(e);
    }
    stmt mutate(const stmt& s) override {
      const store_node* store = as_store(s);
      const sparse_buffer* b = store ? of_.f_.find(store->buffer) : nullptr;
      if (!b) return mutator::mutate(s);
      const std::optional<std::vector<expr>> at = of_.find(*b, store->indices);
      if (!at) return make_seq({});
      return make_store(b->storage, *at, mutate(store->value));
    }

   private:
    const pattern_expander& of_;
  };

  /// Where the element with these indices lies; nothing when it is not stored.
  std::optional<std::vector<expr>> find(const sparse_buffer& b, const std::vector<expr>& at) const {
    place found;
    for (std::size_t d = 0; d < b.axes.size(); ++d) {
      const sparse_axis_node& axis = *b.axes[d];
      if (const std::optional<std::int64_t> own = own_position(axis, at[d])) {
        found[&axis] = *own;
        continue;
      }
      const expr value = substitute(at[d], values_);
      if (!is_int(value))
        throw argument_error("\"" + b.coordinates->name +
                             "\" is read at coordinates that are read from memory");
      const std::int64_t n = count(axis, found);
      std::int64_t p = 0;
      for (found[&axis] = 0; p < n; ++p) {
        found[&axis] = p;
        if (coordinate(axis, found) == as_int(value)) break;
      }
      if (p == n) return std::nullopt;
    }
    std::vector<expr> out;
    std::int64_t element = 0;
    const std::size_t stored = b.storage->shape.size() > 1 ? stored_rank(b) : b.axes.size();
    for (std::size_t d = 0; d < b.axes.size(); ++d) {
      const sparse_axis_node& axis = *b.axes[d];
      const std::int64_t own = found.at(&axis);
      if (d >= stored) {
        out.push_back(integer(dtype::i64, own));
        continue;
      }
      element =
          axis.variable() ? read(axis.indptr, element) + own : element * count(axis, found) + own;
    }
    out.insert(out.begin(), integer(dtype::i64, element));
    return out;
  }

  std::optional<std::int64_t> own_position(const sparse_axis_node& axis, const expr& index) const {
    for (const sparse_iter& i : it_->iters)
      if (i.axis.get() == &axis && i.var.same(index)) return here_.at(&axis);
    return std::nullopt;
  }

  const sparse_function& f_;
  const std::vector<tensor_view>& args_;
  const sparse_iteration* it_ = nullptr;
  place here_;
  var_map values_;
  std::vector<stmt> statements_;
};

}  // namespace detail

TILEWRIGHT_INLINE void interpret(const sparse_function& f, const std::vector<tensor_view>& args) {
  if (args.size() != f.params.size())
    throw argument_error("the interpreter of sparse programs needs one argument per parameter");
  interpret(detail::pattern_expander(f, args).run(), args);
}

}  // namespace tilewright::ir
