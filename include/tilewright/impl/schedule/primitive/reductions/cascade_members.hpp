// Which reductions make a cascade, and how each depends on the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/primitive/reductions/tuple_value.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::cascading {

using joining::component;
using joining::values;

/// A block of a cascade: a reduction, or what computes elements for one.
struct member {
  std::size_t child = 0;
  std::size_t axis = 0;  // among its iteration variables
  bool reduces = false;
  component own;  // of elements: `to`, `at` and `element` alone
  std::size_t moves =
      0;  // dimension of the elements along the axis, or where that of the parts goes
  ir::buffer part;

  const ir::block_node& block(const block_scope& scope) const { return scope[child].block(); }
};

inline std::optional<std::size_t> position_of(const values& list, const ir::expr& e) {
  for (std::size_t d = 0; d < list.size(); ++d)
    if (list[d].same(e)) return d;
  return std::nullopt;
}

/// The only variable of the reduction, if its extent is a number.
inline std::optional<std::size_t> reduced_variable(const ir::block_node& b) {
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < b.iters.size(); ++i) {
    if (b.iters[i].kind != ir::iter_kind::reduce) continue;
    if (out || !ir::is_int(b.iters[i].dom.extent) || !ir::is_int(b.iters[i].dom.min, 0))
      return std::nullopt;
    out = i;
  }
  return out;
}

/// Whether the indices are the block's variables, `axis` left out or not, each once.
inline bool is_plain(const values& at, const ir::block_node& b,
                     std::optional<std::size_t> without) {
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < b.iters.size(); ++i) {
    if (without && i == *without) continue;
    ++wanted;
    if (!position_of(at, b.iters[i].var) || !ir::is_int(b.iters[i].dom.min, 0)) return false;
  }
  return at.size() == wanted;
}

/// A number rounded to fewer bits, as a number of its own type again.
inline bool is_rounded(const ir::expr& e) {
  if (e->op != ir::op::cast || e->args[0]->op != ir::op::cast) return false;
  const dtype narrow = e->args[0].type(), own = e->args[0]->args[0].type();
  return own == e.type() && is_float(own) && is_float(narrow) && bytes(narrow) < bytes(own);
}

/// `e` without roundings: how a sum is scaled does not depend on them.
inline ir::expr without_roundings(const ir::expr& e) {
  return ir::rewrite(e, [](const ir::expr& x) { return is_rounded(x) ? x->args[0]->args[0] : x; });
}

/// The blocks of a cascade in the root block of a function.
class cascade {
 public:
  explicit cascade(const ir::function& f) : f_(f), scope_(*ir::root_block(f)) {}

  std::size_t blocks() const { return scope_.schedulable() ? scope_.size() : 0; }
  std::int64_t extent() const { return extent_; }
  const std::string& refusal() const { return refusal_; }
  std::string head() const { return name(members_[peak_]); }
  std::string widest() const { return name(members_[widest_]); }
  std::size_t common_axes() const { return members_[peak_].own.at.size(); }
  bool is_wide() const { return members_[widest_].own.at.size() > common_axes(); }

  /// Begins with the reduction at `head`. @returns whether others need what it makes and can go along
  bool grow(std::size_t head) {
    members_.clear();
    others_.clear();
    const std::optional<component> first = joining::single_of(scope_, head);
    const std::optional<std::size_t> axis = reduced_variable(scope_[head].block());
    if (!first || !axis || !is_plain(first->at, scope_[head].block(), axis)) return false;
    extent_ = scope_[head].block().iters[*axis].dom.extent->integer;
    members_.push_back({head, *axis, true, *first, 0, {}});
    for (std::size_t c = head + 1; c < scope_.size(); ++c) {
      if (!reads_members(c)) continue;
      if (std::optional<member> next = member_of(c))
        members_.push_back(std::move(*next));
      else
        others_.push_back(c);
    }
    drop_idle();
    return count_reductions() > 1 && find_laws() && find_widest() && may_be_parted();
  }

 protected:
  bool refuse(std::string why) {
    if (refusal_.empty()) refusal_ = std::move(why);
    return false;
  }
  std::string name(const member& m) const { return m.block(scope_).name; }

  const member* made_by(const ir::buffer& b) const {
    for (const member& m : members_)
      if (m.own.to == b) return &m;
    return nullptr;
  }

  bool reads_members(std::size_t child) const {
    return support::any(members_, [&](const member& m) {
      return ir::loads_from(scope_[child].block().body, m.own.to);
    });
  }

  std::size_t count_reductions() const {
    return static_cast<std::size_t>(
        std::count_if(members_.begin(), members_.end(), [](const member& m) { return m.reduces; }));
  }

  /// Whether all results of members that `e` loads are taken at the place of the axis where `axis` is.
  bool stays_at(const ir::expr& e, const ir::var& axis) const {
    bool out = true;
    ir::for_each_expr(e, [&](const ir::expr& x) {
      const member* m = x->op == ir::op::load ? made_by(x->buffer) : nullptr;
      for (std::size_t d = 0; m && d < x->args.size(); ++d) {
        const bool along = !m->reduces && d == m->moves;
        out = out && ir::is_var(x->args[d]) && x->args[d].same(axis) == along;
      }
    });
    return out;
  }

  std::optional<member> member_of(std::size_t child) const {
    const ir::block_node& b = scope_[child].block();
    if (b.init) {
      const std::optional<component> own = joining::single_of(scope_, child);
      const std::optional<std::size_t> axis = reduced_variable(b);
      if (!own || !axis || b.iters[*axis].dom.extent->integer != extent_ ||
          !is_plain(own->at, b, axis) || !stays_at(own->element, b.iters[*axis].var))
        return std::nullopt;
      return member{child, *axis, true, *own, 0, {}};
    }
    const ir::store_node* store = ir::as_store(b.body);
    if (!store || !b.annotations.empty() || !joining::is_nest_of_its_own(scope_, child) ||
        !is_complete(scope_, child) || !is_plain(store->indices, b, std::nullopt))
      return std::nullopt;
    std::optional<std::size_t> axis;
    for (std::size_t i = 0; i < b.iters.size(); ++i) {
      if (!ir::is_int(b.iters[i].dom.extent, extent_) || !stays_at(store->value, b.iters[i].var))
        continue;
      if (axis) return std::nullopt;
      axis = i;
    }
    if (!axis) return std::nullopt;
    member out{child, *axis, false, {}, 0, {}};
    out.own.to = store->buffer;
    out.own.at = store->indices;
    out.own.element = store->value;
    out.moves = *position_of(store->indices, b.iters[*axis].var);
    return out;
  }

  /// Elements that no reduction of the cascade needs are no part of it.
  void drop_idle() {
    for (std::size_t i = members_.size(); i-- > 0;) {
      const member m = members_[i];
      const auto needs = [&](const member& later) {
        return later.child > m.child && ir::loads_from(later.own.element, m.own.to);
      };
      if (m.reduces || support::any(members_, needs)) continue;
      others_.push_back(m.child);
      members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::sort(others_.begin(), others_.end());
  }

  /// `e` with elements as what they are computed from.
  ir::expr spelled_out(const ir::expr& e) const {
    return ir::rewrite(e, [&](const ir::expr& x) {
      const member* m = x->op == ir::op::load ? made_by(x->buffer) : nullptr;
      if (!m || m->reduces) return x;
      ir::var_map at;
      for (std::size_t d = 0; d < x->args.size(); ++d) at.emplace(m->own.at[d], x->args[d]);
      return spelled_out(ir::substitute(m->own.element, at));
    });
  }

  /// How each reduction depends on earlier ones.
  bool find_laws() {
    for (member& m : members_) {
      if (!m.reduces) continue;
      m.own.element = without_roundings(spelled_out(m.own.element));
      std::vector<std::size_t> used;
      for (std::size_t p = 0; p < members_.size(); ++p)
        if (members_[p].reduces && &members_[p] != &m &&
            ir::loads_from(m.own.element, members_[p].own.to))
          used.push_back(p);
      if (used.empty()) continue;
      member& peak = members_[used[0]];
      if (used.size() > 1)
        return refuse("block " + name(m) + " needs the results of several reductions");
      std::optional<ir::expr> at;
      ir::for_each_expr(m.own.element, [&](const ir::expr& x) {
        if (x->op == ir::op::load && x->buffer == peak.own.to) at = x;
      });
      ir::var_map vars;
      for (std::size_t d = 0; d < (*at)->args.size(); ++d)
        vars.emplace(peak.own.at[d], (*at)->args[d]);
      vars.emplace(peak.block(scope_).iters[peak.axis].var, m.block(scope_).iters[m.axis].var);
      if (!joining::scale_by(m.own, peak.own, used[0], *at, ir::substitute(peak.own.element, vars)))
        return refuse(
            "what block " + name(m) +
            " sums is no product with a factor exp(x - m), m being the maximum of x that block " +
            name(peak) + " makes");
      peak_ = used[0];
      maxima_at_.resize(members_.size());
      maxima_at_[static_cast<std::size_t>(&m - members_.data())] = (*at)->args;
    }
    return support::any(members_, [](const member& m) { return m.own.scaled_by >= 0; }) ||
           refuse("no reduction needs the result of another one");
  }

  /// The reduction with the most dimensions, and where the others have theirs among these.
  bool find_widest() {
    const std::size_t rank = members_[peak_].own.at.size();
    widest_ = peak_;
    for (std::size_t r = 0; r < members_.size(); ++r) {
      member& m = members_[r];
      if (!m.reduces) continue;
      if (m.own.scaled_by < 0 ? r != peak_ : m.own.scaled_by != static_cast<int>(peak_))
        return refuse("blocks " + name(m) + " and " + name(members_[peak_]) +
                      " are parts of different cascades");
      if (m.own.at.size() == rank) continue;
      if (widest_ != peak_)
        return refuse("results of blocks " + name(m) + " and " + name(members_[widest_]) +
                      " both have more dimensions than those of " + name(members_[peak_]));
      widest_ = r;
    }
    if (widest_ == peak_)  // the last one stands for all
      for (std::size_t r = 0; r < members_.size(); ++r)
        if (members_[r].reduces) widest_ = r;
    const member& wide = members_[widest_];
    dims_.assign(members_.size(), {});
    const values& in_widest =
        maxima_at_[widest_];  // the maximum's place in terms of the widest one
    for (std::size_t r = 0; r < members_.size(); ++r) {
      const member& m = members_[r];
      if (!m.reduces) continue;
      const values& in_own = r == peak_ ? m.own.at : maxima_at_[r];
      std::vector<std::size_t> dims(m.own.at.size());
      for (std::size_t d = 0; d < m.own.at.size(); ++d) {
        const std::optional<std::size_t> of_peak = position_of(in_own, m.own.at[d]);
        if (r == widest_) {
          dims[d] = d;
          continue;
        }
        if (!of_peak) return refuse("results of block " + name(m) + " lie otherwise");
        dims[d] = *position_of(wide.own.at, in_widest[*of_peak]);
      }
      dims_[r] = std::move(dims);
    }
    for (std::size_t r = 0; r < members_.size(); ++r)
      for (std::size_t d = 0; d < dims_[r].size(); ++d)
        if (!ir::equal(members_[r].own.to->shape[d], wide.own.to->shape[dims_[r][d]]))
          return refuse("results of block " + name(members_[r]) + " have other extents");
    return true;
  }

  bool same_dims(std::size_t r) const {
    const std::vector<std::size_t>& d = dims_[r];
    for (std::size_t i = 0; i < d.size(); ++i)
      if (d[i] != i) return false;
    return d.size() == members_[widest_].own.at.size();
  }

  bool may_be_parted() {
    for (std::size_t r = 0; r < members_.size(); ++r) {
      const member& m = members_[r];
      const bool replaced = !m.reduces || !same_dims(r);
      if (replaced && !scope_.allocates(m.own.to))
        return refuse("block " + name(m) + " makes a result of the function");
      for (const std::size_t other : others_) {
        if (!ir::loads_from(scope_[other].block().body, m.own.to)) continue;
        if (!m.reduces)
          return refuse("block " + scope_[other].block().name + " needs elements of block " +
                        name(m) + ", which are made relative to the maximum of their part");
        if (other < members_.back().child)
          return refuse("block " + scope_[other].block().name + " needs the result of block " +
                        name(m) + " before the last one is there");
      }
    }
    return true;
  }

  ir::function f_;
  block_scope scope_;
  std::vector<member> members_;      // in the order of the program
  std::vector<std::size_t> others_;  // children that need results of members
  std::vector<values>
      maxima_at_;  // [members] where a scaled sum reads its maximum, in its own variables
  std::vector<std::vector<std::size_t>>
      dims_;  // [members][its dimensions] those of the widest result
  std::size_t peak_ = 0, widest_ = 0;
  std::int64_t extent_ = 0;
  std::string refusal_;
};

}  // namespace tilewright::primitive::detail::cascading
