// The stores of a scheduled program with their loops and accesses, as features.ipp needs them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/impl/cost/spread.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::cost::detail {

using operation_counts = std::array<double, 16>;

struct loop_info {
  int id = -1;  // -1: a copy that no other store shares
  double extent = 1;
  ir::loop_kind kind = ir::loop_kind::serial;
  std::string_view tag;
  bool counts = true;  // false: as if the loop were not there
};

struct access {
  std::size_t buffer = 0;  // in store_walk::buffers
  bool read = false;
  bool write = false;
  std::vector<spread> dims;  // several tuples of indices after each other
};

struct store_info {
  std::size_t buffer = 0;
  operation_counts operations{};  // of one iteration
  std::vector<loop_info> loops;
  std::vector<access> accesses;  // one per buffer
  double unroll_step = 0;
  bool adds = false;  // memory adds to `buffer`, whoever else does (ir/analysis/atomic_update.hpp)
};

struct buffer_info {
  const ir::buffer_node* node = nullptr;
  bool parameter = false;
  std::vector<double> shape;  // of what is allocated
  std::vector<double> strides;
  std::vector<int> common;  // loops around all accesses
  bool seen = false;
};

/// A number for an extent; 1 where none is known.
inline double extent_number(const ir::expr& e) {
  switch (e->op) {
    case ir::op::integer: return std::max(1.0, static_cast<double>(e->integer));
    case ir::op::min: {
      const double a = extent_number(e->args[0]), b = extent_number(e->args[1]);
      return a == 1 ? b : b == 1 ? a : std::min(a, b);
    }
    case ir::op::max: return std::max(extent_number(e->args[0]), extent_number(e->args[1]));
    case ir::op::cast: return extent_number(e->args[0]);
    default: return 1;
  }
}

class store_walk {
 public:
  explicit store_walk(const ir::function& f) : function_(f), pattern_(ir::noted_pattern(f)) {
    bound_.reserve(32);  // each holds coefficients for all loops
    for (const ir::param& p : f.params)
      if (p.buffer) buffers[buffer_of(p.buffer)].parameter = true;
    walk(f.body);
  }

  /// Their number; identifiers are below it.
  std::size_t loops() const { return static_cast<std::size_t>(next_loop_); }

  std::vector<store_info> stores;
  std::vector<buffer_info> buffers;

  /// What is known of the sparse pattern that the program walks.
  const std::optional<ir::pattern_note>& pattern() const { return pattern_; }

 private:
  struct binding {
    const ir::expr_node* var;
    spread value;
    operation_counts operations;  // that computing it once takes
  };
  struct alias {
    const ir::buffer_node* buffer;
    const ir::buffer_region* source;
  };

  spread_algebra algebra() const { return {extents_.data(), extents_.size()}; }

  std::size_t buffer_of(const ir::buffer& b) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].node == b.get()) return i;
    buffer_info out;
    out.node = b.get();
    for (const ir::expr& e : b->shape) out.shape.push_back(ir::is_int(e) ? extent_number(e) : 0);
    buffers.push_back(std::move(out));
    return buffers.size() - 1;
  }

  static std::optional<double> unroll_note(const ir::annotations& notes) {
    if (notes.empty()) return std::nullopt;
    for (const char* key :
         {ir::unroll_note, "meta_schedule.unroll_explicit", "meta_schedule.unroll_implicit"})
      if (const ir::attr* found = ir::find_note(notes, key))
        if (const auto* n = std::get_if<std::int64_t>(&found->value))
          return static_cast<double>(*n);
    return std::nullopt;
  }

  void walk(const ir::stmt& s) {
    if (!s) return;
    switch (s->kind) {
      case ir::stmt_kind::loop: return walk_loop(*ir::as_loop(s));
      case ir::stmt_kind::block_realize: return walk_realize(*ir::as_realize(s));
      case ir::stmt_kind::seq:
        for (const ir::stmt& part : ir::as_seq(s)->stmts) walk(part);
        return;
      case ir::stmt_kind::store: return add_store(*ir::as_store(s));
      case ir::stmt_kind::if_else:
        walk(ir::as_if(s)->then_body);
        return walk(ir::as_if(s)->else_body);
      case ir::stmt_kind::let: {
        const ir::let_node& let = *ir::as_let(s);
        bind(let.var, let.value);
        walk(let.body);
        return bound_.pop_back();
      }
      case ir::stmt_kind::evaluate: return add_intrinsic(ir::as_evaluate(s)->value);
      case ir::stmt_kind::allocate: return walk(ir::as_allocate(s)->body);
      case ir::stmt_kind::while_loop: return walk(ir::as_while(s)->body);
      case ir::stmt_kind::attribute: return walk(ir::as_attribute(s)->body);
    }
  }

  void walk_loop(const ir::loop_node& loop) {
    double extent = extent_number(loop.extent);
    if (extent == 1 && loop.extent->reads_memory)
      extent = std::max(1.0, ir::mean_extent(function_, loop.extent));
    const bool counts = extent != 1 || loop.loop == ir::loop_kind::thread_binding;
    path_.push_back({next_loop_++, extent, loop.loop, loop.thread_tag, counts});
    if (extents_.size() < deepest) extents_.push_back(extent);
    const double start = ir::is_int(loop.min) ? static_cast<double>(ir::as_int(loop.min)) : 0;
    const std::size_t index = path_.size() - 1;
    bound_.push_back({loop.var.get(),
                      loop.thread_tag == "threadIdx.x" ? algebra().lane_loop(index, start)
                                                       : algebra().loop(index, start),
                      {}});
    const double step = unroll_step_;
    if (const auto note = unroll_note(loop.annotations)) unroll_step_ = *note;
    walk(loop.body);
    unroll_step_ = step;
    bound_.pop_back();
    if (path_.size() <= deepest) extents_.pop_back();
    path_.pop_back();
  }

  void walk_realize(const ir::block_realize_node& r) {
    const ir::block_node& b = *r.block;
    const std::size_t bound = bound_.size(), aliases = aliases_.size();
    for (std::size_t i = 0; i < b.iters.size(); ++i) bind(b.iters[i].var, r.values[i]);
    for (const ir::match_buffer& m : b.match_buffers)
      aliases_.push_back({m.buffer.get(), &m.source});
    const double step = unroll_step_;
    if (const auto note = unroll_note(b.annotations)) unroll_step_ = *note;
    if (b.init) walk_init(b, bound);
    const bool adds =
        std::exchange(adds_, ir::has_atomic_note(b.annotations) && ir::adds_atomically(b));
    walk(b.body);
    adds_ = adds;
    unroll_step_ = step;
    aliases_.resize(aliases);
    bound_.erase(bound_.begin() + static_cast<std::ptrdiff_t>(bound), bound_.end());
  }

  /// The initialization runs in front of the outermost reduction loop, under copies of the others.
  void walk_init(const ir::block_node& b, std::size_t first) {
    const std::vector<loop_info> path = path_;
    bool inside = false;
    for (std::size_t l = 0; l < path_.size() && l < deepest; ++l) {
      for (std::size_t i = 0; i < b.iters.size(); ++i)
        if (b.iters[i].kind != ir::iter_kind::spatial && bound_[first + i].value.moved_by(l) != 0) {
          path_[l].counts = false;
          path_[l].extent = 1;
          inside = true;
        }
      if (inside) path_[l].id = -1;
    }
    walk(b.init);
    path_ = path;
  }

  void bind(const ir::var& v, const ir::expr& value) {
    operation_counts operations{};
    spread where = index(value, &operations);
    bound_.push_back({v.get(), where, operations});
  }

  const binding* find(const ir::expr_node* v) const {
    for (std::size_t i = bound_.size(); i-- > 0;)
      if (bound_[i].var == v) return &bound_[i];
    return nullptr;
  }

  /// The index and, where `counts` is given, what computing it takes.
  spread index(const ir::expr& e, operation_counts* counts) {
    const spread_algebra a = algebra();
    switch (e->op) {
      case ir::op::integer: return a.constant(static_cast<double>(e->integer));
      case ir::op::var: {
        const binding* b = find(e.get());
        if (!b) return a.constant(0);
        if (counts)
          for (std::size_t i = 0; i < counts->size(); ++i) (*counts)[i] += b->operations[i];
        return b->value;
      }
      default: break;
    }
    if (counts) count_node(*e, *counts);
    if (e->op == ir::op::cast) return index(e->args[0], counts);
    if (e->op == ir::op::load) return load_as_index(*e, counts);
    if (e->args.size() != 2) return other_index(*e, counts);
    const spread x = index(e->args[0], counts), y = index(e->args[1], counts);
    const double by = y.base;
    const bool constant = y.depth == 0;
    switch (e->op) {
      case ir::op::add: return a.sum(x, y, 1);
      case ir::op::sub: return a.sum(x, y, -1);
      case ir::op::mul:
        if (constant) return a.product(x, by);
        return x.depth == 0 ? a.product(y, x.base) : a.either(x, y);
      case ir::op::div:
      case ir::op::floordiv: return constant ? a.quotient(x, by) : x;
      case ir::op::mod:
      case ir::op::floormod: return constant ? a.remainder(x, by) : x;
      default: return constant ? x : x.depth == 0 ? y : a.either(x, y);
    }
  }

  spread load_as_index(const ir::expr_node& e, operation_counts* counts) {
    spread by = algebra().constant(0);
    for (const ir::expr& i : e.args) by = algebra().sum(by, index(i, counts), 1);
    return algebra().anywhere(by, step_of(e));
  }

  /// What the next iteration of a loop finds in the place of what is loaded here, minus that: of offsets the length
  /// of a row, of other indices what the pattern is known to have between two elements.
  double step_of(const ir::expr_node& load) const {
    constexpr double far = 1024;
    if (!pattern_) return far;
    const std::optional<ir::offsets_note> rows = ir::offsets_of(function_, load.buffer->name);
    if (!rows || load.buffer->shape.size() != 1 || !ir::is_int(load.buffer->shape[0]))
      return std::clamp(pattern_->gap, 1.0, far);
    const auto count = static_cast<double>(ir::as_int(load.buffer->shape[0]) - 1);
    return std::clamp(static_cast<double>(rows->last) / std::max(count, 1.0), 1.0, far);
  }

  spread other_index(const ir::expr_node& e, operation_counts* counts) {
    spread out = algebra().constant(0);
    for (std::size_t i = 0; i < e.args.size(); ++i) {
      const spread part = index(e.args[i], counts);
      if (i != 0 || e.args.size() == 1) out = algebra().either(out, part);
    }
    return out;
  }

  static std::size_t kind_of(ir::op o) {
    switch (o) {
      case ir::op::add:
      case ir::op::sub: return 1;
      case ir::op::mul: return 2;
      case ir::op::div:
      case ir::op::mod:
      case ir::op::floordiv:
      case ir::op::floormod: return 3;
      case ir::op::min:
      case ir::op::max:
      case ir::op::eq:
      case ir::op::ne:
      case ir::op::lt:
      case ir::op::le:
      case ir::op::gt:
      case ir::op::ge: return 4;
      case ir::op::call: return 5;
      default: return 0;
    }
  }

  static void count_node(const ir::expr_node& e, operation_counts& counts) {
    if (e.op == ir::op::logical_and || e.op == ir::op::logical_or || e.op == ir::op::logical_not) {
      ++counts[14];
    } else if (e.op == ir::op::select || e.op == ir::op::if_then_else) {
      ++counts[15];
    } else if (const std::size_t kind = kind_of(e.op)) {
      // comparisons belong to the type that they compare
      const dtype type = e.args.empty() ? e.type : e.args[0].type();
      ++counts[(is_float(type) ? 0 : 7) + kind];
    }
  }

  /// Counts the operations of a value and collects what it reads.
  void value(const ir::expr& e, store_info& to) {
    if (e->op == ir::op::var) {
      if (const binding* b = find(e.get()))
        for (std::size_t i = 0; i < to.operations.size(); ++i) to.operations[i] += b->operations[i];
      return;
    }
    if (e->op == ir::op::load) return add_access(e->buffer, e->args, true, &to.operations, to);
    if (e->op == ir::op::data) return add_access(e->buffer, {}, true, &to.operations, to);
    count_node(*e, to.operations);
    for (const ir::expr& a : e->args) value(a, to);
  }

  void add_access(const ir::buffer& b, const std::vector<ir::expr>& indices, bool read,
                  operation_counts* counts, store_info& to) {
    std::vector<spread> dims;
    dims.reserve(b->shape.size());
    for (const ir::expr& i : indices) dims.push_back(index(i, counts));
    for (const ir::expr& i : indices)  // loads inside indices are accesses of their own
      if (i->op != ir::op::var && i->op != ir::op::integer) loads_inside(i, to);
    const ir::buffer* real = &b;
    for (std::size_t i = aliases_.size(); i-- > 0;)
      if (aliases_[i].buffer == real->get()) {
        dims = rebased(*aliases_[i].source, dims);
        real = &aliases_[i].source->buffer;
      }
    while (dims.size() < (*real)->shape.size()) {  // a pointer: all of it
      spread all = algebra().constant(0);
      all.known = false;
      dims.push_back(all);
    }
    const std::size_t id = buffer_of(*real);
    for (access& a : to.accesses)
      if (a.buffer == id) {
        (read ? a.read : a.write) = true;
        a.dims.insert(a.dims.end(), dims.begin(), dims.end());
        return;
      }
    to.accesses.push_back({id, read, !read, std::move(dims)});
  }

  void loads_inside(const ir::expr& e, store_info& to) {
    if (e->op == ir::op::load) return add_access(e->buffer, e->args, true, nullptr, to);
    for (const ir::expr& a : e->args) loads_inside(a, to);
  }

  std::vector<spread> rebased(const ir::buffer_region& source, const std::vector<spread>& dims) {
    std::vector<spread> out;
    const std::size_t skip = source.box.size() > dims.size() ? source.box.size() - dims.size() : 0;
    for (std::size_t d = 0; d < source.box.size(); ++d) {
      const spread min = index(source.box[d].min, nullptr);
      out.push_back(d < skip ? min : algebra().sum(min, dims[d - skip], 1));
    }
    return out;
  }

  store_info fresh() const {
    store_info out;
    out.loops = path_;
    out.unroll_step = unroll_step_;
    return out;
  }

  void add_store(const ir::store_node& s) {
    store_info out = fresh();
    value(s.value, out);
    add_access(s.buffer, s.indices, false, nullptr, out);
    for (const access& a : out.accesses)
      if (a.write) out.buffer = a.buffer;
    out.adds = adds_;
    stores.push_back(std::move(out));
  }

  /// A tensor intrinsic counts as a store into the first buffer that it is handed.
  void add_intrinsic(const ir::expr& call) {
    if (call->op != ir::op::call) return;
    store_info out = fresh();
    value(call, out);
    if (out.accesses.empty()) return;
    out.accesses.front().write = true;
    out.buffer = out.accesses.front().buffer;
    stores.push_back(std::move(out));
  }

  std::vector<loop_info> path_;
  const ir::function& function_;
  std::optional<ir::pattern_note> pattern_;
  std::vector<double> extents_;  // of the first `deepest` loops
  std::vector<binding> bound_;
  std::vector<alias> aliases_;
  double unroll_step_ = 0;
  bool adds_ = false;  // inside of a block that adds atomically
  int next_loop_ = 0;
};

}  // namespace tilewright::cost::detail
