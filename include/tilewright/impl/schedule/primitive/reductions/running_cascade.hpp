// A cascade whose reductions are computed tile of rows by tile of rows, part after part of their axis, each part
// added to what the parts before have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/schedule/primitive/reductions/masked_terms.hpp>
#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/impl/schedule/primitive/reductions/tiled_cascade.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::cascading {

class running_cascade : public tiled_cascade {
 public:
  using tiled_cascade::tiled_cascade;

  /// Why there is no such form with these tiles; empty where there is one.
  std::string why_not(std::int64_t rows, std::int64_t length) {
    if (length < 1 || extent_ % length != 0)
      return "parts of " + std::to_string(length) + " do not divide an axis of " +
             std::to_string(extent_);
    const ir::block_node& peak = members_[peak_].block(scope_);
    if (common_axes() == 0) return "block " + peak.name + " has no rows";
    const ir::expr& all = extent_of(peak, members_[peak_].own.at.back());
    if (rows < 1 || !ir::is_int(all) || all->integer % rows != 0)
      return "tiles of " + std::to_string(rows) + " do not divide the rows of block " + peak.name;
    for (const member& m : members_) {
      if (!m.reduces && rows_of(m).empty())
        return "block " + name(m) + " needs the maximum through another block";
      if (!m.reduces && m.own.at.size() != common_axes() + 1)
        return "block " + name(m) + " has elements along more axes than the maximum";
      if (m.reduces && !same_dims_as_peak(m) && &m != &members_[widest_])
        return "results of block " + name(m) + " lie otherwise than those of block " + peak.name;
    }
    return "";
  }

  ir::function run(std::int64_t rows, std::int64_t length) {
    rows_ = rows;
    length_ = length;
    const member& peak = members_[peak_];
    const ir::block_node& head = peak.block(scope_);
    terms_ = without_masks(element_of(peak));
    powers_ = are_powers();
    ir::block_node out;
    out.name = fresh_block_name(f_, f_.name + "_parts");
    const dtype type = head.iters[peak.axis].var.type();
    for (std::size_t d = 0; d < peak.own.at.size(); ++d) {
      const bool last = d + 1 == peak.own.at.size();
      const ir::var v =
          ir::make_var(peak.own.at[d]->name + (last ? "_tile" : ""), peak.own.at[d].type());
      ir::range dom = domain_of_iter(head, peak.own.at[d]);
      if (last) dom.extent = number(v.type(), dom.extent->integer / rows);
      out.iters.push_back({v, dom, ir::iter_kind::spatial});
      common_.push_back(v);
    }
    part_ = ir::make_var(head.iters[peak.axis].var->name + "_part", type);
    out.iters.push_back(
        {part_, {number(type, 0), number(type, extent_ / length)}, ir::iter_kind::reduce});
    factor_ = ir::make_buffer(peak.own.to->name + "_factor", peak.own.to->type,
                              {number(dtype::i32, rows)});
    out.alloc_buffers.push_back(factor_);
    for (member& m : members_)
      if (!m.reduces) {
        m.part = ir::make_buffer(m.own.to->name + "_part", m.own.to->type,
                                 {number(dtype::i32, rows), number(dtype::i32, length)});
        out.alloc_buffers.push_back(m.part);
      }
    if (has_tile_of_terms()) {
      tile_ = ir::make_buffer(peak.own.to->name + "_terms", peak.own.to->type,
                              {number(dtype::i32, rows), number(dtype::i32, length)});
      out.alloc_buffers.push_back(tile_);
    }
    std::vector<ir::stmt> inits, steps;
    for (const member& m : members_)
      if (m.reduces) inits.push_back(initial(m));
    // the maximum, and by how much all that was summed before is smaller relative to it
    steps.push_back(row_step("before", factor_, ir::load(peak.own.to, row()), false));
    if (tile_) append_terms(steps);
    steps.push_back(nest_for(peak, element_of(peak), "", {}));
    steps.push_back(row_step("factor", factor_,
                             ir::call(factor_->type, powers_ ? "exp2" : "exp",
                                      {ir::load(factor_, {local_}) - ir::load(peak.own.to, row())}),
                             false));
    for (member& m : members_) {
      if (&m == &peak) continue;
      if (!m.reduces) {
        const ir::expr element = element_of(m);
        steps.push_back(
            nest_for(m, is_taken_rounded(m) ? in_powers_of_two(m, element) : element, "", {}));
        continue;
      }
      steps.push_back(scaled(m));
      const ir::expr element = element_of(m);
      const std::optional<rounded> narrow = rounded_factor(element);
      if (narrow) {
        out.alloc_buffers.push_back(narrow->to);
        steps.push_back(rounding(*narrow));
        steps.push_back(nest_for(m, element, "", narrow));
      } else {
        steps.push_back(nest_for(m, element, "", {}));
      }
    }
    out.init = ir::make_seq(std::move(inits));
    out.body = ir::make_seq(std::move(steps));
    if (const ir::expr needed = some_term(); !ir::is_true(needed)) only_where(needed, out);
    declare_regions(out);
    return placed(std::move(out));
  }

 private:
  static constexpr double log2_e = 1.4426950408889634;

  /// A tile of elements, and where it is rounded.
  struct rounded {
    const member* from = nullptr;
    ir::buffer to;
  };

  ir::stmt initial(const member& m) {
    const local_frame here = frame_of(m, false);
    const values at = ir::substitute(m.own.at, here.to);
    return block_nest(fresh_name(name(m) + "_init"), here.iters,
                      ir::make_store(m.own.to, at, m.own.identity), {}, m.own.to, at);
  }

  /// What was summed before relative to the maximum that there is now.
  ir::stmt scaled(const member& m) {
    const local_frame here = frame_of(m, false);
    const values at = ir::substitute(m.own.at, here.to);
    const ir::expr value = ir::load(m.own.to, at) * ir::load(factor_, {here.row});
    return block_nest(fresh_name(name(m) + "_scaled"), here.iters,
                      ir::make_store(m.own.to, at, value), {value}, m.own.to, at);
  }

  /// The nest of a member for one part.
  ir::stmt nest_for(const member& m, const ir::expr& element, const std::string& what,
                    const std::optional<rounded>& narrow) {
    const local_frame here = frame_of(m, true);
    const ir::expr term = tile_ ? term_of(m) : ir::expr();
    const ir::expr value = ir::rewrite(element, [&](const ir::expr& e) {
      const member* made = e->op == ir::op::load ? made_by(e->buffer) : nullptr;
      const values place{here.row, here.axis};
      if (term && ir::equal(e, term)) return ir::load(tile_, place);
      if (narrow && e->op == ir::op::cast && e.type() == narrow->to->type &&
          e->args[0]->op == ir::op::load && e->args[0]->buffer == narrow->from->part)
        return ir::load(narrow->to, place);
      return !made || made->reduces ? e : ir::load(made->part, place);
    });
    const ir::expr v = ir::substitute(value, here.to);
    std::string own = fresh_name(name(m) + what);
    if (!m.reduces) {
      const values at{here.row, here.axis};
      return block_nest(std::move(own), here.iters, ir::make_store(m.part, at, v), {v}, m.part, at);
    }
    const values at = ir::substitute(m.own.at, here.to);
    const ir::expr sum = m.own.plain.combine({ir::load(m.own.to, at)}, {v})[0];
    return block_nest(std::move(own), here.iters, ir::make_store(m.own.to, at, sum), {sum},
                      m.own.to, at);
  }

  /// Elements of a tile that a product takes rounded to 16 bits.
  std::optional<rounded> rounded_factor(const ir::expr& element) const {
    if (element->op != ir::op::mul) return std::nullopt;
    for (const ir::expr& factor : element->args) {
      if (!is_rounded(factor)) continue;
      const ir::expr &narrow = factor->args[0], &e = narrow->args[0];
      const member* made = e->op == ir::op::load ? made_by(e->buffer) : nullptr;
      if (!made || made->reduces || bytes(narrow.type()) != 2) continue;
      return rounded{made,
                     ir::make_buffer(made->own.to->name + "_rounded", narrow.type(),
                                     {number(dtype::i32, rows_), number(dtype::i32, length_)})};
    }
    return std::nullopt;
  }
  bool is_taken_rounded(const member& elements) const {
    return support::any(members_, [&](const member& m) {
      const std::optional<rounded> r = m.reduces ? rounded_factor(element_of(m)) : std::nullopt;
      return r && r->from == &elements;
    });
  }
  /// With exp(x - m) as a power of two, which takes a GPU fewer instructions. The product x log2(e) is rounded, which
  /// changes the result by less than 2^-24 of itself for each unit of x: rounding to 16 bits hides that.
  ir::expr in_powers_of_two(const member& m, const ir::expr& element) const {
    if (powers_) {
      const values& difference = element->args[0]->args;
      return ir::call(element.type(), "exp2", {term_of(m) - difference[1]});
    }
    return ir::rewrite(element, [](const ir::expr& e) {
      if (e->op != ir::op::call || e->name != "exp" || e.type() != dtype::f32) return e;
      return ir::call(e.type(), "exp2", {e->args[0] * ir::real(e.type(), log2_e)});
    });
  }

  // ---- elements whose maximum is taken ------------------------------------------------------------

  bool has_tile_of_terms() const {
    return terms_.element->op != ir::op::load || !terms_.masks.empty();
  }
  /// The element whose maximum is taken, in the variables of a member.
  ir::expr term_of(const member& m) const {
    const member& peak = members_[peak_];
    const values rows = rows_of(m);
    ir::var_map at;
    for (std::size_t d = 0; d < rows.size(); ++d) at.emplace(peak.own.at[d], rows[d]);
    at.emplace(peak.block(scope_).iters[peak.axis].var, m.block(scope_).iters[m.axis].var);
    return ir::substitute(element_of(peak), at);
  }
  /// Whether elements and their maximum are kept as multiples of log2(e): only exponentials that are rounded need them.
  bool are_powers() const {
    const member& peak = members_[peak_];
    if (!has_tile_of_terms() || peak.own.to->type != dtype::f32 || !scope_.allocates(peak.own.to) ||
        is_needed_outside(peak.own.to))
      return false;
    return support::all(members_, [&](const member& m) {
      const ir::expr e = element_of(m);
      if (&m == &peak || !ir::loads_from(e, peak.own.to)) return true;
      return is_taken_rounded(m) && e->op == ir::op::call && e->name == "exp" &&
             e->args[0]->op == ir::op::sub && ir::equal(e->args[0]->args[0], term_of(m));
    });
  }
  bool is_needed_outside(const ir::buffer& b) const {
    return support::any(
        others_, [&](std::size_t other) { return ir::loads_from(scope_[other].block().body, b); });
  }

  /// The tile of elements, and where a mask hides some of them, the least number in their place.
  void append_terms(std::vector<ir::stmt>& steps) {
    const member& peak = members_[peak_];
    const ir::block_node& b = peak.block(scope_);
    const auto stays = [&](const ir::expr& e) {
      return !ir::uses_var(e, b.iters[peak.axis].var) && !ir::uses_var(e, peak.own.at.back());
    };
    const ir::expr element = powers_ ? scaled_terms(terms_.element, log2_e, stays) : terms_.element;
    steps.push_back(tile_nest("terms", [&](const local_frame&) { return element; }, {}));
    for (std::size_t n = terms_.masks.size(); n-- > 0;) {
      const mask& by = terms_.masks[n];
      const auto hidden = [&](const local_frame& here) {
        return ir::select(by.condition, ir::load(tile_, {here.row, here.axis}), by.least);
      };
      steps.push_back(tile_nest("mask", hidden, by.condition));
    }
  }
  /// A nest that stores a value of the maximum's variables to each element of the tile; where all elements fulfil the
  /// condition, it is left out.
  template <class Value>
  ir::stmt tile_nest(const std::string& what, const Value& value, const ir::expr& unless_all) {
    const local_frame here = frame_of(members_[peak_], true, false);
    const values at{here.row, here.axis};
    const ir::expr v = ir::substitute(value(here), here.to);
    const ir::stmt nest =
        block_nest(fresh(what), here.iters, ir::make_store(tile_, at, v), {v}, tile_, at);
    if (!unless_all) return nest;
    const auto all = all_shown(ir::substitute(unless_all, here.to), ranges_of(here));
    return all ? under(ir::logical_not(*all), nest) : nest;
  }
  tile_ranges ranges_of(const local_frame& here) const {
    return {{here.row, rows_}, {here.axis, length_}};
  }
  /// The only block of a nest under one more condition.
  static ir::stmt under(const ir::expr& condition, const ir::stmt& nest) {
    return ir::rewrite(
        nest, [](const ir::expr& e) { return e; },
        [&](const ir::stmt& s) {
          const ir::block_realize_node* r = ir::as_realize(s);
          return r ? ir::make_realize(r->values, arith::simplify(condition), r->block) : s;
        });
  }

  /// Where some element of a tile is shown; true where that is known, or rows may have none that are shown at all: their
  /// results follow the hidden ones.
  ir::expr some_term() {
    const local_frame here = frame_of(members_[peak_], true);
    const member& peak = members_[peak_];
    const ir::block_node& b = peak.block(scope_);
    arith::analyzer known;
    for (const ir::iter_var& i : b.iters) known.bind(i.var, i.dom);
    arith::analyzer parts;
    parts.bind(part_, {number(part_.type(), 0), number(part_.type(), extent_ / length_)});
    const ir::var& axis = b.iters[peak.axis].var;
    ir::expr out = ir::boolean(true);
    for (const mask& by : terms_.masks) {
      const ir::expr first = ir::substitute(by.condition, {{axis, number(axis.type(), 0)}});
      const auto some = some_shown(ir::substitute(by.condition, here.to), ranges_of(here));
      if (!some || !known.prove(first) || parts.prove(*some)) continue;
      out = ir::logical_and(out, *some);
    }
    return arith::simplify(out);
  }
  /// What the block does, as one block that stands under a condition.
  void only_where(const ir::expr& condition, ir::block_node& out) {
    ir::block_node inner;
    inner.name = fresh_name(out.name + "_shown");
    inner.alloc_buffers = std::move(out.alloc_buffers);
    inner.body = std::move(out.body);
    declare_regions(inner);
    out.alloc_buffers.clear();
    out.body = ir::make_realize({}, condition, ir::make_block(std::move(inner)));
  }

  ir::stmt rounding(const rounded& r) {
    const local_frame here = frame_of(*r.from, true);
    const values at{here.row, here.axis};
    const ir::expr value = ir::cast(r.to->type, ir::load(r.from->part, at));
    return block_nest(fresh_name(name(*r.from) + "_rounded"), here.iters,
                      ir::make_store(r.to, at, value), {value}, r.to, at);
  }

  /// The function with the block in the place of the last member, and without the others.
  ir::function placed(ir::block_node block) {
    ir::function out = f_;
    std::vector<ir::buffer> gone;
    for (const member& m : members_) {
      const bool last = &m == &members_.back();
      std::vector<ir::stmt> nests;
      if (last) nests.push_back(joining::nest_of(block));
      out = joining::put_nests(out, m.block(scope_).id, nests);
      if (!m.reduces) gone.push_back(m.own.to);
    }
    return joining::change_buffers(out, {}, gone);
  }

  ir::buffer factor_, tile_;
  masked_terms terms_;
  bool powers_ = false;
};

}  // namespace tilewright::primitive::detail::cascading
