#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/hoist_statements.hpp>
#include <tilewright/pass/vector/vectorize_unmarked.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {
namespace detail::unmarked {

using namespace tilewright::ir;

/// Whether somebody has decided what the lanes, or the threads, of what is below the loop are.
inline bool is_decided(const loop_node& l) {
  return l.loop == loop_kind::vectorized || l.loop == loop_kind::thread_binding;
}

/// Loops whose iterations become lanes: one, and others outside of it that step over what it covers.
struct lane_loops {
  std::size_t at;                  // position of the outermost one in the nest, where lanes begin
  std::vector<std::size_t> which;  // positions, innermost first
  std::int64_t extent;             // of all together
  std::int64_t width = 0;          // of one step: lanes
};

/// Loops around one block and nothing else, outermost first; at most the innermost one is vectorized.
class nest {
 public:
  /// What stands below `s`, when that is a nest.
  static std::optional<nest> below(const stmt& s, const target::cpu& target) {
    nest out(target);
    const stmt* at = &s;
    for (const loop_node* l; (l = as_loop(*at)) != nullptr; at = &l->body) {
      if (is_decided(*l) && !(l->loop == loop_kind::vectorized && as_realize(l->body)))
        return std::nullopt;
      out.loops_.push_back(l);
    }
    out.block_ = *at;
    out.realize_ = as_realize(*at);
    if (!out.realize_ || out.loops_.empty()) return std::nullopt;
    return out;
  }

  /// The nest with lanes, where there are any and nobody has given it whole vectors.
  std::optional<stmt> vectorized() const {
    const placed_block block(*realize_);
    if (!block.stores_one()) return std::nullopt;
    const std::size_t last = loops_.size() - 1;
    if (loops_[last]->loop == loop_kind::vectorized && !is_unit(*loops_[last])) {
      const std::int64_t marked = constant_extent(*loops_[last]);
      if (marked == 0 || marked >= lanes()) return std::nullopt;
      lane_loops wide = widened(last);
      return wide.extent > marked && fits(wide) ? std::optional(with_lanes(wide)) : std::nullopt;
    }
    std::optional<lane_loops> narrow;
    for (std::size_t p = loops_.size(); p-- > 0;) {
      if (!is_free(*loops_[p])) continue;
      lane_loops one = widened(p);
      if (one.extent < std::min(lanes(), narrowest()) || !fits(one)) continue;
      if (one.width >= lanes()) return with_lanes(one);
      if (!narrow || one.width > narrow->width) narrow = std::move(one);
    }
    return narrow ? std::optional(with_lanes(*narrow)) : std::nullopt;
  }

 private:
  explicit nest(const target::cpu& target) : target_(target) {}

  static constexpr std::int64_t most_vectors = 4;
  dtype type() const { return as_store(realize_->block->body)->buffer->type; }
  std::int64_t lanes() const { return target_.lanes(type()); }
  /// Lanes that are worth it where there are not more: those of 16 bytes.
  std::int64_t narrowest() const { return 16 / bytes(type()); }

  static bool is_free(const loop_node& l) {
    return l.loop == loop_kind::serial && is_int(l.min, 0) && constant_extent(l) > 1 &&
           l.annotations.count(scattered_note) == 0;
  }

  /// What stands for loop variables where `which` are one loop of the first one's variable.
  var_map joined(const std::vector<std::size_t>& which) const {
    var_map out;
    for (const loop_node* l : loops_)
      if (is_unit(*l)) out[l->var] = l->min;
    for (std::size_t k = 1; k < which.size(); ++k) {
      const var& v = loops_[which[k]]->var;
      out[v] = integer(v.type(), 0);
    }
    return out;
  }

  /// The loop at `p`, with loops outside of it while there are fewer lanes than a vector has.
  lane_loops widened(std::size_t p) const {
    lane_loops out{p, {p}, constant_extent(*loops_[p])};
    const var& v = loops_[p]->var;
    for (std::size_t q = p; q-- > 0 && out.extent < lanes();) {
      const loop_node& outer = *loops_[q];
      if (!is_free(outer) || outer.var.type() != v.type() ||
          uses_var(realize_->predicate, outer.var) || uses_var(realize_->predicate, v) ||
          !placed_block(*realize_, joined(out.which)).steps_over(outer.var, v, out.extent))
        continue;
      out.at = q;
      out.which.push_back(q);
      out.extent *= constant_extent(outer);
    }
    return out;
  }

  bool is_one_of(std::size_t p, const lane_loops& l) const {
    return support::any(l.which, [&](std::size_t other) { return other == p; });
  }

  /// Whether the iterations can be lanes, with the other loops inside going around them; then, how many.
  bool fits(lane_loops& l) const {
    const placed_block block(*realize_, joined(l.which));
    const var& v = loops_[l.which[0]]->var;
    if (!block.writes_along(v)) return false;
    std::vector<var> inside;
    for (std::size_t p = l.at + 1; p < loops_.size(); ++p) {
      for (const std::size_t lane : l.which)
        if (uses_var(loops_[p]->min, loops_[lane]->var) ||
            uses_var(loops_[p]->extent, loops_[lane]->var))
          return false;
      if (!is_one_of(p, l) && !is_unit(*loops_[p])) inside.push_back(loops_[p]->var);
    }
    // beyond its end, a guard that loads has nothing to load
    if (l.extent > lanes() && l.extent % lanes() != 0 && reads_memory(realize_->predicate))
      return false;
    if (!inside.empty() && !block.writes_apart(v, l.extent, inside)) return false;
    l.width = std::min(l.extent, lanes());
    while (l.width >= lanes() && 2 * l.width <= vectors(l) * lanes() &&
           l.extent % (2 * l.width) == 0)
      l.width *= 2;
    // fewer lanes may stay within a group whose number is a quotient
    while (!follows(l)) {
      if (l.width % 2 != 0 || l.width / 2 < std::min(lanes(), narrowest())) return false;
      l.width /= 2;
    }
    return true;
  }

  /// Whether what is loaded for the lanes of one step lies evenly.
  bool follows(const lane_loops& l) const {
    const var& v = loops_[l.which[0]]->var;
    const var step = make_var("step", v.type()), lane = make_var("lane", v.type());
    arith::loop_domains domains;
    for (const loop_node* x : loops_) domains.emplace_back(x->var, range{x->min, x->extent});
    const auto number = [&](std::int64_t n) { return integer(v.type(), n); };
    domains.emplace_back(step, range{number(0), number((l.extent + l.width - 1) / l.width)});
    domains.emplace_back(lane, range{number(0), number(l.width)});
    var_map map = joined(l.which);
    map[v] = step * number(l.width) + lane;
    return placed_block(*realize_, map, domains).obstacle(lane, most_step()).empty();
  }

  /// Elements from lane to lane that are worth shuffles: fewer where a reduction reads neighbouring ones.
  std::int64_t most_step() const {
    const placed_block block(*realize_);
    const bool sums = support::any(loops_, [&](const loop_node* l) {
      return constant_extent(*l) >= lanes() && block.drives(l->var, iter_kind::reduce) &&
             block.obstacle(l->var, 1).empty();
    });
    return sums ? target::cheap_lane_step : target::most_lane_step;
  }

  /// Vectors of one step, so that what is added up stays in registers with the rows that go around it.
  std::int64_t vectors(const lane_loops& l) const {
    const placed_block block(*realize_);
    std::int64_t rows = 1;
    bool sums = false;
    for (std::size_t p = l.at + 1; p < loops_.size(); ++p) {
      if (is_one_of(p, l) || is_unit(*loops_[p])) continue;
      if (block.drives(loops_[p]->var, iter_kind::reduce))
        sums = true;
      else if (sums)
        rows *= std::max<std::int64_t>(constant_extent(*loops_[p]), 1);
    }
    return std::clamp<std::int64_t>(target_.vector_registers * 3 / 4 / rows, 1, most_vectors);
  }

  /// Lanes take the place of the innermost of the loops, steps of whole vectors that of the outermost.
  stmt with_lanes(const lane_loops& l) const {
    const std::int64_t width = l.width;
    const loop_node &first = *loops_[l.which[0]], &place = *loops_[l.at];
    const dtype index = first.var.type();
    const var step = make_var(place.var->name + "_0", index),
              lane = make_var(first.var->name + "_1", index);
    const expr at = step * integer(index, width) + lane;
    var_map map = joined(l.which);
    map[first.var] = at;
    stmt body = substitute(block_, map);
    if (l.extent % width != 0) body = guarded(body, lt(at, integer(index, l.extent)));
    for (std::size_t p = loops_.size(); p-- > 0;) {
      if (!is_one_of(p, l)) body = with_body(*loops_[p], std::move(body));
      if (p == l.which[0])
        body = make_loop(lane, integer(index, 0), integer(index, width), std::move(body),
                         loop_kind::vectorized);
      if (p == l.at)
        body = make_loop(step, integer(index, 0), integer(index, (l.extent + width - 1) / width),
                         std::move(body), loop_kind::serial, place.annotations);
    }
    return body;
  }

  /// The block with a condition more in its guard.
  static stmt guarded(const stmt& block, const expr& condition) {
    const block_realize_node& r = *as_realize(block);
    return make_realize(
        r.values, is_true(r.predicate) ? condition : logical_and(r.predicate, condition), r.block);
  }

  std::vector<const loop_node*> loops_;
  stmt block_;
  const block_realize_node* realize_ = nullptr;  // the same
  const target::cpu& target_;
};

class vectorizer : public mutator {
 public:
  explicit vectorizer(const target::cpu& target) : target_(target) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* l = as_loop(s);
    if (!l) return mutator::mutate(s);
    if (const auto n = nest::below(s, target_)) return n->vectorized().value_or(s);
    return is_decided(*l) ? s : mutator::mutate(s);
  }

 private:
  const target::cpu& target_;
};

/// Finds what no loop vectorizes.
class scalars : public visitor {
 public:
  using visitor::visit;
  void visit(const stmt& s) override {
    if (const loop_node* l = as_loop(s)) {
      loops_.push_back(l);
      visit(l->body);
      loops_.pop_back();
    } else if (const block_realize_node* realize = as_realize(s)) {
      look(*realize);
      visitor::visit(s);
    } else {
      visitor::visit(s);
    }
  }
  std::vector<std::string> found;

 private:
  void look(const block_realize_node& realize) {
    constexpr double often = 4096;
    double runs = 1;
    for (const loop_node* l : loops_) {
      if (l->loop == loop_kind::vectorized) return;
      runs *= static_cast<double>(std::max<std::int64_t>(constant_extent(*l), 1));
    }
    const placed_block b(realize);
    if (runs < often || !as_store(realize.block->body)) return;
    const std::string why = reason(b);
    if (!why.empty())
      found.push_back("block " + realize.block->name + " is not vectorized: " + why);
  }

  std::string reason(const placed_block& b) const {
    if (!b.stores()) return "it does more than to store one element";
    for (const loop_node* l : loops_)
      if (b.drives(l->var, iter_kind::reduce) && b.obstacle(l->var).empty()) return {};
    std::string why = "no loop moves along neighbouring elements of " + b.store().buffer->name;
    for (const loop_node* l : loops_) {
      if (!b.writes_along(l->var)) continue;
      const std::string obstacle = b.obstacle(l->var);
      why = obstacle.empty()
                ? "loop " + l->var->name + " is shorter than a vector, or was left as it is"
                : obstacle;
    }
    return why;
  }

  std::vector<const loop_node*> loops_;
};

}  // namespace detail::unmarked

TILEWRIGHT_INLINE ir::function vectorize_unmarked(const ir::function& f,
                                                  const target::cpu& target) {
  ir::function out = f;
  out.body = detail::unmarked::vectorizer(target).mutate(f.body);
  return out;
}

TILEWRIGHT_INLINE std::vector<std::string> scalar_blocks(const ir::function& f,
                                                         const target::cpu& target) {
  detail::unmarked::scalars out;
  out.visit(vectorize_unmarked(hoist_statements(f), target).body);
  return std::move(out.found);
}

}  // namespace tilewright::pass
