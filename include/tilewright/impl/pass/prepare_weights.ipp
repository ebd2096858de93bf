#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/prepare_weights.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::pass::detail::prepare {

using namespace tilewright::ir;

/// Memory of the packed buffers over that of the weights; of a function that allows its algorithms an error,
/// filters are transformed, 3x3 elements to 8x8 by way of 8x3 wider ones, and copied to panels.
inline constexpr std::int64_t most_growth = 4, most_transformed_growth = 24;
/// Fused loops longer than this are not taken apart into digits.
inline constexpr std::int64_t most_digits_checked = 1 << 16;

/// Statements of a sequence; a single one otherwise.
inline std::vector<stmt> statements(const stmt& s) {
  const seq_node* seq = as_seq(s);
  return seq ? seq->stmts : std::vector<stmt>{s};
}

inline bool is_digit(const expr& e) {
  return (e->op == op::floordiv || e->op == op::floormod) && is_int(e->args[1]);
}

/// True for v, v // c, v % c, v // c % d: what a fused loop variable is taken apart into.
inline bool digit_of(const expr& e, const var& v) {
  return e.same(v) || (is_digit(e) && digit_of(e->args[0], v));
}

inline std::int64_t digit_value(const expr& e, std::int64_t v) {
  if (!is_digit(e)) return v;
  const std::int64_t inner = digit_value(e->args[0], v), by = as_int(e->args[1]);
  return e->op == op::floordiv ? floor_divide(inner, by) : floor_modulo(inner, by);
}

/// The first value of the variable at which the digit is not 0; `extent` when there is none.
inline std::int64_t first_change(const expr& e, std::int64_t extent) {
  std::int64_t v = 0;
  while (v < extent && digit_value(e, v) == 0) ++v;
  return v;
}

/// One dimension of slices: a loop around the panel, or a digit of one.
struct dimension {
  expr at;    // in terms of the loop's variable, counted from 0
  expr from;  // what of the panel's code it stands for
  std::int64_t extent = 0;
  expr min;  // of the loop; null for digits
};

/// The code that fills a panel may do nothing but compute it from what is known.
class fill_check : public visitor {
 public:
  fill_check(const buffer& panel, const buffer_set& known) : panel_(panel), known_(known) {}
  using visitor::visit;

  void visit(const expr& e) override {
    if (e->op == op::load && !mine(e->buffer) && !known_.count(e->buffer)) pure = false;
    if (e->op == op::data || e->op == op::text) pure = false;
    if (e->op == op::let) inside_.insert(e->args[0]);
    if (is_var(e) && !inside_.count(e)) free.insert(e);
    visitor::visit(e);
  }
  void visit(const stmt& s) override {
    switch (s->kind) {
      case stmt_kind::loop:
        if (as_loop(s)->loop == loop_kind::thread_binding) pure = false;
        has_parallel = has_parallel || as_loop(s)->loop == loop_kind::parallel;
        inside_.insert(as_loop(s)->var);
        break;
      case stmt_kind::let: inside_.insert(as_let(s)->var); break;
      case stmt_kind::allocate: own_.insert(as_allocate(s)->buffer); break;
      case stmt_kind::store:
        if (!mine(as_store(s)->buffer)) pure = false;
        break;
      case stmt_kind::seq:
      case stmt_kind::if_else: break;
      default: pure = false;
    }
    visitor::visit(s);
  }

  bool pure = true, has_parallel = false;
  var_set free;

 private:
  bool mine(const buffer& b) const { return b == panel_ || own_.count(b) != 0; }
  const buffer& panel_;
  const buffer_set& known_;
  buffer_set own_;
  var_set inside_;
};

/// Accesses of a panel become accesses of its slice.
inline stmt to_slice(const stmt& s, const buffer& from, const buffer& to,
                     const std::vector<expr>& slice) {
  return reroute(s, from, to, [&](const std::vector<expr>& indices) {
    std::vector<expr> out = slice;
    out.insert(out.end(), indices.begin(), indices.end());
    return out;
  });
}

/// Replaces whole expressions: variables and digits of them by the loops of the preparation.
class digit_replacer : public mutator {
 public:
  explicit digit_replacer(std::vector<std::pair<expr, expr>> map) : map_(std::move(map)) {}
  using mutator::mutate;
  expr mutate(const expr& e) override {
    for (const auto& [from, to] : map_)
      if (e.same(from) || (is_digit(from) && arith::same_value(e, from))) return to;
    return mutator::mutate(e);
  }

 private:
  std::vector<std::pair<expr, expr>> map_;
};

class hoister : public mutator {
 public:
  explicit hoister(const function& f) {
    const buffer_set stored = stored_buffers(f.body);
    for (const buffer& w : bound_weights(f)) {
      if (stored.count(w) || constant_size(w) < 0) continue;
      known_.insert(w);
      const bool transformed = f.attrs.count(error_attribute) > 0;
      budget_ +=
          (transformed ? most_transformed_growth : most_growth) * constant_size(w) * bytes(w->type);
    }
  }

  bool useful() const { return !known_.empty(); }
  bool changed = false;
  std::vector<buffer> packed;
  std::vector<stmt> fills;

  using mutator::mutate;
  stmt mutate(const stmt& s) override {
    if (const allocate_node* n = as_allocate(s))
      if (const stmt rest = hoisted(*n)) return mutate(rest);
    const bool on_path =
        s->kind == stmt_kind::loop || s->kind == stmt_kind::if_else || s->kind == stmt_kind::let;
    if (on_path) path_.push_back(s);
    stmt out = mutator::mutate(s);
    if (on_path) path_.pop_back();
    return out;
  }

 private:
  struct split_body {
    std::vector<buffer> between;  // allocated around the statements
    std::vector<stmt> fill, rest;
  };

  /// What is left of the allocation when its buffer moves; null when it stays.
  stmt hoisted(const allocate_node& n) {
    if (n.buffer->shape.empty() || constant_size(n.buffer) < 0 || !n.buffer->strides.empty() ||
        n.buffer->elem_offset)
      return {};
    const std::optional<split_body> parts = divide(n);
    if (!parts) return {};
    fill_check check(n.buffer, known_);
    for (const stmt& s : parts->fill) check.visit(s);
    if (!check.pure) return {};
    std::vector<expr> guards;
    const auto dims = dimensions(parts->fill, check.free, guards);
    if (!dims) return {};
    std::int64_t slices = 1;
    for (const dimension& d : *dims) slices *= d.extent;
    const std::int64_t size = slices * constant_size(n.buffer) * bytes(n.buffer->type);
    if (size > budget_) return {};
    budget_ -= size;
    changed = true;
    return move(n, *parts, *dims, guards, check.has_parallel);
  }

  /// Fill and use of a buffer; nothing when they are not one after the other.
  static std::optional<split_body> divide(const allocate_node& n) {
    split_body out;
    const stmt* body = &n.body;
    for (; as_allocate(*body); body = &as_allocate(*body)->body)
      out.between.push_back(as_allocate(*body)->buffer);
    bool read = false;
    for (const stmt& s : statements(*body)) {
      const bool stores = stored_buffers(s).count(n.buffer) != 0;
      const bool loads = loaded_buffers(s).count(n.buffer) != 0;
      if (stores && read) return std::nullopt;
      (stores ? out.fill : out.rest).push_back(s);
      read = read || (loads && !stores);
    }
    if (out.fill.empty() || out.rest.empty()) return std::nullopt;
    return out;
  }

  /// The loops and digits of loops that `free` comes from, outermost first, and the conditions
  /// around the panel; nothing when the panel depends on something else.
  std::optional<std::vector<dimension>> dimensions(const std::vector<stmt>& fill, var_set free,
                                                   std::vector<expr>& guards) const {
    std::vector<dimension> out;
    for (std::size_t k = path_.size(); k-- > 0;) {
      if (as_let(path_[k])) {
        if (free.count(as_let(path_[k])->var)) return std::nullopt;
        continue;
      }
      if (const if_node* n = as_if(path_[k])) {
        if (n->else_body || reads_memory(n->condition)) return std::nullopt;
        for (const var& v : free_vars(n->condition))
          if (!free.count(v)) return std::nullopt;
        guards.push_back(n->condition);
        continue;
      }
      const loop_node& loop = *as_loop(path_[k]);
      if (free.erase(loop.var) == 0) continue;
      if (!is_int(loop.min) || !is_int(loop.extent) || as_int(loop.extent) < 1) return std::nullopt;
      std::vector<dimension> of = digits(loop, fill, guards);
      out.insert(out.begin(), of.begin(), of.end());
    }
    if (!free.empty()) return std::nullopt;
    return out;
  }

  /// A loop as dimensions: its digits where the fill uses nothing else of it and every combination
  /// of them occurs, the loop itself otherwise.
  static std::vector<dimension> digits(const loop_node& loop, const std::vector<stmt>& fill,
                                       const std::vector<expr>& guards) {
    const std::vector<dimension> whole{
        {loop.var - loop.min, loop.var, as_int(loop.extent), loop.min}};
    const std::int64_t extent = as_int(loop.extent);
    if (!is_int(loop.min, 0) || extent > most_digits_checked) return whole;
    std::vector<expr> found;
    bool plain = false;
    digit_finder finder(loop.var, found, plain);
    for (const stmt& s : fill) finder.visit(s);
    for (const expr& g : guards) finder.visit(g);
    if (plain || found.empty()) return whole;
    std::vector<dimension> out;
    std::int64_t product = 1;
    std::set<std::vector<std::int64_t>> seen;
    for (const expr& e : found) {
      std::int64_t most = 0;
      for (std::int64_t v = 0; v < extent; ++v) most = std::max(most, digit_value(e, v));
      out.push_back({e, e, most + 1, {}});
      product *= most + 1;
    }
    if (product > extent) return whole;
    // the digit that changes first goes innermost: slices lie in the order in which they are used
    support::stable_sort(out, [&](const dimension& a, const dimension& b) {
      return first_change(a.at, extent) > first_change(b.at, extent);
    });
    for (std::int64_t v = 0; v < extent; ++v) {
      std::vector<std::int64_t> tuple;
      for (const expr& e : found) tuple.push_back(digit_value(e, v));
      seen.insert(std::move(tuple));
    }
    return static_cast<std::int64_t>(seen.size()) == product ? out : whole;
  }

  /// Collects the maximal digits of a variable; `plain` when it also occurs by itself.
  class digit_finder : public visitor {
   public:
    digit_finder(const var& v, std::vector<expr>& found, bool& plain)
        : var_(v), found_(found), plain_(plain) {}
    using visitor::visit;
    void visit(const expr& e) override {
      if (e.same(var_)) plain_ = true;
      if (!is_digit(e) || !digit_of(e, var_)) return visitor::visit(e);
      for (const expr& known : found_)
        if (arith::same_value(known, e)) return;
      found_.push_back(e);
    }

   private:
    const var& var_;
    std::vector<expr>& found_;
    bool& plain_;
  };

  stmt move(const allocate_node& n, const split_body& parts, const std::vector<dimension>& dims,
            const std::vector<expr>& guards, bool has_parallel) {
    buffer_node node = *n.buffer;
    node.scope = "global";
    std::vector<expr> shape, slice, prepared_slice;
    std::vector<std::pair<expr, expr>> map;
    std::vector<var> loops;
    for (const dimension& d : dims) {
      shape.push_back(integer(n.buffer->shape[0].type(), d.extent));
      slice.push_back(d.at);
      loops.push_back(make_var("p" + std::to_string(loops.size()), d.from.type()));
      prepared_slice.push_back(loops.back());
      map.emplace_back(d.from, d.min ? loops.back() + d.min : expr(loops.back()));
    }
    node.shape.insert(node.shape.begin(), shape.begin(), shape.end());
    for (int number = 1; taken(node.name); ++number)
      node.name = n.buffer->name + "_" + std::to_string(number);
    const buffer to(new buffer_node(std::move(node)));
    digit_replacer digits_of(std::move(map));
    stmt fill = to_slice(digits_of.mutate(make_seq(parts.fill)), n.buffer, to, prepared_slice);
    for (const expr& g : guards) fill = make_if(digits_of.mutate(g), fill);
    const bool parallel = !has_parallel && support::any(path_, [](const stmt& s) {
      return as_loop(s) && as_loop(s)->loop == loop_kind::parallel;
    });
    for (std::size_t k = dims.size(); k-- > 0;)
      fill =
          make_loop(loops[k], integer(loops[k].type(), 0), integer(loops[k].type(), dims[k].extent),
                    std::move(fill), k == 0 && parallel ? loop_kind::parallel : loop_kind::serial);
    fills.push_back(std::move(fill));
    packed.push_back(to);
    known_.insert(to);
    stmt rest = to_slice(make_seq(parts.rest), n.buffer, to, slice);
    for (std::size_t k = parts.between.size(); k-- > 0;)
      rest = make_allocate(parts.between[k], std::move(rest));
    return rest;
  }

  bool taken(const std::string& name) const {
    return support::any(packed, [&](const buffer& b) { return b->name == name; });
  }

  buffer_set known_;
  std::int64_t budget_ = 0;  // bytes
  std::vector<stmt> path_;
};

}  // namespace tilewright::pass::detail::prepare

namespace tilewright::pass {

TILEWRIGHT_INLINE prepared prepare_weights(const ir::function& f) {
  prepared out{f, {}, {}};
  detail::prepare::hoister hoist(f);
  if (!hoist.useful()) return out;
  do {  // what is computed from a packed buffer may move once that has moved
    hoist.changed = false;
    out.main.body = hoist.mutate(out.main.body);
  } while (hoist.changed);
  if (hoist.fills.empty()) return out;
  out.preparation = f;
  out.preparation.name = f.name + "_weights";
  out.preparation.body = ir::make_seq(hoist.fills);
  const buffer_set used = loaded_buffers(out.main.body);
  for (const ir::buffer& b : hoist.packed) {
    if (!used.count(b)) {  // a step on the way to another one
      out.preparation.body = ir::make_allocate(b, out.preparation.body);
      continue;
    }
    out.packed.push_back(b);
    out.main.params.push_back({b, {}});
    out.preparation.params.push_back({b, {}});
  }
  return out;
}

}  // namespace tilewright::pass
