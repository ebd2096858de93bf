// Several results at a time, each of which is a sum along contiguous memory (vectorize_reductions.hpp).
//
// A sum in a vector takes log2(lanes) steps to add up, each of which leaves half of the lanes idle. Two vectors
// become one in a step that takes as long: the pieces at even places of both are added to those at odd places.
// So n vectors of `lanes` partial results are n results after log2(lanes) steps of all of them together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/masked_tails.hpp>
#include <tilewright/impl/pass/vector/joined_indices.hpp>
#include <tilewright/impl/pass/vector/reduction_nest.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/pass/vector/vectorize_reductions.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::pass::detail::reductions {

/// Vectors are shuffled within pieces of so many bytes in one instruction by all machines.
inline constexpr std::int64_t shuffled_bytes = 16;

/// A loop over results, each of which is a sum of its own.
struct loop_of_sums {
  const loop_node* results;
  const store_node* init;  // null: what is there is added to
  reduction sum;
  const loop_node* next =
      nullptr;  // computes one element more of each result; null: there is no such loop behind
};

/// Whether iterations of the loop have each their own element.
inline bool is_one_each(const std::vector<expr>& indices, const var& v) {
  const std::vector<expr> at = joined_indices(indices);
  const auto moves = [&](const expr& e) { return uses_var(e, v); };
  const auto first = support::find(at, moves);
  if (first == at.end() || std::find_if(first + 1, at.end(), moves) != at.end()) return false;
  const arith::linear sum = arith::to_linear(*first);
  return sum.coefficient(v) != 0 && support::all(sum.terms, [&](const auto& term) {
           return term.first.same(v) || !uses_var(term.first, v);
         });
}

/// Whether the sum asks for one term after the other.
inline bool keeps_order(const loop_node& l) {
  const auto lanes = l.annotations.find(reduction_lanes_note);
  return lanes != l.annotations.end() && (lanes->second == attr(0) || lanes->second == attr(1));
}

/// A loop whose body is a sum, perhaps behind the store that it begins with, of elements that lie side by side.
inline std::optional<loop_of_sums> match_sums(const loop_node& loop) {
  if (loop.loop != loop_kind::serial || is_reduction(loop)) return std::nullopt;
  const seq_node* two = as_seq(loop.body);
  if (two && two->stmts.size() != 2) return std::nullopt;
  const store_node* init = two ? as_store(two->stmts[0]) : nullptr;
  const loop_node* inner = as_loop(two ? two->stmts[1] : loop.body);
  if ((two && !init) || !inner) return std::nullopt;
  std::optional<reduction> sum = match(*inner);
  if (!sum || sum->step.to.size() != 1 || sum->step.combine == op::call) return std::nullopt;
  const accumulation& step = sum->step;
  const var& along = sum->chain.back()->var;
  if (!support::all(sum->chain, [&](const loop_node* l) {
        return is_int(l->min) && is_int(l->extent) && !keeps_order(*l);
      }))
    return std::nullopt;
  if (!is_one_each(step.at[0], loop.var) || !lies_along(step.value[0], along) ||
      !loads_along(step.value[0], along))
    return std::nullopt;
  const buffer_set stored = stored_buffers(loop.body);
  if (stored.size() != 1) return std::nullopt;
  bool settled = true;  // no index of a result, and no bound of the loop, is stored meanwhile
  for (const expr& e : step.at[0]) settled = settled && !loads_from(e, step.to[0]);
  settled = settled && !loads_from(loop.extent, step.to[0]) && !loads_from(loop.min, step.to[0]);
  if (init)
    settled = settled && init->buffer == step.to[0] && same_indices(init->indices, step.at[0]) &&
              !loads_from(init->value, step.to[0]);
  if (!settled) return std::nullopt;
  return loop_of_sums{&loop, init, std::move(*sum)};
}

/// Whether `next`, which follows the loop of sums, may be computed with it: as many elements, of which each needs no
/// other result than that of its own iteration, and nothing else that the two store.
inline bool is_computed_with(const loop_of_sums& sums, const loop_node& next) {
  const loop_node& loop = *sums.results;
  const accumulation& step = sums.sum.step;
  const store_node* store = as_store(next.body);
  if (!store || next.loop != loop_kind::serial || is_reduction(next) ||
      next.var.type() != loop.var.type() || !equal(next.min, loop.min) ||
      !equal(next.extent, loop.extent))
    return false;
  const buffer& result = step.to[0];
  if (store->buffer == result || !is_one_each(store->indices, next.var)) return false;
  std::vector<expr> own;
  for (const expr& e : step.at[0]) own.push_back(substitute(e, {{loop.var, next.var}}));
  bool apart = !loads_from(loop.extent, store->buffer) && !loads_from(loop.min, store->buffer) &&
               !loads_from(loop.body, store->buffer);
  for_each_expr(next.body, [&](const expr& e) {
    if (e->op != op::load) return;
    apart = apart && e->buffer != store->buffer;
    if (e->buffer == result) apart = apart && same_indices(e->args, own);
  });
  return apart;
}

/// The code of some sums of a loop.
class together {
 public:
  /// @param count of results, a power of two
  together(const loop_of_sums& of, std::int64_t count, std::int64_t lanes, bool masks)
      : of_(of), count_(count), lanes_(lanes), masks_(masks), index_(of.results->var.type()) {}

  /// The results from number `first` of the loop on.
  stmt group(const expr& first) const {
    const buffer part = local("_part", count_ * lanes_);
    std::vector<stmt> all{each_vector(count_, lanes_, [&](const expr& at, const var&, const var&) {
      return make_store(part, {at}, step().identity()[0]);
    })};
    std::vector<stmt> sums;
    add_values(part, first, sums);
    all.push_back(in_outer_loops(make_seq(std::move(sums))));
    std::vector<buffer> own{part};
    const buffer total = add_up(own, all);
    all.push_back(store_results(total, first));
    if (of_.next) all.push_back(store_next(first));
    stmt out = make_seq(std::move(all));
    for (const buffer& b : own) out = make_allocate(b, std::move(out));
    return out;
  }

 private:
  static expr lane_number(std::int64_t n) { return integer(dtype::i32, n); }
  const accumulation& step() const { return of_.sum.step; }
  buffer local(const char* suffix, std::int64_t elements) const {
    return make_buffer(step().to[0]->name + suffix, step().to[0]->type, {lane_number(elements)},
                       "local");
  }

  /// Statements of all lanes of `vectors` vectors, which are told the element, the vector and the lane.
  static stmt each_vector(
      std::int64_t vectors, std::int64_t lanes,
      support::function_ref<stmt(const expr& at, const var& u, const var& l)> body) {
    const var u = make_var("u"), l = make_var("l");
    return make_loop(u, 0, lane_number(vectors),
                     make_loop(l, 0, lane_number(lanes), body(u * lane_number(lanes) + l, u, l),
                               loop_kind::vectorized),
                     loop_kind::unrolled);
  }

  /// The values of the `u`-th result of a group at `k`, added to what `at` holds.
  stmt update(const buffer& part, const expr& at, const expr& u, const expr& k, const expr& first,
              const expr& wanted = {}) const {
    const loop_node& loop = *of_.results;
    const expr value = substitute(
        step().value[0], {{loop.var, loop.min + first + cast(index_, u)}, {inner().var, k}});
    const expr old = load(part, {at});
    expr sum = step().combined({old}, {value})[0];
    if (wanted) sum = if_then_else(wanted, sum, old);
    return make_store(part, {at}, std::move(sum));
  }
  const loop_node& inner() const { return *of_.sum.chain.back(); }

  /// The loops of the sum that go around the one along contiguous memory.
  stmt in_outer_loops(stmt body) const {
    const std::vector<const loop_node*>& chain = of_.sum.chain;
    for (std::size_t d = chain.size() - 1; d-- > 0;) body = with_body(*chain[d], std::move(body));
    return body;
  }

  /// Whole vectors of all sums, and what these leave.
  void add_values(const buffer& part, const expr& first, std::vector<stmt>& to) const {
    constexpr std::int64_t written_out = 32;
    const dtype type = inner().var.type();
    const std::int64_t all = constant_extent(inner()), whole = all / lanes_, done = whole * lanes_;
    const auto k_of = [&](const expr& k) { return inner().min + k; };
    const var v = make_var(inner().var->name, type);
    stmt vectors = each_vector(count_, lanes_, [&](const expr& at, const var& u, const var& l) {
      return update(part, at, u, k_of(v * integer(type, lanes_) + cast(type, l)), first);
    });
    to.push_back(make_loop(v, integer(type, 0), integer(type, whole), std::move(vectors),
                           whole * count_ <= written_out ? loop_kind::unrolled : loop_kind::serial,
                           {{reduction_note, 1}}));
    if (done == all) return;
    if (masks_) {
      to.push_back(each_vector(count_, lanes_, [&](const expr& at, const var& u, const var& l) {
        const expr k = integer(type, done) + cast(type, l);
        return update(part, at, u, k_of(k), first, lt(k, integer(type, all)));
      }));
      return;
    }
    const var u = make_var("u"), t = make_var(inner().var->name, type);
    const stmt one = update(part, u * lane_number(lanes_), u, k_of(integer(type, done) + t), first);
    to.push_back(make_loop(
        u, 0, lane_number(count_),
        make_loop(t, integer(type, 0), integer(type, all - done), one, loop_kind::unrolled),
        loop_kind::unrolled));
  }

  /// Where the pieces of `unit` lanes at even (0) and odd (1) places of two vectors lie of which lane `l` of the sum
  /// has one, within groups of `group` lanes: [a0 a1 | b0 b1] becomes [a0 + a1 | b0 + b1].
  expr piece(const expr& l, std::int64_t unit, std::int64_t group, std::int64_t odd) const {
    const auto part = [&](std::int64_t by) { return floordiv(l, lane_number(by)); };
    const expr second = part(group / 2) - part(group) * lane_number(2);
    return second * lane_number(lanes_ - group) + l + part(unit) * lane_number(unit) -
           part(group) * lane_number(group) + lane_number(odd * unit);
  }

  /// Halves the partial results until there is one of each sum.
  /// @param own the vectors of all sums; gets the buffers between
  /// @returns the sums in their order
  buffer add_up(std::vector<buffer>& own, std::vector<stmt>& to) const {
    const std::int64_t near =
        std::min<std::int64_t>(shuffled_bytes / bytes(step().to[0]->type), lanes_);
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // of lanes: a unit, its group
    for (std::int64_t unit = near / 2; unit > 0; unit /= 2) steps.emplace_back(unit, near);
    for (std::int64_t unit = lanes_ / 2; unit >= near; unit /= 2) steps.emplace_back(unit, lanes_);
    std::int64_t vectors = count_, lanes = lanes_;
    for (const std::pair<std::int64_t, std::int64_t>& each : steps) {
      const std::int64_t unit = each.first, group = each.second;
      const buffer from = own.back();
      const bool joins = vectors > 1;
      if (joins)
        vectors /= 2;
      else
        lanes /= 2;
      const buffer sums = local("_part", vectors * lanes);
      own.push_back(sums);
      to.push_back(each_vector(vectors, lanes, [&](const expr& at, const var& u, const var& l) {
        const auto half = [&](std::int64_t odd) {
          if (!joins)  // one vector holds all sums, each in several pieces
            return load(from, {l + floordiv(l, lane_number(unit)) * lane_number(unit) +
                               lane_number(odd * unit)});
          return load(from, {u * lane_number(2 * lanes_) + piece(l, unit, group, odd)});
        };
        return make_store(sums, {at}, step().combined({half(0)}, {half(1)})[0]);
      }));
    }
    return own.back();
  }

  stmt store_results(const buffer& total, const expr& first) const {
    const loop_node& loop = *of_.results;
    const var l = make_var("l");
    const var_map element{{loop.var, loop.min + first + cast(index_, l)}};
    std::vector<expr> place;
    for (const expr& e : step().at[0]) place.push_back(substitute(e, element));
    const expr begun = of_.init ? substitute(of_.init->value, element) : load(step().to[0], place);
    return make_loop(
        l, 0, lane_number(count_),
        make_store(step().to[0], place, step().combined({begun}, {load(total, {l})})[0]),
        loop_kind::vectorized);
  }

  stmt store_next(const expr& first) const {
    const loop_node& next = *of_.next;
    const var l = make_var("l");
    return make_loop(l, 0, lane_number(count_),
                     substitute(next.body, {{next.var, next.min + first + cast(index_, l)}}),
                     loop_kind::vectorized);
  }

  const loop_of_sums& of_;
  std::int64_t count_, lanes_;
  bool masks_;
  dtype index_;
};

/// How many results a loop is asked to compute at a time; 0: one after the other.
inline std::int64_t asked_together(const loop_node& loop) {
  const auto note = loop.annotations.find(sums_together_note);
  if (note == loop.annotations.end()) return 0;
  const std::int64_t* n = std::get_if<std::int64_t>(&note->second.value);
  return n && *n > 1 && (*n & (*n - 1)) == 0 ? *n : 0;
}

/// Whether so many vectors of partial results can be added up together.
inline bool are_shuffled(std::int64_t count, dtype type, std::int64_t lanes) {
  return bytes(type) >= 4 && count <= lanes && count * bytes(type) >= shuffled_bytes;
}

/// A loop of whole groups of results; what they leave is half a group, if there is as much, and so on, and then one
/// result after the other: rows of a matrix are short, and half of a group that computes something again costs more
/// than a branch.
/// @param alone vectorizes a loop of single results
inline stmt in_groups(const loop_of_sums& of, std::int64_t count, std::int64_t lanes, bool masks,
                      support::function_ref<stmt(const stmt&)> alone) {
  const loop_node& loop = *of.results;
  const dtype index = loop.var.type();
  const auto number = [&](std::int64_t n) { return integer(index, n); };
  const var named = make_var(loop.var->name + "_count", index);
  const bool is_known = is_int(loop.extent);
  const expr extent = is_known ? loop.extent : expr(named);
  annotations notes = loop.annotations;
  notes.erase(sums_together_note);
  const var groups = make_var(loop.var->name, index);
  std::vector<stmt> all;
  if (!is_known || as_int(extent) >= count)
    all.push_back(make_loop(groups, number(0), floordiv(extent, number(count)),
                            together(of, count, lanes, masks).group(groups * number(count)),
                            loop_kind::serial, notes));
  std::int64_t least = count;  // results of the smallest group
  const auto done = [&] { return floordiv(extent, number(least)) * number(least); };
  while (are_shuffled(least / 2, of.sum.step.to[0]->type, lanes)) {
    const expr first = done();
    least /= 2;
    const stmt some = together(of, least, lanes, masks).group(first);
    if (!is_known)
      all.push_back(make_if(lt(first, done()), some));
    else if (as_int(extent) / least % 2 == 1)
      all.push_back(some);
  }
  const var single = make_var(loop.var->name, index);
  std::vector<stmt> one{substitute(loop.body, {{loop.var, single}})};
  if (of.next) one.push_back(substitute(of.next->body, {{of.next->var, single}}));
  if (!is_known || as_int(extent) % least != 0)
    all.push_back(alone(make_loop(single, loop.min + done(), extent - done(),
                                  make_seq(std::move(one)), loop_kind::serial, std::move(notes))));
  stmt out = make_seq(std::move(all));
  return is_known ? out : make_let(named, max(loop.extent, number(0)), std::move(out));
}

/// The loop with its results several at a time; null where nobody asks for it, or they are no such sums.
/// @param next the loop that follows, which has to be computed with it; null: it is computed alone
/// @param alone vectorizes a loop of single results
inline stmt sums_together(const loop_node& loop, const loop_node* next, const target::cpu& target,
                          support::function_ref<stmt(const stmt&)> alone) {
  const std::int64_t count = asked_together(loop);
  if (count == 0) return {};
  std::optional<loop_of_sums> sums = match_sums(loop);
  if (!sums || (next && !is_computed_with(*sums, *next))) return {};
  sums->next = next;
  const loop_node& inner = *sums->sum.chain.back();
  const dtype type = sums->sum.step.to[0]->type;
  const std::int64_t lanes = lanes_of(inner.body, target);
  if (!are_shuffled(count, type, lanes) || constant_extent(inner) < lanes) return {};
  return in_groups(*sums, count, lanes, masked::has_masks(target), alone);
}

}  // namespace tilewright::pass::detail::reductions
