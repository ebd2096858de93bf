// Iterations over the rows of one pattern, in one block of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/sparse/iteration_lowerer.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::sparse::detail {

/// The extents of the other axes depend on the position along the first one.
inline bool ragged(const std::vector<sparse_iter>& iters) {
  for (std::size_t k = 0; k < iters.size(); ++k)
    if (iters[k].axis->variable() && !in_fused_group(iters, k)) return true;
  return false;
}
inline bool ragged(const sparse_function& f, const sparse_iteration& it) {
  return ragged(co_iteration(f, it).outer());
}

/// Iterations that follow each other over the rows of one pattern, each of which reads on that
/// pattern what an earlier one wrote: one block of rows holds the nests of all.
class row_group {
 public:
  row_group(const sparse_function& f, const parent_lists& parents) : f_(f), parents_(parents) {}

  bool empty() const { return members_.empty(); }

  /// Whether the iteration continues the group: a row of what it reads is there when the others have
  /// done that row.
  bool takes(const sparse_iteration& it) const {
    if (members_.empty()) return true;
    if (!begins_with_rows(it) || !begins_with_rows(members_.front())) return false;
    const sparse_iter &own = it.iters.front(), &first = members_.front().iters.front();
    if (!(own.axis == first.axis) || own.kind != iter_kind::spatial) return false;
    std::vector<sparse_iteration> all = members_;
    all.push_back(it);
    bool follows = false, by_rows = true;
    for_each_access(it, [&](const buffer& b, const std::vector<expr>&) {
      if (!written(members_, b) && !written({it}, b)) return;
      follows = follows || (f_.find(b) && written(members_, b));
      by_rows = by_rows && (!accessed(members_, b) || row_dimension(all, b));
    });
    for (const sparse_iteration& member : members_)
      for_each_access(member, [&](const buffer& b, const std::vector<expr>&) {
        if (written({it}, b)) by_rows = by_rows && row_dimension(all, b);
      });
    return follows && by_rows;
  }

  void add(const sparse_iteration& it) { members_.push_back(it); }

  /// The nests of the group; what nothing else reads is taken from `allocated` and kept a row at a time.
  stmt lower(std::vector<buffer>& allocated) {
    std::vector<row_buffer> rows;
    if (members_.size() > 1) rows = take_rows(allocated);
    const iteration_lowerer first(f_, members_.front(), rows, parents_);
    std::vector<stmt> nests;
    const expr row = members_.front().iters.front().var;
    for (const sparse_iteration& member : members_) {
      sparse_iteration same_row = member;
      const var_map to_first{{member.iters.front().var, row}};
      same_row.iters.front().var = members_.front().iters.front().var;
      if (same_row.init) same_row.init = substitute(same_row.init, to_first);
      same_row.body = substitute(same_row.body, to_first);
      nests.push_back(iteration_lowerer(f_, same_row, rows, parents_).inner());
    }
    const stmt out =
        ragged(f_, members_.front()) ? first.around(make_seq(std::move(nests))) : nests.front();
    members_.clear();
    return out;
  }

 private:
  /// The axis of rows is the first one, and only their elements depend on it.
  bool begins_with_rows(const sparse_iteration& it) const {
    const co_iteration divided(f_, it);
    for (const sparse_iter& i : divided.outer())
      if (i.axis->variable())
        return !it.iters.front().fused && !i.attached && i.axis->parent == it.iters.front().axis;
    return false;
  }

  template <class Visit>
  static void for_each_access(const sparse_iteration& it, const Visit& visit) {
    for (const stmt& part : {it.init, it.body}) {
      if (!part) continue;
      for_each_expr(part, [&](const expr& e) {
        if (e->op == op::load) visit(e->buffer, e->args);
      });
      for_each_stmt(part, [&](const stmt& s) {
        if (const store_node* store = as_store(s)) visit(store->buffer, store->indices);
      });
    }
  }

  static bool written(const std::vector<sparse_iteration>& by, const buffer& b) {
    bool out = false;
    for (const sparse_iteration& it : by)
      for_each_stmt(it.body,
                    [&](const stmt& s) { out = out || (as_store(s) && as_store(s)->buffer == b); });
    return out;
  }
  static bool accessed(const std::vector<sparse_iteration>& by, const buffer& b) {
    bool out = false;
    for (const sparse_iteration& it : by)
      for_each_access(it, [&](const buffer& a, const std::vector<expr>&) { out = out || a == b; });
    return out;
  }

  /// The dimension of `b` at which each access of these has the row; nothing where there is none.
  static std::optional<std::size_t> row_dimension(const std::vector<sparse_iteration>& all,
                                                  const buffer& b) {
    for (std::size_t d = 0; d < b->shape.size(); ++d) {
      bool rows = true;
      for (const sparse_iteration& it : all)
        for_each_access(it, [&](const buffer& a, const std::vector<expr>& at) {
          rows = rows && (!(a == b) || at[d].same(it.iters.front().var));
        });
      if (rows) return d;
    }
    return std::nullopt;
  }

  /// A row is as long as there are columns at most; beyond this it stays where it is.
  static constexpr std::int64_t longest_row = std::int64_t{1} << 22;  // elements

  std::vector<row_buffer> take_rows(std::vector<buffer>& allocated) const {
    std::vector<row_buffer> out;
    std::vector<buffer> left;
    for (const buffer& b : allocated) {
      buffer whole = b;
      for (const sparse_buffer& s : f_.buffers)
        if (s.storage == b) whole = s.coordinates;
      const auto d = row_dimension(members_, whole);
      std::int64_t elements = 1;
      for (std::size_t k = 0; d && k < whole->shape.size(); ++k)
        if (k != *d)
          elements *= is_int(whole->shape[k]) ? as_int(whole->shape[k]) : longest_row + 1;
      if (!d || elements > longest_row || !accessed(members_, whole) || used_elsewhere(whole)) {
        left.push_back(b);
        continue;
      }
      std::vector<expr> shape = whole->shape;
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*d));
      if (shape.empty()) shape.push_back(integer(whole->shape[*d].type(), 1));
      out.push_back({whole, make_buffer(whole->name, whole->type, shape), *d});
    }
    allocated = std::move(left);
    return out;
  }

  bool used_elsewhere(const buffer& b) const {
    bool out = false;
    for (const auto& part : f_.body) {
      if (const stmt* dense = std::get_if<stmt>(&part)) {
        for_each_expr(*dense,
                      [&](const expr& e) { out = out || (e->op == op::load && e->buffer == b); });
        for_each_stmt(
            *dense, [&](const stmt& s) { out = out || (as_store(s) && as_store(s)->buffer == b); });
        continue;
      }
      const auto& it = std::get<sparse_iteration>(part);
      const bool member = support::any(members_, [&](const auto& m) { return m.body == it.body; });
      out = out || (!member && accessed({it}, b));
    }
    return out;
  }

  const sparse_function& f_;
  const parent_lists& parents_;
  std::vector<sparse_iteration> members_;
};

}  // namespace tilewright::sparse::detail
