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
#include <tilewright/impl/schedule/primitive/reductions/cascade_members.hpp>
#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::cascading {

class running_cascade : public cascade {
 public:
  using cascade::cascade;

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
    std::vector<ir::stmt> inits, steps;
    for (const member& m : members_)
      if (m.reduces) inits.push_back(initial(m));
    // the maximum, and by how much all that was summed before is smaller relative to it
    steps.push_back(row_step("before", factor_, ir::load(peak.own.to, row()), false));
    steps.push_back(nest_for(peak, element_of(peak), "", {}));
    steps.push_back(row_step("factor", factor_,
                             ir::call(factor_->type, "exp",
                                      {ir::load(factor_, {local_}) - ir::load(peak.own.to, row())}),
                             false));
    for (member& m : members_) {
      if (&m == &peak) continue;
      if (!m.reduces) {
        const ir::expr element = element_of(m);
        steps.push_back(
            nest_for(m, is_taken_rounded(m) ? in_powers_of_two(element) : element, "", {}));
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
    declare_regions(out);
    return placed(std::move(out));
  }

 private:
  /// A tile of elements, and where it is rounded.
  struct rounded {
    const member* from = nullptr;
    ir::buffer to;
  };

  static ir::expr number(dtype t, std::int64_t n) { return ir::integer(t, n); }
  static const ir::iter_var& iter_of(const ir::block_node& b, const ir::expr& v) {
    for (const ir::iter_var& i : b.iters)
      if (i.var.same(v)) return i;
    return b.iters.front();
  }
  static ir::range domain_of_iter(const ir::block_node& b, const ir::expr& v) {
    return iter_of(b, v).dom;
  }
  static const ir::expr& extent_of(const ir::block_node& b, const ir::expr& v) {
    return iter_of(b, v).dom.extent;
  }

  bool same_dims_as_peak(const member& m) const {
    const auto r = static_cast<std::size_t>(&m - members_.data());
    const values& peak = r == peak_ ? m.own.at : maxima_at_[r];
    if (m.own.at.size() != peak.size()) return false;
    for (std::size_t d = 0; d < peak.size(); ++d)
      if (!m.own.at[d].same(peak[d])) return false;
    return true;
  }

  /// The variables of a member that stand for the axes of the maximum; none where it does not say.
  values rows_of(const member& m) const {
    const auto r = static_cast<std::size_t>(&m - members_.data());
    if (r == peak_) return m.own.at;
    if (m.reduces) return maxima_at_[r];
    values out;
    ir::for_each_expr(m.own.element, [&](const ir::expr& e) {
      if (e->op == ir::op::load && e->buffer == members_[peak_].own.to) out = e->args;
    });
    return out;
  }

  /// The block's own value of each element, in its own variables.
  ir::expr element_of(const member& m) const {
    return m.reduces ? joining::single_of(scope_, m.child)->element : m.own.element;
  }

  const ir::var& local_of(const dtype& type) {
    if (!local_) local_ = ir::make_var("vr", type);
    return local_;
  }
  values row() {
    values out(common_.begin(), common_.end());
    const ir::var& local = local_of(common_.back().type());
    out.back() = common_.back() * number(common_.back().type(), rows_) + local;
    return out;
  }

  ir::stmt block_nest(std::string name, std::vector<ir::iter_var> iters, ir::stmt body,
                      std::vector<ir::expr> read, const ir::buffer& to, const values& at) {
    ir::block_node b;
    b.name = std::move(name);
    b.iters = std::move(iters);
    b.body = std::move(body);
    b.reads = joining::loaded_elements(read);
    b.writes.push_back({to, ir::point_box(at)});
    return joining::nest_of(std::move(b));
  }

  /// A statement for each row of the tile. The variable of the row is made anew for each block.
  ir::stmt row_step(const std::string& what, const ir::buffer& to, const ir::expr& value,
                    bool state) {
    const ir::var mine = ir::make_var("vr", local_.type());
    values at = state ? row() : values{local_};
    const auto own = [&](const ir::expr& e) { return ir::substitute(e, {{local_, mine}}); };
    for (ir::expr& e : at) e = own(e);
    const ir::expr v = own(value);
    return block_nest(
        fresh(what),
        {{mine, {number(mine.type(), 0), number(mine.type(), rows_)}, ir::iter_kind::spatial}},
        ir::make_store(to, at, v), {v}, to, at);
  }

  std::string fresh(const std::string& what) {
    std::string base = members_[peak_].block(scope_).name + "_" + what;
    return fresh_name(base);
  }
  std::string fresh_name(const std::string& base) {
    for (int n = 0;; ++n) {
      std::string out = n == 0 ? base : base + "_" + std::to_string(n);
      if (support::contains(names_, out)) continue;
      if (fresh_block_name(f_, out) != out && !is_own_name(out)) continue;
      names_.push_back(out);
      return out;
    }
  }
  bool is_own_name(const std::string& n) const {
    return support::any(members_, [&](const member& m) { return name(m) == n; });
  }

  /// Variables of a member in those of the tile, and the iteration variables that its block has then.
  struct local_frame {
    ir::var_map to;
    std::vector<ir::iter_var> iters;
    ir::var row, axis;
    values extra;
  };
  local_frame frame_of(const member& m, bool with_axis) {
    local_frame out;
    const ir::block_node& b = m.block(scope_);
    const values rows = rows_of(m);
    for (std::size_t d = 0; d < rows.size(); ++d) {
      const dtype t = rows[d].type();
      if (d + 1 < rows.size()) {
        out.to.emplace(rows[d], cast_to(t, common_[d]));
        continue;
      }
      out.row = ir::make_var("vr", t);
      out.to.emplace(rows[d], cast_to(t, common_[d]) * number(t, rows_) + out.row);
      out.iters.push_back({out.row, {number(t, 0), number(t, rows_)}, ir::iter_kind::spatial});
    }
    for (const ir::expr& place : m.own.at) {
      if (position_of(rows, place) || place.same(b.iters[m.axis].var)) continue;
      ir::iter_var i = iter_of(b, place);
      i.var = ir::make_var(i.var->name, i.var.type());
      out.to.emplace(place, i.var);
      out.extra.push_back(i.var);
      out.iters.push_back(std::move(i));
    }
    if (with_axis) {
      const ir::var& axis = b.iters[m.axis].var;
      const dtype t = axis.type();
      out.axis = ir::make_var(axis->name, t);
      out.to.emplace(axis, cast_to(t, part_) * number(t, length_) + out.axis);
      out.iters.push_back({out.axis,
                           {number(t, 0), number(t, length_)},
                           m.reduces ? ir::iter_kind::reduce : ir::iter_kind::spatial});
    }
    return out;
  }
  static ir::expr cast_to(dtype t, const ir::expr& e) { return e.type() == t ? e : ir::cast(t, e); }

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
    const ir::expr value = ir::rewrite(element, [&](const ir::expr& e) {
      const member* made = e->op == ir::op::load ? made_by(e->buffer) : nullptr;
      const values place{here.row, here.axis};
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
  /// With exp(x) as a power of two, which takes a GPU fewer instructions. The product x log2(e) is rounded, which
  /// changes the result by less than 2^-24 of itself for each unit of x: rounding to 16 bits hides that.
  static ir::expr in_powers_of_two(const ir::expr& element) {
    constexpr double log2_e = 1.4426950408889634;
    return ir::rewrite(element, [](const ir::expr& e) {
      if (e->op != ir::op::call || e->name != "exp" || e.type() != dtype::f32) return e;
      return ir::call(e.type(), "exp2", {e->args[0] * ir::real(e.type(), log2_e)});
    });
  }
  ir::stmt rounding(const rounded& r) {
    const local_frame here = frame_of(*r.from, true);
    const values at{here.row, here.axis};
    const ir::expr value = ir::cast(r.to->type, ir::load(r.from->part, at));
    return block_nest(fresh_name(name(*r.from) + "_rounded"), here.iters,
                      ir::make_store(r.to, at, value), {value}, r.to, at);
  }

  /// What the block of all steps reads and writes, by boxes of a tile and a part.
  void declare_regions(ir::block_node& out) {
    std::vector<ir::buffer> own = out.alloc_buffers;
    const auto collect = [&](const ir::stmt& s, bool reads, std::vector<ir::buffer_region>& to) {
      ir::for_each_stmt(s, [&](const ir::stmt& x) {
        const ir::block_realize_node* r = ir::as_realize(x);
        if (!r) return;
        for (const ir::buffer_region& region : reads ? r->block->reads : r->block->writes) {
          if (support::contains(own, region.buffer)) continue;
          add_region(to, widened(region, *r->block));
        }
      });
    };
    collect(out.body, true, out.reads);
    collect(out.body, false, out.writes);
  }
  static void add_region(std::vector<ir::buffer_region>& to, ir::buffer_region region) {
    for (const ir::buffer_region& known : to) {
      if (known.buffer != region.buffer || known.box.size() != region.box.size()) continue;
      bool same = true;
      for (std::size_t d = 0; d < known.box.size(); ++d)
        same = same && ir::equal(known.box[d].min, region.box[d].min) &&
               ir::equal(known.box[d].extent, region.box[d].extent);
      if (same) return;
    }
    to.push_back(std::move(region));
  }
  /// The region over all values of the variables of an inner block.
  static ir::buffer_region widened(ir::buffer_region region, const ir::block_node& b) {
    for (ir::range& r : region.box)
      for (const ir::iter_var& i : b.iters)
        if (ir::uses_var(r.min, i.var)) {
          r.min = ir::substitute(r.min, {{i.var, ir::integer(i.var.type(), 0)}});
          r.extent = i.dom.extent;
        }
    for (ir::range& r : region.box) r.min = arith::simplify(r.min);
    return region;
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

  std::int64_t rows_ = 1, length_ = 1;
  std::vector<ir::var> common_;  // of the block of all steps; the last one counts tiles
  ir::var part_, local_;
  ir::buffer factor_;
  std::vector<std::string> names_;
};

}  // namespace tilewright::primitive::detail::cascading
