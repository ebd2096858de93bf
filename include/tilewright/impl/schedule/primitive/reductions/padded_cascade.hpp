// A cascade with more rows and a longer axis, so that tiles and parts divide these: what is added changes no result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/primitive/reductions/cascade_members.hpp>
#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::cascading {

class padded_cascade : public cascade {
 public:
  using cascade::cascade;

  /// Why rows and axis cannot be multiples of these; empty where they can. Then `padded` is the function.
  std::string pad(std::int64_t rows, std::int64_t length) {
    const member& peak = members_[peak_];
    if (rows < 1 || length < 1) return "multiples are positive";
    if (common_axes() == 0) return "block " + peak.block(scope_).name + " has no rows";
    const ir::block_node& b = peak.block(scope_);
    const ir::expr& all = iter_of(b, peak.own.at.back()).dom.extent;
    if (!ir::is_int(all)) return "the rows of block " + b.name + " are no number";
    rows_ = {ir::as_int(all), next_multiple(ir::as_int(all), rows)};
    axis_ = {extent_, next_multiple(extent_, length)};
    if (!rows_.grows() && !axis_.grows()) return "";
    for (const member& m : members_) {
      if (std::string why = add_member(m); !why.empty()) return why;
    }
    while (!waiting_.empty()) {
      const std::size_t child = waiting_.back();
      waiting_.pop_back();
      if (std::string why = add_producer(child); !why.empty()) return why;
    }
    return "";
  }

  ir::function padded() const {
    ir::function out = f_;
    ir::buffer_map bigger;
    for (const auto& [from, dims] : shapes_)
      bigger[from] = ir::make_buffer(from->name, from->type, grown(from, dims), from->scope);
    std::vector<ir::buffer> made, gone;
    for (const auto& [from, to] : bigger) gone.push_back(from);
    for (const ir::buffer& from : ordered_) made.push_back(bigger.at(from));
    for (const auto& [id, nest] : nests_) out = joining::put_nests(out, id, {nest});
    if (!copies_.empty()) {
      std::vector<ir::stmt> first;
      for (const operand_copy& c : copies_) {
        first.push_back(c.nest);
        made.push_back(c.to);
      }
      const ir::block_node root = *ir::root_block(out);
      std::vector<ir::stmt> body = std::move(first);
      for (const ir::stmt& s : joining::root_nests(out)) body.push_back(s);
      ir::block_node changed = root;
      changed.body = ir::make_seq(std::move(body));
      out = replace_block(out, find_block(out, root.id), ir::make_block(std::move(changed)));
    }
    out = joining::change_buffers(out, made, gone);
    out.body = ir::replace_buffers(out.body, bigger);
    return out;
  }

 private:
  /// An extent, and what it grows to.
  struct growth {
    std::int64_t from = 1, to = 1;
    bool grows() const { return from != to; }
  };
  /// [dimensions] what each grows to; 0: it stays.
  using dimensions = std::vector<std::int64_t>;
  struct operand_copy {
    ir::buffer from, to;
    dimensions dims;
    ir::stmt nest;
  };
  /// Variables of a block that run further.
  using further = std::vector<std::pair<ir::expr, growth>>;

  static std::int64_t next_multiple(std::int64_t n, std::int64_t of) {
    return (n + of - 1) / of * of;
  }
  static const ir::iter_var& iter_of(const ir::block_node& b, const ir::expr& v) {
    for (const ir::iter_var& i : b.iters)
      if (i.var.same(v)) return i;
    return b.iters.front();
  }

  static std::vector<ir::expr> grown(const ir::buffer& b, const dimensions& dims) {
    std::vector<ir::expr> out = b->shape;
    for (std::size_t d = 0; d < out.size(); ++d)
      if (dims[d]) out[d] = ir::integer(out[d].type(), dims[d]);
    return out;
  }

  /// The dimensions of an access along variables that run further; nothing where one is part of another index, or the
  /// buffer has other extents.
  static std::optional<dimensions> along(const ir::buffer& b, const std::vector<ir::expr>& at,
                                         const further& vars) {
    dimensions out(at.size(), 0);
    for (std::size_t d = 0; d < at.size(); ++d)
      for (const std::pair<ir::expr, growth>& each : vars) {
        const ir::expr& v = each.first;
        const growth& by = each.second;
        const bool used = ir::any_expr(at[d], [&](const ir::expr& e) { return e.same(v); });
        if (!by.grows() || !used) continue;
        if (!at[d].same(v) || !ir::is_int(b->shape[d], by.from)) return std::nullopt;
        out[d] = by.to;
      }
    return out;
  }

  std::string grow_buffer(const ir::buffer& b, const dimensions& dims) {
    if (!scope_.allocates(b)) return b->name + " is a result of the function";
    const auto known = shapes_.find(b);
    if (known == shapes_.end()) {
      shapes_[b] = dims;
      ordered_.push_back(b);
    } else if (known->second != dims) {
      return b->name + " is read along its rows in several ways";
    }
    return "";
  }

  std::string add_member(const member& m) {
    const ir::block_node& b = m.block(scope_);
    const auto r = static_cast<std::size_t>(&m - members_.data());
    values rows = r == peak_ ? m.own.at : m.reduces ? maxima_at_[r] : rows_in(m);
    if (rows.empty()) return "block " + b.name + " does not need the maximum";
    const further vars{{rows.back(), rows_}, {b.iters[m.axis].var, axis_}};
    ir::var_map at;
    const member& peak = members_[peak_];
    for (std::size_t d = 0; d < rows.size(); ++d) at.emplace(peak.own.at[d], rows[d]);
    const ir::var& axis = peak.block(scope_).iters[peak.axis].var;
    at.emplace(axis, b.iters[m.axis].var);
    const ir::expr term = ir::substitute(joining::single_of(scope_, peak.child)->element, at);
    if (m.reduces && r != peak_ && !is_harmless(m.own.element))
      return "block " + b.name + " sums up what may be no number beyond the end";
    if (m.reduces && r != peak_ && m.own.scaled_by < 0)
      return "block " + b.name + " sums up what follows no maximum";
    return add_block(m.child, vars, term, b.iters[m.axis].var);
  }
  /// What is a number wherever its operands are zeros or other numbers.
  static bool is_harmless(const ir::expr& e) {
    switch (e->op) {
      case ir::op::var:
      case ir::op::integer:
      case ir::op::real:
      case ir::op::load: return true;
      case ir::op::add:
      case ir::op::sub:
      case ir::op::mul:
      case ir::op::cast:
        return support::all(e->args, [](const ir::expr& a) { return is_harmless(a); });
      default: return false;
    }
  }
  values rows_in(const member& m) const {
    values out;
    ir::for_each_expr(m.own.element, [&](const ir::expr& e) {
      if (e->op == ir::op::load && e->buffer == members_[peak_].own.to) out = e->args;
    });
    return out;
  }

  /// A block before the cascade whose results its members, or other such blocks, read along rows or the axis.
  std::string add_producer(std::size_t child) {
    const ir::block_node& b = scope_[child].block();
    if (b.writes.size() != 1) return "block " + b.name + " writes several buffers";
    const ir::buffer& to = b.writes[0].buffer;
    const dimensions& dims = shapes_.at(to);
    const ir::store_node* store = ir::as_store(b.body);
    if (!store || !joining::is_nest_of_its_own(scope_, child) ||
        (!is_complete(scope_, child) && !is_reduction(scope_, child)))
      return "block " + b.name + " is no nest of its own with one store";
    further vars;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!dims[d]) continue;
      if (!ir::is_var(store->indices[d]) ||
          !ir::is_int(iter_of(b, store->indices[d]).dom.extent, ir::as_int(to->shape[d])))
        return "block " + b.name + " does not write all of " + to->name;
      vars.push_back({store->indices[d], {ir::as_int(to->shape[d]), dims[d]}});
    }
    return add_block(child, vars, {}, {});
  }

  /// The nest of the block over more places; its operands are copies, zeros beyond the end, or what is padded as well.
  std::string add_block(std::size_t child, const further& vars, const ir::expr& term,
                        const ir::var& axis) {
    const ir::block_node& old = scope_[child].block();
    ir::block_node b = old;
    for (ir::iter_var& i : b.iters)
      for (const auto& [v, by] : vars)
        if (i.var.same(v)) i.dom.extent = ir::integer(i.var.type(), by.to);
    std::string why;
    const auto renamed = [&](const ir::buffer& x, const std::vector<ir::expr>& at) {
      const auto dims = along(x, at, vars);
      if (!dims && why.empty())
        why = "block " + b.name + " reads or writes " + x->name + " at other places than its rows";
      if (!dims || support::all(*dims, [](std::int64_t d) { return d == 0; })) return x;
      const bool own = x == old.writes[0].buffer || made_by(x);
      const std::optional<std::size_t> producer = own ? std::nullopt : producer_of(x);
      if (!own && !producer) return copy_of(x, *dims);
      const bool fresh = shapes_.count(x) == 0;
      if (std::string no = grow_buffer(x, *dims); !no.empty() && why.empty()) why = no;
      if (producer && fresh) waiting_.push_back(*producer);
      return x;
    };
    const auto changed = [&](const ir::expr& e) {
      if (term && axis_.grows() && ir::equal(e, term)) {
        const ir::expr inside = ir::lt(axis, ir::integer(axis.type(), axis_.from));
        return ir::select(inside, e, ir::real(e.type(), -std::numeric_limits<double>::infinity()));
      }
      return e;
    };
    const auto operand = [&](const ir::expr& e) {
      return e->op == ir::op::load ? ir::load(renamed(e->buffer, e->args), e->args) : e;
    };
    const auto stored = [&](const ir::stmt& s) {
      if (const ir::store_node* store = ir::as_store(s)) renamed(store->buffer, store->indices);
      return s;
    };
    b.body = ir::rewrite(ir::rewrite(b.body, changed, [](const ir::stmt& s) { return s; }), operand,
                         stored);
    for (ir::buffer_region& r : b.reads) {
      std::vector<ir::expr> at;
      for (const ir::range& side : r.box) at.push_back(side.min);
      r.buffer = renamed(r.buffer, at);
    }
    nests_.emplace_back(old.id, joining::nest_of(std::move(b)));
    return why;
  }

  /// The only block before the cascade that writes the buffer, which is none of the function's parameters.
  std::optional<std::size_t> producer_of(const ir::buffer& x) const {
    if (!scope_.allocates(x)) return std::nullopt;
    for (std::size_t c = 0; c < scope_.size(); ++c)
      for (const ir::buffer_region& r : scope_[c].block().writes)
        if (r.buffer == x) return c;
    return std::nullopt;
  }

  ir::buffer copy_of(const ir::buffer& x, const dimensions& dims) {
    for (const operand_copy& c : copies_)
      if (c.from == x && c.dims == dims) return c.to;
    std::string name = x->name + "_pad";
    for (int n = 1;
         fresh_block_name(f_, name) != name ||
         support::any(copies_, [&](const operand_copy& c) { return c.to->name == name; });
         ++n)
      name = x->name + "_pad_" + std::to_string(n);
    const ir::buffer to = ir::make_buffer(name, x->type, grown(x, dims));
    ir::block_node b;
    b.name = name;
    std::vector<ir::expr> at;
    ir::expr inside = ir::boolean(true);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const dtype t = x->shape[d].type();
      const ir::var v = ir::make_var("v" + std::to_string(d), t);
      b.iters.push_back({v, {ir::integer(t, 0), to->shape[d]}, ir::iter_kind::spatial});
      at.push_back(v);
      if (dims[d]) inside = ir::logical_and(inside, ir::lt(v, x->shape[d]));
    }
    b.body =
        ir::make_store(to, at, ir::if_then_else(inside, ir::load(x, at), ir::literal(x->type, 0)));
    b.reads.push_back({x, ir::point_box(at)});
    b.writes.push_back({to, ir::point_box(at)});
    copies_.push_back({x, to, dims, joining::nest_of(std::move(b))});
    return to;
  }

  growth rows_, axis_;
  std::unordered_map<ir::buffer, dimensions> shapes_;  // of what the cascade and its producers make
  std::vector<ir::buffer> ordered_;
  std::vector<std::size_t> waiting_;  // children
  std::vector<std::pair<std::uint64_t, ir::stmt>> nests_;
  std::vector<operand_copy> copies_;
};

}  // namespace tilewright::primitive::detail::cascading
