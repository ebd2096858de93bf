#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/awaited_factors.hpp>
#include <tilewright/impl/schedule/primitive/reductions/cascade.hpp>
#include <tilewright/impl/schedule/primitive/reductions/cascade_members.hpp>
#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/impl/schedule/primitive/reductions/padded_cascade.hpp>
#include <tilewright/impl/schedule/primitive/reductions/running_cascade.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {
namespace detail::cascading {

/// A cascade whose reductions are computed part by part.
class cut_cascade : public cascade {
 public:
  using cascade::cascade;

  ir::function in_parts(std::int64_t length) {
    length_ = length;
    make_buffers();
    ir::function out = f_;
    std::vector<ir::buffer> made, gone;
    for (member& m : members_) {
      std::vector<ir::stmt> nests;
      nests.reserve(2);
      nests.push_back(part_of(m));
      made.push_back(m.part);
      if (!m.reduces) gone.push_back(m.own.to);
      if (&m == &members_.back()) nests.push_back(whole());
      out = joining::put_nests(out, m.block(scope_).id, nests);
    }
    for (std::size_t r = 0; r < members_.size(); ++r)
      if (wide_[r] && wide_[r] != members_[r].own.to) {
        made.push_back(wide_[r]);
        gone.push_back(members_[r].own.to);
      }
    out = joining::change_buffers(out, made, gone);
    for (const std::size_t other : others_) out = with_wide_results(out, other);
    return out;
  }

 private:
  /// The shape, or the place, of what a member makes of a part.
  values parted(const member& m, values list, const ir::expr& part, const ir::expr& inside) const {
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(m.moves);
    if (!m.reduces) {
      *at = inside;
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(m.moves), part);
    } else {
      list.insert(at, part);
    }
    return list;
  }

  void make_buffers() {
    const auto number = [](std::int64_t n) { return ir::integer(dtype::i32, n); };
    const ir::expr count = number(extent_ / length_);
    wide_.assign(members_.size(), {});
    for (std::size_t r = 0; r < members_.size(); ++r) {
      member& m = members_[r];
      if (m.reduces) {  // behind the dimensions that all have
        m.moves = m.own.at.size();
        for (std::size_t d = 0; d < m.own.at.size(); ++d)
          if (r == widest_ && !position_of(maxima_at_[r], m.own.at[d]))
            m.moves = std::min(m.moves, d);
      }
      const ir::buffer& to = m.own.to;
      m.part = ir::make_buffer(to->name + "_part", to->type,
                               parted(m, to->shape, count, number(length_)));
      if (m.reduces)
        wide_[r] = same_dims(r) ? to
                                : ir::make_buffer(to->name + "_whole", to->type,
                                                  members_[widest_].own.to->shape);
    }
  }

  /// The nest of a member for each part.
  ir::stmt part_of(const member& m) const {
    const ir::block_node& old = m.block(scope_);
    const ir::var& axis = old.iters[m.axis].var;
    const dtype type = axis.type();
    const auto number = [&](std::int64_t n) { return ir::integer(type, n); };
    const ir::var part = ir::make_var(axis->name + "_part", type),
                  inside = ir::make_var(axis->name, type);
    const ir::iter_var part_iter{
        part, {number(0), number(extent_ / length_)}, ir::iter_kind::spatial},
        inside_iter{inside,
                    {number(0), number(length_)},
                    m.reduces ? ir::iter_kind::reduce : ir::iter_kind::spatial};
    ir::var_map renamed{{axis, part * number(length_) + inside}};
    ir::block_node out;
    out.name = old.name;
    for (std::size_t d = 0; d <= m.own.at.size(); ++d) {
      if (d == m.moves) out.iters.push_back(part_iter);
      if (d == m.moves && !m.reduces) out.iters.push_back(inside_iter);
      if (d == m.own.at.size() || m.own.at[d].same(axis)) continue;
      for (ir::iter_var i : old.iters)
        if (i.var.same(m.own.at[d])) {
          const ir::var v = ir::make_var(i.var->name, i.var.type());
          renamed.emplace(i.var, v);
          i.var = v;
          out.iters.push_back(std::move(i));
        }
    }
    if (m.reduces) out.iters.push_back(inside_iter);
    const values at = ir::substitute(parted(m, m.own.at, part, inside), renamed);
    const ir::expr element = ir::substitute(in_part(element_of(m), part, inside), renamed);
    ir::expr stored = element;
    if (m.reduces) {
      out.init = ir::make_store(m.part, at, m.own.identity);
      stored = m.own.plain.combine({ir::load(m.part, at)}, {element})[0];
    }
    out.body = ir::make_store(m.part, at, stored);
    out.reads = joining::loaded_elements({element});
    out.writes.push_back({m.part, ir::point_box(at)});
    return joining::nest_of(std::move(out));
  }

  /// What the block combines or stores, as it stands there.
  ir::expr element_of(const member& m) const {
    return m.reduces ? joining::single_of(scope_, m.child)->element : m.own.element;
  }

  /// `e` with what members make of a part in the place of what they make.
  ir::expr in_part(const ir::expr& e, const ir::expr& part, const ir::expr& inside) const {
    return ir::rewrite(e, [&](const ir::expr& x) {
      const member* m = x->op == ir::op::load ? made_by(x->buffer) : nullptr;
      return m ? ir::load(m->part, parted(*m, x->args, part, inside)) : x;
    });
  }

  /// The nest that combines what the parts have.
  ir::stmt whole() const {
    const member& wide = members_[widest_];
    const ir::block_node& old = wide.block(scope_);
    const ir::var& axis = old.iters[wide.axis].var;
    const dtype type = axis.type();
    const ir::var part = ir::make_var(axis->name + "_part", type);
    ir::block_node out;
    out.name = fresh_block_name(f_, old.name + "_whole");
    ir::var_map renamed;
    for (const ir::expr& place : wide.own.at)
      for (ir::iter_var i : old.iters)
        if (i.var.same(place)) {
          const ir::var v = ir::make_var(i.var->name, i.var.type());
          renamed.emplace(i.var, v);
          i.var = v;
          out.iters.push_back(std::move(i));
        }
    out.iters.push_back({part,
                         {ir::integer(type, 0), ir::integer(type, extent_ / length_)},
                         ir::iter_kind::reduce});
    const values at = ir::substitute(wide.own.at, renamed);
    std::vector<component> tuple;
    values elements;
    std::vector<int> position(members_.size(), -1);
    for (std::size_t r = 0; r < members_.size(); ++r) {
      const member& m = members_[r];
      if (!m.reduces) continue;
      position[r] = static_cast<int>(tuple.size());
      component c = m.own;
      c.to = wide_[r];
      c.at = at;
      if (c.scaled_by >= 0) c.scaled_by = position[static_cast<std::size_t>(c.scaled_by)];
      values own;
      for (const std::size_t d : dims_[r]) own.push_back(at[d]);
      elements.push_back(ir::load(m.part, parted(m, own, part, part)));
      tuple.push_back(std::move(c));
    }
    out.reads = joining::loaded_elements(elements);
    joining::reduce_tuple(out, tuple, elements);
    return joining::nest_of(std::move(out));
  }

  /// The function with a reader of results that have more dimensions now: it takes them where it reads the widest
  /// ones, or at the first place of these dimensions.
  ir::function with_wide_results(const ir::function& f, std::size_t reader) const {
    const path at = find_block(f, scope_[reader].block().id);
    ir::block_node b = *ir::as_realize(at.target())->block;
    const member& wide = members_[widest_];
    std::vector<ir::expr> guides, added;
    ir::for_each_expr(b.body, [&](const ir::expr& x) {
      if (x->op == ir::op::load && x->buffer == wide.own.to) guides.push_back(x);
    });
    const auto changed = [&](const ir::expr& x) {
      const member* m = x->op == ir::op::load ? made_by(x->buffer) : nullptr;
      if (!m || !m->reduces) return x;
      const auto r = static_cast<std::size_t>(m - members_.data());
      if (wide_[r] == m->own.to) return x;
      values places(wide.own.at.size(), ir::integer(dtype::i32, 0));
      for (const ir::expr& guide : guides) {
        bool fits = true;
        for (std::size_t d = 0; d < dims_[r].size(); ++d)
          fits = fits && ir::equal(guide->args[dims_[r][d]], x->args[d]);
        if (fits) places = guide->args;
      }
      for (std::size_t d = 0; d < dims_[r].size(); ++d) places[dims_[r][d]] = x->args[d];
      added.push_back(ir::load(wide_[r], places));
      return added.back();
    };
    b.body = ir::rewrite(b.body, changed, [](const ir::stmt& s) { return s; });
    std::erase_if(b.reads, [&](const ir::buffer_region& region) {
      const member* m = made_by(region.buffer);
      return m && m->reduces &&
             wide_[static_cast<std::size_t>(m - members_.data())] != region.buffer;
    });
    for (ir::buffer_region& region : joining::loaded_elements(added))
      b.reads.push_back(std::move(region));
    return replace_block(f, at, ir::make_block(std::move(b)));
  }

  std::vector<ir::buffer>
      wide_;  // [members] results with the dimensions of the widest one; null for elements
  std::int64_t length_ = 1;
};

}  // namespace detail::cascading

namespace detail::cascading {

/// What the first cascade of the function is, and what `of` makes of it.
template <class Cascade, class F>
parted_cascade of_first(const ir::function& f, const F& of) {
  Cascade c(detail::factored::without_waits(f));
  parted_cascade out;
  for (std::size_t head = 0; head < c.blocks(); ++head) {
    if (!c.grow(head)) continue;
    out.extent = c.extent();
    out.wide = c.is_wide();
    out.head = c.head();
    out.widest = c.widest();
    out.common = c.common_axes();
    of(c, out);
    return out;
  }
  out.refusal = c.refusal().empty() ? "no reduction needs the result of another one along its axis"
                                    : c.refusal();
  return out;
}

}  // namespace detail::cascading

TILEWRIGHT_INLINE parted_cascade reduce_in_parts(const ir::function& f, std::int64_t length) {
  using detail::cascading::cut_cascade;
  return detail::cascading::of_first<cut_cascade>(f, [&](cut_cascade& c, parted_cascade& out) {
    if (length < 1 || length >= out.extent || out.extent % length != 0)
      out.refusal = "parts of " + std::to_string(length) + " do not divide an axis of " +
                    std::to_string(out.extent) + " into two or more";
    else
      out.function = c.in_parts(length);
  });
}

TILEWRIGHT_INLINE parted_cascade reduce_running(const ir::function& f, std::int64_t rows,
                                                std::int64_t length) {
  using detail::cascading::running_cascade;
  return detail::cascading::of_first<running_cascade>(f,
                                                      [&](running_cascade& c, parted_cascade& out) {
                                                        out.refusal = c.why_not(rows, length);
                                                        if (out.refusal.empty())
                                                          out.function = c.run(rows, length);
                                                      });
}

TILEWRIGHT_INLINE parted_cascade pad_cascade(const ir::function& f, std::int64_t rows,
                                             std::int64_t length) {
  using detail::cascading::padded_cascade;
  return detail::cascading::of_first<padded_cascade>(f,
                                                     [&](padded_cascade& c, parted_cascade& out) {
                                                       out.refusal = c.pad(rows, length);
                                                       if (out.refusal.empty())
                                                         out.function = c.padded();
                                                     });
}

}  // namespace tilewright::primitive
