#pragma once

#include <limits>
#include <unordered_map>
#include <utility>

#include <tilewright/expr/reified/footprint.hpp>
#include <tilewright/expr/reified/padding.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/expr/show.hpp>
#include <tilewright/impl/expr/block_builder.hpp>
#include <tilewright/impl/expr/walk_note.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {
namespace dsl::detail {

/// Builds the blocks of one kernel in program order.
class reifier : block_builder {
 public:
  reifier(const any_kernel& kernel, const dim_values& values) : kernel_(kernel) {
    bind_dimensions(values);
    program_ = {kernel.nodes().data(),
                static_cast<int>(kernel.nodes().size()),
                kernel.params().data(),
                static_cast<int>(kernel.params().size()),
                {entries_.data(), static_cast<int>(entries_.size())},
                true};
    nodes_ = program_.nodes;
    const finding problem = check_program(program_);
    if (!problem.ok()) throw_mistake(kernel.name(), problem, nodes_);
    check_stores(kernel.name(), program_);
    choose_index_type();
  }

  ir::function build() {
    ir::function out;
    out.name = std::string(kernel_.name());
    for (const tensor_info* t : kernel_.params()) names_.push_back(std::string(t->name));
    for (const tensor_info* t : kernel_.params()) out.params.push_back(make_param(*t));
    for (int k = 0; k < program_.count; ++k)
      if (nodes_[k].tensor && nodes_[k].tensor->role == role::temp) buffer_of(nodes_[k].tensor);
    paddings_ = find_paddings(program_);
    for_each_definition(nodes_, program_.count, [&](int at) {
      definition_ = at;
      emit_definition(at);
    });
    out.body = ir::make_root(ir::make_seq(std::move(blocks_)), std::move(temps_));
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw argument_error("kernel " + std::string(kernel_.name()) + ": " + what);
  }

  void bind_dimensions(const dim_values& values) {
    const kernel_info info = kernel_.info();
    for (const auto& [name, extent] : values) {
      if (!support::contains(info.dim_names, name)) fail("it has no dimension " + name);
      if (extent < 1)
        fail("dimension " + name + " is " + std::to_string(extent) + "; extents are positive");
    }
    for (const std::string& name : info.dim_names)
      if (values.find(name) == values.end()) fail("dimension " + name + " has no extent");
    // The keys of `values` outlive this object.
    for (const auto& [name, extent] : values) entries_.push_back({name, extent});
  }

  void choose_index_type() {
    const auto consider = [&](const tensor_info& t) {
      std::int64_t total = 1;
      for (int d = 0; d < t.rank; ++d) {
        const std::int64_t extent = program_.dims.find(t.dims[d]);
        if (total > std::numeric_limits<std::int64_t>::max() / 16 / extent)
          fail("tensor " + std::string(t.name) + " has more elements than memory");
        total *= extent;
      }
      if (total > std::numeric_limits<std::int32_t>::max()) index_ = dtype::i64;
    };
    for (const tensor_info* t : kernel_.params()) consider(*t);
    for (const node& n : kernel_.nodes())
      if (n.tensor) consider(*n.tensor);
  }

  std::vector<ir::expr> shape_of(const tensor_info& t) const {
    std::vector<ir::expr> out;
    for (int d = 0; d < t.rank; ++d) out.push_back(index_literal(program_.dims.find(t.dims[d])));
    return out;
  }

  ir::param make_param(const tensor_info& t) {
    if (t.rank == 0 && (t.role == role::in || t.role == role::weight)) {
      scalars_[&t] = ir::make_var(std::string(t.name), t.type);
      return {ir::buffer{}, scalars_[&t]};
    }
    buffers_[&t] = ir::make_buffer(std::string(t.name), t.type, shape_of(t));
    return {buffers_[&t], ir::var{}};
  }

  const ir::buffer& buffer_of(const tensor_info* t) {
    ir::buffer& b = buffers_[t];
    if (!b) b = make_temp(std::string(t->name), t->type, shape_of(*t));
    return b;
  }

  void emit_definition(int at) {
    finding none;
    const children part = children_of(nodes_, at);
    const int value = part.at[part.count - 1];
    const frame f = make_frame(left_axes(program_, at, none));
    if (accumulates_in_place(at, value)) return emit_reduction(value, f.scope, at, {});
    const int store = part.at[0];
    const ir::buffer target = buffer_of(nodes_[store].tensor);
    const std::vector<ir::expr> indices = lower_indices(store, f);
    // the loops that matter carry the definition's name: those of its reduction, if it has just one
    int reductions = 0;
    any_below(nodes_, value, [&](int k) {
      reductions += nodes_[k].kind == node_kind::reduce;
      return false;
    });
    only_reduction_ = reductions == 1 ? target->name : std::string();
    const ir::expr result = ir::cast(target->type, lower(value, f));
    ir::annotations notes;
    if (ir::attr::list walk = walk_note(nodes_, value); !walk.empty())
      notes[ir::walk_attribute] = std::move(walk);
    emit_block(reductions == 1 ? target->name + "_epilogue" : target->name, f, f.scope.count, {},
               ir::make_store(target, indices, result), footprint({result}),
               {{target, ir::point_box(indices)}}, std::move(notes));
  }

  /// The value is one reduction of the targets' types that does not read what it accumulates.
  bool accumulates_in_place(int define, int value) const {
    const node& n = nodes_[value];
    if (n.kind != node_kind::reduce || n.width != nodes_[define].width) return false;
    const children part = children_of(nodes_, define);
    for (int t = 0; t + 1 < part.count; ++t) {
      const tensor_info* target = nodes_[part.at[t]].tensor;
      if (any_below(nodes_, value, [&](int k) { return nodes_[k].tensor == target; })) {
        if (n.width > 1) fail("a fold into several tensors cannot read them");
        return false;
      }
    }
    return n.is_index == false && (n.width > 1 || n.type == nodes_[part.at[0]].tensor->type);
  }

  /// Emits the block of the reduction at `at` over `spatial` and its own axes. Its results go to
  /// the targets of `define`, or, when that is -1, to `temps` indexed by the spatial axes.
  void emit_reduction(int at, const axis_scope& spatial, int define,
                      const std::vector<ir::buffer>& temps) {
    finding none;
    const frame f = make_frame(reduced_axes(program_, at, spatial, none));
    std::vector<ir::buffer> targets = temps;
    std::vector<std::vector<ir::expr>> indices;
    if (define >= 0) {
      const children part = children_of(nodes_, define);
      for (int t = 0; t < nodes_[define].width; ++t) {
        targets.push_back(buffer_of(nodes_[part.at[t]].tensor));
        indices.push_back(lower_indices(part.at[t], f));
      }
    } else {
      indices.assign(temps.size(), {f.vars.begin(), f.vars.begin() + spatial.count});
    }
    std::vector<ir::expr> accumulated;
    for (std::size_t t = 0; t < targets.size(); ++t)
      accumulated.push_back(ir::load(targets[t], indices[t]));
    const update u = make_update(at, f, accumulated);
    std::vector<ir::stmt> init, body;
    std::vector<ir::buffer_region> writes;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      init.push_back(ir::make_store(targets[t], indices[t], u.identity[t]));
      writes.push_back({targets[t], ir::point_box(indices[t])});
    }
    ir::annotations notes;
    if (!u.reducer.empty()) notes[ir::reducer_note] = u.reducer;
    if (ir::attr::list walk = walk_note(nodes_, at); !walk.empty())
      notes[ir::walk_attribute] = std::move(walk);
    const bool named_after_definition = define < 0 && !only_reduction_.empty();
    emit_block(named_after_definition ? only_reduction_ : targets.front()->name, f, spatial.count,
               ir::make_seq(init), store_results(targets, indices, u.result), footprint(u.read),
               std::move(writes), std::move(notes));
  }

  /// One result is stored as it is; of several, all are computed before the first is stored.
  static ir::stmt store_results(const std::vector<ir::buffer>& targets,
                                const std::vector<std::vector<ir::expr>>& indices,
                                const std::vector<ir::expr>& results) {
    if (results.size() == 1) return ir::make_store(targets[0], indices[0], results[0]);
    std::vector<ir::var> lets;
    std::vector<ir::stmt> stores;
    for (std::size_t t = 0; t < results.size(); ++t) {
      lets.push_back(ir::make_var("v_" + targets[t]->name, results[t].type()));
      stores.push_back(ir::make_store(targets[t], indices[t], lets[t]));
    }
    ir::stmt out = ir::make_seq(stores);
    for (std::size_t t = results.size(); t-- > 0;) out = ir::make_let(lets[t], results[t], out);
    return out;
  }

  /// What a reduction does with its accumulators.
  struct update {
    std::vector<ir::expr> identity;
    std::vector<ir::expr> result;
    std::vector<ir::expr> read;  // new values, without the accumulators
    std::string reducer = {};    // of a fold: ir::reducer_note
  };

  update make_update(int at, const frame& f, const std::vector<ir::expr>& acc) {
    const node& n = nodes_[at];
    const children part = children_of(nodes_, at);
    if (n.reduction == reduction::user) return user_update(at, f, acc);
    const ir::expr x = lower(part.at[n.axes], f);
    if (n.width == 2) return position_update(at, f, acc, x);
    const dtype t = x.type();
    switch (n.reduction) {
      case reduction::sum: return {{ir::literal(t, 0)}, {acc[0] + x}, {x}};
      case reduction::prod: return {{ir::literal(t, 1)}, {acc[0] * x}, {x}};
      case reduction::max: return {{ir::lowest_value(t)}, {ir::max(acc[0], x)}, {x}};
      case reduction::min: return {{ir::highest_value(t)}, {ir::min(acc[0], x)}, {x}};
      case reduction::any: return {{ir::boolean(false)}, {ir::logical_or(acc[0], x)}, {x}};
      case reduction::all: return {{ir::boolean(true)}, {ir::logical_and(acc[0], x)}, {x}};
      default: throw internal_error("a reduction of unknown kind");
    }
  }

  /// argmax and argmin with ties to the lower index, in the form that reducer registries know:
  /// (position, value) with the identity (-1, lowest).
  update position_update(int at, const frame& f, const std::vector<ir::expr>& acc,
                         const ir::expr& x) {
    const node& n = nodes_[at];
    const children part = children_of(nodes_, at);
    ir::expr position = index_literal(0);
    for (int k = 0; k < n.axes; ++k) {
      const std::string_view axis = nodes_[part.at[k]].name;
      const std::int64_t extent = f.scope.axes[f.scope.find(axis)].extent;
      position = position * index_literal(extent) + f.var_of(axis);
    }
    const bool largest = n.reduction == reduction::argmax;
    const ir::expr better = largest ? ir::gt(acc[1], x) : ir::lt(acc[1], x);
    const ir::expr keep =
        ir::logical_or(better, ir::logical_and(ir::eq(acc[1], x), ir::lt(acc[0], position)));
    return {{index_literal(-1), largest ? ir::lowest_value(x.type()) : ir::highest_value(x.type())},
            {ir::select(keep, acc[0], position), ir::select(better, acc[1], x)},
            {x}};
  }

  update user_update(int at, const frame& f, const std::vector<ir::expr>& acc) {
    const node& n = nodes_[at];
    const children part = children_of(nodes_, at);
    update out;
    for (int w = 0; w < n.width; ++w) out.read.push_back(lower(part.at[n.axes + w], f));
    for (int w = 0; w < n.width; ++w)
      out.identity.push_back(lower(part.at[n.axes + n.width + w], f));
    out.result = user_combination(at, f, acc, out.read);
    std::vector<ir::expr> left, right;
    for (std::size_t w = 0; w < acc.size(); ++w) {
      left.push_back(ir::reducer_operand(acc[w].type(), w));
      right.push_back(ir::reducer_operand(acc[w].type(), acc.size() + w));
    }
    out.reducer = ir::print(ir::comm_reducer{out.identity, user_combination(at, f, left, right)});
    return out;
  }

  std::vector<ir::expr> user_combination(int at, const frame& f, const std::vector<ir::expr>& left,
                                         const std::vector<ir::expr>& right) {
    const node& n = nodes_[at];
    const children part = children_of(nodes_, at);
    std::vector<ir::expr> parts = left, out;
    parts.insert(parts.end(), right.begin(), right.end());
    const std::vector<ir::expr>* outer = std::exchange(placeholders_, &parts);
    for (int w = 0; w < n.width; ++w) out.push_back(lower(part.at[n.axes + 2 * n.width + w], f));
    placeholders_ = outer;
    return out;
  }

  /// A reduction inside an expression: a block of its own over the axes that its value needs.
  ir::expr lower_inline_reduction(int at, const frame& f) {
    finding none;
    const node& n = nodes_[at];
    axis_scope spatial;
    std::vector<ir::expr> shape, where;
    for (int k = 0; k < f.scope.count; ++k) {
      const axis_range& axis = f.scope.axes[k];
      const bool used =
          any_below(nodes_, at, [&](int x) { return is_axis_node(nodes_[x], axis.name); });
      if (!used) continue;
      push_axis(spatial, axis, none);
      shape.push_back(index_literal(axis.extent));
      where.push_back(f.vars[static_cast<std::size_t>(k)]);
    }
    const ir::buffer known = reduced_before(at, spatial);
    const ir::buffer result = known ? known : emit_inline_reduction(at, spatial, shape);
    const ir::expr value = ir::load(result, where);
    // a row without an element above the identity keeps position -1
    return n.width == 2 ? ir::max(value, index_literal(0)) : value;
  }

  /// An equal reduction over equal axes in the same definition: an expression that a user's
  /// function mentions twice is computed once.
  ir::buffer reduced_before(int at, const axis_scope& spatial) const {
    const auto same_axes = [&](const axis_scope& other) {
      if (other.count != spatial.count) return false;
      for (int k = 0; k < other.count; ++k)
        if (other.axes[k].name != spatial.axes[k].name ||
            other.axes[k].extent != spatial.axes[k].extent)
          return false;
      return true;
    };
    for (const inline_reduction& r : inline_reductions_)
      if (r.define == definition_ && same_axes(r.spatial) && same_tree(nodes_, r.at, at))
        return r.result;
    return {};
  }

  ir::buffer emit_inline_reduction(int at, const axis_scope& spatial,
                                   const std::vector<ir::expr>& shape) {
    const node& n = nodes_[at];
    const children part = children_of(nodes_, at);
    const tensor_info* target = nodes_[children_of(nodes_, definition_).at[0]].tensor;
    std::vector<ir::buffer> temps;
    const std::string base = std::string(target->name) + "_" + reduction_name(n.reduction);
    if (n.width == 2 && n.reduction != reduction::user) {
      const dtype value = nodes_[part.at[n.axes]].is_index ? index_ : nodes_[part.at[n.axes]].type;
      temps = {make_temp(base, index_, shape), make_temp(base + "_value", value, shape)};
    } else {
      temps = {make_temp(base, n.is_index ? index_ : n.type, shape)};
    }
    emit_reduction(at, spatial, -1, temps);
    inline_reductions_.push_back({definition_, at, spatial, temps.front()});
    return temps.front();
  }

  // Expressions

  std::vector<ir::expr> lower_indices(int access, const frame& f) {
    const children index = children_of(nodes_, access);
    std::vector<ir::expr> out;
    for (int d = 0; d < index.count; ++d) out.push_back(ir::cast(index_, lower(index.at[d], f)));
    return out;
  }

  ir::expr lower(int at, const frame& f) {
    const node& n = nodes_[at];
    switch (n.kind) {
      case node_kind::axis: return f.var_of(n.name);
      case node_kind::extent: return index_literal(program_.dims.find(n.name));
      case node_kind::operation: return lower_operation(at, f);
      case node_kind::load: return lower_load(at, f);
      case node_kind::reduce: return lower_inline_reduction(at, f);
      case node_kind::placeholder: return (*placeholders_)[static_cast<std::size_t>(n.integer)];
      default: throw internal_error("a definition inside an expression");
    }
  }

  ir::expr lower_operation(int at, const frame& f) {
    const node& n = nodes_[at];
    const dtype type = n.is_index ? index_ : n.type;
    if (n.op == ir::op::integer) return ir::integer(type, n.integer);
    if (n.op == ir::op::real) return ir::real(type, n.real);
    const children child = children_of(nodes_, at);
    std::vector<ir::expr> args;
    for (int k = 0; k < child.count; ++k) args.push_back(lower(child.at[k], f));
    if (n.is_index)
      for (ir::expr& a : args)
        if (a.type() != index_ && is_integer(a.type())) a = ir::cast(index_, a);
    match_index_operands(n, child, args);
    switch (n.op) {
      case ir::op::call: return ir::call(type, std::string(n.name), std::move(args));
      case ir::op::cast: return ir::cast(type, args[0]);
      default: break;
    }
    ir::expr_node like;
    like.op = n.op;
    like.type = type;
    return apply(like, args);
  }

  /// A comparison of an index with an integer tensor is made in the index type.
  void match_index_operands(const node& n, const children& child, std::vector<ir::expr>& args) {
    if (n.type != dtype::boolean || child.count != 2) return;
    const bool a = nodes_[child.at[0]].is_index, b = nodes_[child.at[1]].is_index;
    if (!a && !b) return;
    for (ir::expr& e : args)
      if (is_integer(e.type())) e = ir::cast(index_, e);
  }

  static ir::expr apply(const ir::expr_node& like, std::vector<ir::expr>& args) {
    const ir::expr shared(support::ref<const ir::expr_node>(new ir::expr_node(like)));
    return ir::with_args(shared, std::move(args));
  }

  ir::expr lower_load(int at, const frame& f) {
    const node& n = nodes_[at];
    if (const auto scalar = scalars_.find(n.tensor); scalar != scalars_.end())
      return scalar->second;
    const ir::buffer source = buffer_of(n.tensor);
    std::vector<ir::expr> indices = lower_indices(at, f);
    if (n.edge == border::none) return ir::load(source, std::move(indices));
    const padding_plan& plan = paddings_.at(at);
    if (plan.how == padding_plan::direct) return ir::load(source, std::move(indices));
    if (plan.how == padding_plan::guarded)
      return guarded_load(source, std::move(indices), n.edge,
                          std::vector<bool>(static_cast<std::size_t>(n.tensor->rank), true));
    padded_tensor& pad = padded_[static_cast<std::size_t>(plan.group)];
    if (!pad.buffer)
      emit_padding(paddings_.groups[static_cast<std::size_t>(plan.group)], pad, source);
    for (std::size_t d = 0; d < indices.size(); ++d)
      indices[d] = indices[d] - index_literal(pad.low[d]);
    return ir::load(pad.buffer, std::move(indices));
  }

  struct padded_tensor {
    ir::buffer buffer;
    std::vector<std::int64_t> low;  // [rank], index of the first element kept
  };

  /// The block that copies the box of a group with its border filled.
  void emit_padding(const padding_group& group, padded_tensor& pad, const ir::buffer& source) {
    frame f;
    std::vector<ir::expr> shape, indices, store;
    std::vector<bool> leaves;
    axis_names_.clear();
    for (std::size_t d = 0; d < group.box.size(); ++d)
      axis_names_.push_back("i" + std::to_string(d));
    for (std::size_t d = 0; d < group.box.size(); ++d) {
      const index_interval& i = group.box[d];
      finding none;
      push_axis(f.scope, {axis_names_[d], i.hi - i.lo + 1, {}, {}}, none);
      f.vars.push_back(ir::make_var("v" + axis_names_[d], index_));
      shape.push_back(index_literal(i.hi - i.lo + 1));
      pad.low.push_back(i.lo);
      indices.push_back(f.vars[d] + index_literal(i.lo));
      leaves.push_back(i.lo < 0 || i.hi >= ir::as_int(source->shape[d]));
      store.push_back(f.vars[d]);
    }
    pad.buffer = make_temp(source->name + "_pad", source->type, shape);
    const ir::expr value = guarded_load(source, indices, group.edge, leaves);
    emit_block(pad.buffer->name, f, f.scope.count, {}, ir::make_store(pad.buffer, store, value),
               footprint({value}), {{pad.buffer, ir::point_box(store)}});
  }

  /// A load that stays in bounds in the dimensions where `leaves` holds.
  ir::expr guarded_load(const ir::buffer& source, std::vector<ir::expr> indices, border edge,
                        const std::vector<bool>& leaves) const {
    std::vector<ir::expr> inside;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      if (!leaves[d]) continue;
      const ir::expr zero = index_literal(0), extent = source->shape[d];
      const std::int64_t last = ir::as_int(extent) - 1;
      ir::expr& i = indices[d];
      if (edge == border::zero) {
        inside.push_back(ir::ge(i, zero));
        inside.push_back(ir::lt(i, extent));
      } else if (edge == border::clamp || last == 0) {
        i = ir::min(ir::max(i, zero), index_literal(last));
      } else {
        const ir::expr turn = ir::floormod(i, index_literal(2 * last));
        i = ir::min(turn, index_literal(2 * last) - turn);
      }
    }
    const ir::expr value = ir::load(source, std::move(indices));
    if (inside.empty()) return value;
    return ir::if_then_else(ir::conjunction(inside), value, ir::literal(source->type, 0));
  }

  struct inline_reduction {
    int define;
    int at;
    axis_scope spatial;
    ir::buffer result;
  };

  const any_kernel& kernel_;
  std::vector<dim_table::entry> entries_;
  program_view program_;
  const node* nodes_ = nullptr;
  int definition_ = -1;
  std::unordered_map<const tensor_info*, ir::buffer> buffers_;
  std::unordered_map<const tensor_info*, ir::var> scalars_;
  std::vector<inline_reduction> inline_reductions_;
  padding_plans paddings_;
  std::map<std::size_t, padded_tensor> padded_;
  std::string only_reduction_;  // name for the inline reduction of the definition at hand, or empty
  std::vector<std::string> axis_names_;  // of the padding block under construction
  const std::vector<ir::expr>* placeholders_ = nullptr;
};

}  // namespace dsl::detail

TILEWRIGHT_INLINE ir::function reify(const any_kernel& kernel, const dim_values& dims) {
  return dsl::detail::reifier(kernel, dims).build();
}

}  // namespace tilewright
