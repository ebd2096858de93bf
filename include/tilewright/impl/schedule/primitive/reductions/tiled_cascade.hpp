// A cascade in terms of a tile of rows and a part of its axis: variables, places and blocks of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/schedule/primitive/reductions/cascade_members.hpp>
#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::cascading {

class tiled_cascade : public cascade {
 public:
  using cascade::cascade;

 protected:
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
  local_frame frame_of(const member& m, bool with_axis, bool reduces = true) {
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
                           m.reduces && reduces ? ir::iter_kind::reduce : ir::iter_kind::spatial});
    }
    return out;
  }
  static ir::expr cast_to(dtype t, const ir::expr& e) { return e.type() == t ? e : ir::cast(t, e); }

  /// What the block of all steps reads and writes, by boxes of a tile and a part.
  void declare_regions(ir::block_node& out) {
    std::vector<ir::buffer> own = out.alloc_buffers;
    ir::for_each_stmt(out.body, [&](const ir::stmt& s) {
      if (const ir::block_realize_node* r = ir::as_realize(s))
        own.insert(own.end(), r->block->alloc_buffers.begin(), r->block->alloc_buffers.end());
    });
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

  std::int64_t rows_ = 1, length_ = 1;
  std::vector<ir::var> common_;  // of the block of all steps; the last one counts tiles
  ir::var part_, local_;
  std::vector<std::string> names_;
};

}  // namespace tilewright::primitive::detail::cascading
