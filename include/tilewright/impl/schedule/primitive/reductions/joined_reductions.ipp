#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>
#include <tilewright/impl/schedule/primitive/reductions/own_nest.hpp>
#include <tilewright/impl/schedule/primitive/reductions/shifted_sums.hpp>
#include <tilewright/impl/schedule/primitive/reductions/tuple_value.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {
namespace detail::joining {

/// The second block's iteration variables in terms of the first one's; nothing for other domains.
inline std::optional<ir::var_map> matched_domains(const child_block& first,
                                                  const child_block& second) {
  const std::vector<ir::iter_var>&to = first.block().iters, &from = second.block().iters;
  if (to.size() != from.size()) return std::nullopt;
  ir::var_map out;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i].kind != from[i].kind || !ir::equal(to[i].dom.min, from[i].dom.min) ||
        !ir::equal(to[i].dom.extent, from[i].dom.extent))
      return std::nullopt;
    out.emplace(from[i].var, to[i].var);
  }
  return out;
}

/// A quotient of floats, or the value of a function that takes longer than some additions.
inline bool takes_long(const ir::expr& e) {
  if (!is_float(e.type())) return false;
  if (e->op == ir::op::div) return true;
  constexpr std::array<std::string_view, 8> short_ones{"abs",   "fabs", "maximum", "minimum",
                                                       "floor", "ceil", "trunc",   "likely"};
  return e->op == ir::op::call &&
         support::none(short_ones, [&](std::string_view name) { return e->name == name; });
}

/// Loads of an element that differs from iteration to iteration, and values that do and take long to compute.
inline values own_values(const ir::expr& e, const ir::block_node& block) {
  values out;
  ir::for_each_expr(e, [&](const ir::expr& x) {
    const auto used = [&](const ir::iter_var& i) {
      return ir::is_int(i.dom.extent, 1) || ir::uses_var(x, i.var);
    };
    if ((x->op == ir::op::load || takes_long(x)) && support::all(block.iters, used))
      out.push_back(x);
  });
  return out;
}

inline bool touches(const std::vector<ir::buffer_region>& list, const ir::buffer& b) {
  return support::any(list, [&](const ir::buffer_region& r) { return r.buffer == b; });
}

inline bool meet(const std::vector<ir::buffer_region>& a, const std::vector<ir::buffer_region>& b) {
  return support::any(a, [&](const ir::buffer_region& r) { return touches(b, r.buffer); });
}

/// A group of reductions in the making.
class group {
 public:
  group(const ir::function& f, std::uint64_t first) : f_(f), first_(first) {}

  std::size_t size() const { return parts_.size(); }
  bool rescales() const {
    return support::any(parts_, [](const component& p) { return p.scaled_by >= 0; });
  }

  bool shifts() const { return shifts_; }

  /// Takes another reduction into the group, whose block goes; or changes nothing.
  void take(std::uint64_t second) {
    const group before = *this;
    try {
      if (inline_between(second) && add(second)) return;
    } catch (const schedule_error&) {  // a block that cannot be inlined
    }
    *this = before;
  }

  /// With the block of the group in place of the first one.
  ir::function joined() const {
    const path at = find_block(f_, first_);
    ir::block_node block = *ir::as_realize(at.target())->block;
    block.reads.clear();
    for (const ir::buffer_region& r : reads_)
      if (!is_result(r.buffer)) block.reads.push_back(r);
    reduce_tuple(block, parts_, elements());
    return replace_block(f_, at, ir::make_block(std::move(block)));
  }

 private:
  static block_scope scope_of(const ir::function& f) { return block_scope(*ir::root_block(f)); }

  /// Blocks after the first one that compute elements for the second one give way to what they compute.
  /// @returns whether none is left between them that the second one needs
  bool inline_between(std::uint64_t second) {
    for (;;) {
      const block_scope scope = scope_of(f_);
      const std::size_t from = scope.position(first_), to = scope.position(second);
      std::optional<std::uint64_t> between;
      for (const std::size_t p : producers(scope, to))
        if (p > from && p < to) between = scope[p].block().id;
      if (!between) return true;
      if (scope[scope.position(*between)].block().init) return false;
      f_ = compute_inline(f_, *between);
    }
  }

  bool add(std::uint64_t second) {
    const block_scope scope = scope_of(f_);
    const std::size_t from = scope.position(first_), to = scope.position(second);
    if (parts_.empty()) {
      const std::optional<component> own = single_of(scope, from);
      if (!own) return false;
      parts_.push_back(*own);
      reads_ = scope[from].block().reads;
    }
    const std::optional<component> other = single_of(scope, to);
    const std::optional<ir::var_map> vars = matched_domains(scope[from], scope[to]);
    if (!other || !vars || !may_move(scope, from, to)) return false;
    component p = *other;
    p.at = ir::substitute(p.at, *vars);
    p.element = ir::substitute(p.element, *vars);
    if (!same_list(p.at, parts_[0].at) || !same_list(p.to->shape, parts_[0].to->shape))
      return false;
    if (!shares_value(scope[from].block(), p.element)) return false;
    for (const ir::buffer_region& r : scope[to].block().reads) add_read(ir::substitute(r, *vars));
    if (place(p)) {
      parts_.push_back(std::move(p));
      f_ = replace(f_, find_block(f_, second), ir::stmt{});
      return true;
    }
    return add_shifted(p, scope[from].block(), second);
  }

  /// Takes two sums of differences to a first element in the place of a sum `p` of squared differences to an earlier
  /// result (shifted_sums.hpp), which a block in the place of `second` makes of them.
  bool add_shifted(const component& p, const ir::block_node& first, std::uint64_t second) {
    if (p.plain.name != "sum" || !is_float(p.to->type)) return false;
    ir::var_set moving;
    ir::var_map first_terms;
    double terms = 1;
    std::vector<ir::iter_var> still;
    for (const ir::iter_var& i : first.iters) {
      if (i.kind != ir::iter_kind::reduce) {
        still.push_back(i);
        continue;
      }
      if (!ir::is_int(i.dom.extent)) return false;
      terms *= static_cast<double>(i.dom.extent->integer);
      moving.insert(i.var);
      first_terms.emplace(i.var, i.dom.min);
    }
    const std::optional<ir::expr> result = common_result(p.element, results(), moving);
    const std::optional<difference> of =
        result ? squared_difference(*result, p.element) : std::nullopt;
    if (!of) return false;
    const dtype type = p.to->type;
    const auto named = [&](const char* end) {
      return ir::make_buffer(p.to->name + end, type, p.to->shape);
    };
    component differences = p, squares = p;
    const ir::buffer shift = named("_first");
    const ir::expr known = ir::load(shift, p.at), apart = of->x - known;
    differences.to = named("_differences");
    differences.element = apart;
    squares.to = named("_squares");
    squares.element = apart * apart;
    const ir::expr from = *result - known,
                   total = ir::load(squares.to, p.at) +
                           from * (from * ir::real(type, terms) -
                                   ir::real(type, 2) * ir::load(differences.to, p.at));
    add_read({shift, ir::point_box(p.at)});
    const std::string name = ir::as_realize(find_block(f_, second).target())->block->name;
    f_ = put_nests(
        f_, second,
        {elementwise(name, still, p.to, p.at, total * ir::real(type, of->scale * of->scale))});
    f_ = put_nests(f_, first_,
                   {elementwise(fresh_block_name(f_, shift->name), still, shift, p.at,
                                ir::substitute(of->x, first_terms))},
                   true);
    f_ = change_buffers(f_, {shift, differences.to, squares.to}, {});
    parts_.push_back(std::move(differences));
    parts_.push_back(std::move(squares));
    shifts_ = true;
    return true;
  }

  /// A nest that stores a value at each point of these variables.
  static ir::stmt elementwise(std::string name, const std::vector<ir::iter_var>& iters,
                              const ir::buffer& to, const values& at, const ir::expr& value) {
    ir::block_node out;
    out.name = std::move(name);
    ir::var_map renamed;
    for (ir::iter_var i : iters) {
      const ir::var v = ir::make_var(i.var->name, i.var.type());
      renamed.emplace(i.var, v);
      i.var = v;
      out.iters.push_back(std::move(i));
    }
    const values places = ir::substitute(at, renamed);
    const ir::expr stored = ir::substitute(value, renamed);
    out.reads = loaded_elements({stored});
    out.writes.push_back({to, ir::point_box(places)});
    out.body = ir::make_store(to, places, stored);
    return nest_of(std::move(out));
  }

  /// Nothing between the two uses what the second one writes, or writes what it reads.
  static bool may_move(const block_scope& scope, std::size_t from, std::size_t to) {
    const ir::block_node& moved = scope[to].block();
    for (std::size_t b = from + 1; b < to; ++b) {
      const ir::block_node& other = scope[b].block();
      if (meet(other.writes, moved.reads) || meet(other.writes, moved.writes) ||
          meet(other.reads, moved.writes))
        return false;
    }
    // the first one goes on while the second one has begun
    return !meet(scope[from].block().reads, moved.writes);
  }

  bool is_result(const ir::buffer& b) const {
    return support::any(parts_, [&](const component& p) { return p.to == b; });
  }

  /// Whether a reduction of the group has a value that `element` has, too.
  bool shares_value(const ir::block_node& first, const ir::expr& element) const {
    for (const ir::expr& a : own_values(element, first))
      for (const component& p : parts_)
        for (const ir::expr& b : own_values(p.element, first))
          if (ir::equal(a, b)) return true;
    return false;
  }

  /// Finds out how another value depends on those of the group.
  /// @returns whether it may be computed along with them as it is
  bool place(component& p) {
    std::vector<std::size_t> used;
    for (std::size_t c = 0; c < parts_.size(); ++c)
      if (ir::loads_from(p.element, parts_[c].to)) used.push_back(c);
    if (used.empty()) return true;
    if (used.size() > 1) return false;
    component& first = parts_[used[0]];
    return scale_by(p, first, used[0], ir::load(first.to, first.at), first.element);
  }

  std::vector<ir::buffer> results() const {
    std::vector<ir::buffer> out;
    for (const component& p : parts_) out.push_back(p.to);
    return out;
  }
  values elements() const {
    values out;
    for (const component& p : parts_) out.push_back(p.element);
    return out;
  }

  void add_read(ir::buffer_region r) {
    const auto same = [&](const ir::buffer_region& old) {
      if (old.buffer != r.buffer || old.box.size() != r.box.size()) return false;
      for (std::size_t d = 0; d < r.box.size(); ++d)
        if (!ir::equal(old.box[d].min, r.box[d].min) ||
            !ir::equal(old.box[d].extent, r.box[d].extent))
          return false;
      return true;
    };
    if (support::none(reads_, same)) reads_.push_back(std::move(r));
  }

  ir::function f_;
  std::uint64_t first_;
  std::vector<component> parts_;
  std::vector<ir::buffer_region> reads_;
  bool shifts_ = false;
};

inline std::vector<std::uint64_t> reductions_of(const ir::function& f) {
  const block_scope scope(*ir::root_block(f));
  std::vector<std::uint64_t> out;
  if (!scope.schedulable()) return out;
  for (std::size_t c = 0; c < scope.size(); ++c)
    if (single_of(scope, c)) out.push_back(scope[c].block().id);
  return out;
}

/// Joins others into one of them. @returns nothing when none can be
inline std::optional<joined_reductions> joined_once(const ir::function& f) {
  const std::vector<std::uint64_t> all = reductions_of(f);
  for (std::size_t first = 0; first < all.size(); ++first) {
    group g(f, all[first]);
    for (std::size_t other = first + 1; other < all.size(); ++other) g.take(all[other]);
    if (g.size() > 1) return joined_reductions{g.joined(), g.rescales(), g.shifts()};
  }
  return std::nullopt;
}

}  // namespace detail::joining

TILEWRIGHT_INLINE std::optional<joined_reductions> join_reductions(const ir::function& f) {
  std::optional<joined_reductions> out = detail::joining::joined_once(f);
  // a group has an annotation, and is none of what is looked for
  while (out) {
    std::optional<joined_reductions> more = detail::joining::joined_once(out->function);
    if (!more) break;
    more->rescales = more->rescales || out->rescales;
    more->shifts = more->shifts || out->shifts;
    out = std::move(more);
  }
  return out;
}

}  // namespace tilewright::primitive
