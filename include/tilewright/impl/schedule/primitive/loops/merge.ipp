#pragma once

#include <algorithm>
#include <string>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/loop_rebinding.hpp>
#include <tilewright/ir/substitution.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/loops/merge.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive {
namespace detail::merging {

inline constexpr refusal refuse{"merge"};

/// The loops of one nest from its head to the loop that was given.
using nest = loop_nest;

/// Number of leading slots that all paths share; the last of them is the list of statements.
inline std::size_t common_slots(const std::vector<path>& paths) {
  std::size_t out = paths[0].slots.size();
  for (const path& p : paths) {
    std::size_t same = 0;
    while (same < std::min(out, p.slots.size()) && p.slots[same] == paths[0].slots[same]) ++same;
    out = same;
  }
  return out;
}

inline nest nest_below(const path& at, std::size_t first) {
  nest out;
  for (std::size_t i = first; i < at.slots.size(); ++i) {
    const ir::loop_node* loop = ir::as_loop(*at.slots[i]);
    if (!loop && ir::as_realize(*at.slots[i])) refuse(1, "the loops are of different scopes");
    if (!loop && out.empty())
      refuse(3, {"an if or let stands around loop \"", ir::as_loop(at.target())->var->name, "\""});
    if (!loop) refuse(3, {quoted(*out.back()), " holds more than one statement"});
    out.push_back(loop);
  }
  return out;
}

inline std::vector<nest> nests_of(const ir::function& f, const std::vector<ir::var>& loops,
                                  path& list) {
  if (loops.size() < 2) refuse(1, "at least two loops are needed");
  std::vector<path> paths;
  for (const ir::var& l : loops) paths.push_back(need_loop(f, l, "merge"));
  const std::size_t common = common_slots(paths);
  if (!ir::as_seq(*paths[0].slots[common - 1]))
    refuse(1, "the loops are not of different nests side by side");
  std::vector<nest> out;
  for (const path& p : paths) {
    if (p.slots.size() == common) refuse(1, "a loop holds another one");
    for (const path& q : paths)
      if (&q != &p && q.slots.size() > common && q.slots[common] == p.slots[common])
        refuse(1, "two of the loops belong to one nest");
    out.push_back(nest_below(p, common));
  }
  list = paths[0];
  list.slots.resize(common);
  return out;
}

inline void check_nests(const std::vector<nest>& nests) {
  for (const nest& n : nests) {
    if (n.size() != nests[0].size())
      refuse(2, {quoted(*n.back()), " lies deeper in its nest than ", quoted(*nests[0].back()),
                 ", or less deep"});
    for (std::size_t level = 0; level < n.size(); ++level) {
      if (n[level]->loop == ir::loop_kind::thread_binding || !n[level]->annotations.empty() ||
          !ir::is_int(n[level]->min, 0))
        refuse(4, {quoted(*n[level]), " is annotated or bound to threads, or does not start at 0"});
      if (!arith::same_value(n[level]->extent, nests[0][level]->extent))
        refuse(5, {"the extents of loops \"", nests[0][level]->var->name, "\" and \"",
                   n[level]->var->name, "\" differ"});
    }
  }
}

/// What a block below a nest touches of a buffer while the merged loops stand still.
struct access {
  const ir::buffer* buffer;
  bool write;
  arith::box box;
};

inline std::vector<access> accesses_of(const child_block& child, const nest& n,
                                       const ir::var_map& merged) {
  const auto below = std::find(child.loops.begin(), child.loops.end(), n.back());
  arith::loop_domains inner;
  for (auto l = below + 1; l != child.loops.end(); ++l)
    inner.emplace_back((*l)->var, ir::substitute(domain_of(**l), merged));
  const ir::var_map values = ir::bindings(*child.realize);
  std::vector<access> out;
  for (const bool write : {false, true})
    for (const ir::buffer_region& r : write ? child.block().writes : child.block().reads) {
      const arith::box box = ir::substitute(ir::substitute(r.box, values), merged);
      out.push_back({&r.buffer, write, arith::relax(box, inner, arith::analyzer{})});
    }
  return out;
}

/// Iterations of the merged nest: of the block that came first and, before it, of the other one.
class order_check {
 public:
  order_check(const block_scope& scope, const std::vector<nest>& nests) : scope_(scope) {
    for (const ir::loop_node* l : nests[0]) {
      const dtype type = l->var.type();
      now_.push_back(ir::make_var(l->var->name, type));
      extents_.push_back(l->extent);
    }
    for (const child_block& c : scope.children()) outside_.bind(domains(c.loops));
  }

  /// `first` runs before `second` today; `keeps` says whether its body also comes first.
  void check(std::size_t first, const nest& of_first, std::size_t second, const nest& of_second,
             bool keeps) const {
    for (std::size_t level = 0; level < now_.size(); ++level) {
      if (ir::is_int(extents_[level], 1)) continue;
      arith::analyzer known = outside_;
      ir::var_map earlier;
      for (std::size_t l = 0; l < now_.size(); ++l) {
        const dtype type = now_[l].type();
        known.bind(now_[l], {ir::integer(type, 0), extents_[l]});
        if (l < level) earlier.emplace(of_second[l]->var, now_[l]);
        if (l == level) {
          const ir::var back = ir::make_var("back", type);
          known.bind(back, {ir::integer(type, 1), extents_[l] - ir::integer(type, 1)});
          earlier.emplace(of_second[l]->var, now_[l] - back);
        }
        if (l > level) {
          const ir::var any = ir::make_var("any", type);
          known.bind(any, {ir::integer(type, 0), extents_[l]});
          earlier.emplace(of_second[l]->var, any);
        }
      }
      check_apart(first, of_first, second, of_second, earlier, known);
    }
    if (keeps) return;
    arith::analyzer known = outside_;
    ir::var_map same;
    for (std::size_t l = 0; l < now_.size(); ++l) {
      known.bind(now_[l], {ir::integer(now_[l].type(), 0), extents_[l]});
      same.emplace(of_second[l]->var, now_[l]);
    }
    check_apart(first, of_first, second, of_second, same, known);
  }

 private:
  void check_apart(std::size_t first, const nest& of_first, std::size_t second,
                   const nest& of_second, const ir::var_map& when,
                   const arith::analyzer& known) const {
    ir::var_map now;
    for (std::size_t l = 0; l < now_.size(); ++l) now.emplace(of_first[l]->var, now_[l]);
    const auto of_a = accesses_of(scope_[first], of_first, now);
    const auto of_b = accesses_of(scope_[second], of_second, when);
    for (const access& a : of_a)
      for (const access& b : of_b)
        if (*a.buffer == *b.buffer && (a.write || b.write) && !arith::disjoint(a.box, b.box, known))
          refuse(6,
                 {quoted(scope_[second].block()), " would touch elements of \"", (*a.buffer)->name,
                  "\" before ", quoted(scope_[first].block()), " does, which comes first today"});
  }

  const block_scope& scope_;
  std::vector<ir::var> now_;
  std::vector<ir::expr> extents_;
  arith::analyzer outside_;
};

/// The position of the nest that holds the child; the number of nests when none does.
inline std::size_t nest_of(const child_block& child, const std::vector<nest>& nests) {
  const auto found =
      support::find(nests, [&](const nest& n) { return support::contains(child.loops, n.back()); });
  return static_cast<std::size_t>(found - nests.begin());
}

inline void check_order(const path& list, const std::vector<nest>& nests) {
  const block_scope scope(*list.scope()->block);
  if (!scope.schedulable()) refuse(6, "the scope holds statements outside of blocks");
  const order_check order(scope, nests);
  for (std::size_t i = 0; i < scope.size(); ++i)
    for (std::size_t j = i + 1; j < scope.size(); ++j) {
      const std::size_t a = nest_of(scope[i], nests), b = nest_of(scope[j], nests);
      if (a < nests.size() && b < nests.size() && a != b)
        order.check(i, nests[a], j, nests[b], a < b);
    }
  // What stands between the nests: those before the last one move behind it.
  const ir::seq_node& statements = *ir::as_seq(list.target());
  std::size_t last = 0;
  for (std::size_t s = 0; s < statements.stmts.size(); ++s)
    for (const nest& n : nests)
      if (ir::as_loop(statements.stmts[s]) == n.front()) last = s;
  for (std::size_t i = 0; i < scope.size(); ++i)
    for (const dependence_edge& d : dependences(scope)) {
      if (d.source != i || nest_of(scope[i], nests) == nests.size() ||
          nest_of(scope[d.target], nests) < nests.size())
        continue;
      for (std::size_t s = 0; s < last; ++s)
        if (holds_block(statements.stmts[s], scope[d.target].block().id))
          refuse(6, {quoted(scope[d.target].block()), ", which stands between the ",
                     "nests, needs what ", quoted(scope[i].block()), " does before it"});
    }
}

/// What an iteration of the merged nest reads it must have written itself: buffers live as long as
/// the iteration in which they are written and read.
inline void check_covered(const ir::function& before, const ir::function& after,
                          std::uint64_t holder) {
  const auto holder_of = [&](const ir::function& f) {
    return ir::as_realize(find_block(f, holder).target())->block;
  };
  const ir::block old_block = holder_of(before), merged = holder_of(after);
  const block_scope old_scope(*old_block), scope(*merged);
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const int was = old_scope.find(scope[i].block().id);
    if (!region_covered(scope, i) &&
        (was < 0 || region_covered(old_scope, static_cast<std::size_t>(was))))
      refuse(6, {quoted(scope[i].block()), " would read what earlier iterations have written"});
  }
}

}  // namespace detail::merging

TILEWRIGHT_INLINE new_loop merge(const ir::function& f, const std::vector<ir::var>& loops) {
  using namespace detail::merging;
  path list;
  const std::vector<nest> nests = nests_of(f, loops, list);
  check_nests(nests);
  check_order(list, nests);

  std::vector<ir::var> merged;
  for (const ir::loop_node* l : nests[0])
    merged.push_back(ir::make_var(l->var->name + "_m", l->var.type()));
  std::vector<ir::stmt> bodies;
  for (const nest& n : nests) {
    ir::var_map values;
    for (std::size_t level = 0; level < n.size(); ++level)
      values.emplace(n[level]->var, ir::cast(n[level]->var.type(), merged[level]));
    bodies.push_back(ir::substitute(n.back()->body, values));
  }
  ir::stmt body = ir::make_seq(std::move(bodies));
  for (std::size_t level = merged.size(); level-- > 0;)
    body = ir::make_loop(merged[level], nests[0][level]->min, nests[0][level]->extent,
                         std::move(body));

  const auto is_head = [&](const ir::stmt& s) {
    return support::any(nests, [&](const nest& n) { return ir::as_loop(s) == n.front(); });
  };
  std::vector<ir::stmt> statements = ir::as_seq(list.target())->stmts;
  const auto last = std::find_if(statements.rbegin(), statements.rend(), is_head);
  *last = std::move(body);
  statements.erase(std::remove_if(statements.begin(), statements.end(), is_head), statements.end());
  const new_loop out{replace(f, list, ir::make_seq(std::move(statements))), merged.back()};
  check_covered(f, out.function, list.scope()->block->id);
  return out;
}

}  // namespace tilewright::primitive
