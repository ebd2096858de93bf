#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/impl/pass/masked_tails.hpp>
#include <tilewright/impl/pass/vector/byte_sums.hpp>
#include <tilewright/impl/pass/vector/reduction_nest.hpp>
#include <tilewright/impl/pass/vector/sums_together.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/pass/vector/vectorize_reductions.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::pass::detail::reductions {

using namespace tilewright::ir;

class vectorizer : public arith::scoped_mutator {
 public:
  explicit vectorizer(const target::cpu& target) : target_(target) {}
  using scoped_mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const seq_node* several = as_seq(s))
      if (stmt with_next = sums_with_next(*several)) return with_next;
    if (const loop_node* loop = as_loop(s)) {
      if (stmt together = together_with(*loop, nullptr)) return together;
      if (std::optional<reduction> r = match(*loop)) {
        if (const std::optional<byte_sum> bytes = byte_sum::of(*r, target_))
          return bytes->lowered();
        const std::int64_t lanes = lanes_of(r->chain.back()->body, target_);
        const std::int64_t parts = choose(*r, lanes);
        if (parts > 1) return long_or_short(*r, lanes, parts);
      }
    }
    return scoped_mutator::mutate(s);
  }

 private:
  stmt together_with(const loop_node& loop, const loop_node* next) {
    return sums_together(loop, next, target_,
                         [this](const stmt& single) { return scoped_mutator::mutate(single); });
  }

  /// Statements one of which is a loop of sums that the next one is computed with; null where there is none.
  stmt sums_with_next(const seq_node& several) {
    for (std::size_t n = 0; n + 1 < several.stmts.size(); ++n) {
      const loop_node *loop = as_loop(several.stmts[n]), *next = as_loop(several.stmts[n + 1]);
      const stmt both = loop && next ? together_with(*loop, next) : stmt{};
      if (!both) continue;
      std::vector<stmt> out;
      for (std::size_t at = 0; at < several.stmts.size(); ++at)
        if (at != n + 1) out.push_back(at == n ? both : mutate(several.stmts[at]));
      return make_seq(std::move(out));
    }
    return {};
  }

  /// Iterations of the innermost loop; of a number that loops around it decide, as in sums over j <= i, half the mean, since
  /// what whole vectors leave takes one more each time; 0 where it is data.
  std::int64_t usual_extent(const reduction& r) const {
    const loop_node& inner = *r.chain.back();
    if (is_int(inner.extent) || reads_memory(inner.extent)) return constant_extent(inner);
    arith::analyzer inside = known;
    for (const loop_node* l : r.chain) inside.bind(l->var, {l->min, l->extent});
    const arith::bounds range = inside.const_bounds(inner.extent);
    constexpr std::int64_t most = 1 << 24;  // more is what any index may be
    if (range.hi < 0 || range.hi > most) return 0;
    return (std::max<std::int64_t>(range.lo, 0) + range.hi) / 4;
  }

  /// Number of partial results, a power of two; 1: leave it.
  std::int64_t choose(const reduction& r, std::int64_t lanes) const {
    const loop_node& inner = *r.chain.back();
    const std::int64_t extent = usual_extent(r);
    const auto note = inner.annotations.find(reduction_lanes_note);
    if (note != inner.annotations.end()) {
      const std::int64_t* asked = std::get_if<std::int64_t>(&note->second.value);
      const bool fits = asked && *asked > 1 && (*asked & (*asked - 1)) == 0 &&
                        (*asked <= extent || !is_int(inner.extent));
      return fits ? *asked : 1;
    }
    const std::vector<expr>& values = r.step.value;
    const auto along = [&](const expr& e) { return lies_along(e, inner.var); };
    const auto loads = [&](const expr& e) { return loads_along(e, inner.var); };
    if (!support::all(values, along) || support::none(values, loads) || lanes < 2 ||
        extent < least_extent(r, lanes))
      return 1;
    // what functions compute from one value fills the pipeline, and combining takes as many more
    const std::int64_t most = support::any(values, calls) ? lanes : 4 * lanes;
    std::int64_t parts = lanes;
    while (parts < most && extent >= 4 * parts) parts *= 2;
    return parts;
  }

  /// Iterations of the innermost loop from which on vectors pay: partial results are added up once, after all
  /// loops, so that one vector is enough where other loops go around it.
  static std::int64_t least_extent(const reduction& r, std::int64_t lanes) {
    const auto repeats = [](const loop_node* l) {
      return !is_int(l->extent) || constant_extent(*l) > 1;
    };
    const bool again = std::any_of(r.chain.begin(), r.chain.end() - 1, repeats);
    return again ? lanes : 2 * lanes;
  }

  /// The number that a note of the innermost loop says, where the number of iterations is data; 0: none.
  static std::int64_t noted(const reduction& r, const char* key) {
    const loop_node& inner = *r.chain.back();
    const auto note = inner.annotations.find(key);
    const std::int64_t* number =
        note == inner.annotations.end() ? nullptr : std::get_if<std::int64_t>(&note->second.value);
    return number && r.chain.size() == 1 && !is_int(inner.extent) ? *number : 0;
  }

  /// Partial results where the loop is long enough for them.
  stmt long_or_short(const reduction& r, std::int64_t lanes, std::int64_t parts) const {
    const loop_node& inner = *r.chain.back();
    const std::int64_t least = noted(r, long_rows_note);
    stmt out = rewrite_reduction(r, lanes, parts);
    if (least <= 0) return out;
    const var k = make_var(inner.var->name, inner.var.type());
    stmt single = make_loop(k, inner.min, inner.extent, substitute(inner.body, {{inner.var, k}}),
                            loop_kind::serial,
                            {{reduction_note, 1}, {reduction_lanes_note, 0}, {edge_note, 1}});
    return make_if(lt(inner.extent, integer(inner.extent.type(), least)), std::move(single),
                   std::move(out));
  }

  using parts_of = std::vector<buffer>;

  static std::vector<expr> at_lane(const parts_of& part, const expr& lane) {
    std::vector<expr> out;
    for (const buffer& b : part) out.push_back(load(b, {lane}));
    return out;
  }

  /// Stores all of them after all are computed.
  static stmt store_all(const std::vector<buffer>& to, const std::vector<std::vector<expr>>& at,
                        const std::vector<expr>& values) {
    if (to.size() == 1) return make_store(to[0], at[0], values[0]);
    std::vector<var> lets;
    std::vector<stmt> stores;
    for (std::size_t t = 0; t < to.size(); ++t) {
      lets.push_back(make_var("v_" + to[t]->name, values[t].type()));
      stores.push_back(make_store(to[t], at[t], lets[t]));
    }
    stmt out = make_seq(std::move(stores));
    for (std::size_t t = to.size(); t-- > 0;) out = make_let(lets[t], values[t], out);
    return out;
  }

  static stmt store_at_lane(const parts_of& part, const expr& lane,
                            const std::vector<expr>& values) {
    return store_all(part, std::vector<std::vector<expr>>(part.size(), {lane}), values);
  }

  /// @param wanted whether the lane has an iteration; null: it has
  static stmt update(const reduction& r, const parts_of& part, const expr& lane, const expr& k,
                     const expr& wanted = {}) {
    const std::vector<expr> old = at_lane(part, lane);
    std::vector<expr> values = r.step.next(old);
    for (std::size_t t = 0; t < values.size(); ++t) {
      values[t] = substitute(values[t], {{r.chain.back()->var, k}});
      if (wanted) values[t] = if_then_else(wanted, values[t], old[t]);
    }
    return store_at_lane(part, lane, values);
  }

  static stmt lanes_loop(std::int64_t count, support::function_ref<stmt(const expr&)> body) {
    const var l = make_var("l");
    return make_loop(l, 0, integer(dtype::i32, count), body(l), loop_kind::vectorized);
  }

  /// The first iterations, `parts` at a time.
  static stmt whole_vectors(const reduction& r, const parts_of& part, std::int64_t parts,
                            const expr& times, annotations notes) {
    const loop_node& inner = *r.chain.back();
    const dtype index = inner.var.type();
    const var v = make_var(inner.var->name, index);
    return make_loop(v, integer(index, 0), times,
                     lanes_loop(parts,
                                [&](const expr& l) {
                                  return update(
                                      r, part, l,
                                      inner.min + v * integer(index, parts) + cast(index, l));
                                }),
                     loop_kind::serial, std::move(notes));
  }

  /// Whether the last iterations, less than a vector, are one vector under a mask.
  bool masks_rest(const reduction& r) const {
    return masked::has_masks(target_) &&
           support::all(r.step.to, [](const buffer& b) { return bytes(b->type) >= 4; });
  }

  /// A literal number of iterations: what whole vectors leave is code of constant size.
  std::vector<stmt> counted(const reduction& r, const parts_of& part, std::int64_t lanes,
                            std::int64_t parts) const {
    const loop_node& inner = *r.chain.back();
    const dtype index = inner.var.type();
    const std::int64_t extent = constant_extent(inner), whole = extent / parts;
    std::vector<stmt> out{
        whole_vectors(r, part, parts, integer(index, whole), {{reduction_note, 1}})};
    std::int64_t done = whole * parts;
    if (const std::int64_t rest = (extent - done) / lanes * lanes; rest > 0) {
      out.push_back(lanes_loop(rest, [&](const expr& l) {
        return update(r, part, l, inner.min + integer(index, done) + cast(index, l));
      }));
      done += rest;
    }
    if (done < extent && masks_rest(r)) {
      out.push_back(lanes_loop(std::min(lanes, parts), [&](const expr& l) {
        const expr k = integer(index, done) + cast(index, l);
        return update(r, part, l, inner.min + k, lt(k, integer(index, extent)));
      }));
    } else if (done < extent) {
      const var t = make_var(inner.var->name, index);
      out.push_back(make_loop(t, inner.min + integer(index, done), integer(index, extent - done),
                              substitute(inner.body, {{inner.var, t}}), loop_kind::serial,
                              {{reduction_note, 1}}));
    }
    return out;
  }

  /// A number of iterations that is data, such as the length of a row: what whole vectors leave is
  /// one vector under a mask, so that no branch depends on how many there are.
  static std::vector<stmt> measured(const reduction& r, const parts_of& part, std::int64_t parts) {
    const loop_node& inner = *r.chain.back();
    const dtype index = inner.var.type();
    const expr whole = whole_steps(inner.extent, integer(index, parts), {});
    const expr done = whole * integer(index, parts);
    // a row has few vectors, and each loop more ends with a branch that is hard to predict
    const annotations once{{reduction_note, 1}, {edge_note, 1}};
    return {whole_vectors(r, part, parts, whole, once), lanes_loop(parts, [&](const expr& l) {
              const expr k = done + cast(index, l);
              return update(r, part, l, inner.min + k, lt(k, inner.extent));
            })};
  }

  stmt rewrite_reduction(const reduction& r, std::int64_t lanes, std::int64_t parts) const {
    const loop_node& inner = *r.chain.back();
    parts_of part;
    for (const buffer& to : r.step.to)
      part.push_back(
          make_buffer(to->name + "_part", to->type, {integer(dtype::i32, parts)}, "local"));
    stmt main =
        make_seq(is_int(inner.extent) ? counted(r, part, lanes, parts) : measured(r, part, parts));
    for (std::size_t d = r.chain.size() - 1; d-- > 0;)
      main = with_body(*r.chain[d], std::move(main));
    std::vector<stmt> all{
        lanes_loop(parts, [&](const expr& l) { return store_at_lane(part, l, r.step.identity()); }),
        std::move(main)};
    for (std::int64_t width = parts / 2; width >= 1; width /= 2)
      all.push_back(lanes_loop(width, [&](const expr& l) {
        return store_at_lane(
            part, l,
            r.step.combined(at_lane(part, l), at_lane(part, l + integer(dtype::i32, width))));
      }));
    std::vector<expr> old;
    for (std::size_t t = 0; t < part.size(); ++t) old.push_back(load(r.step.to[t], r.step.at[t]));
    all.push_back(store_all(r.step.to, r.step.at, r.step.combined(old, at_lane(part, 0))));
    stmt out = make_seq(std::move(all));
    for (const buffer& b : part) out = make_allocate(b, std::move(out));
    return out;
  }

  const target::cpu& target_;
};

}  // namespace tilewright::pass::detail::reductions

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function vectorize_reductions(const ir::function& f,
                                                    const target::cpu& target) {
  ir::function out = f;
  out.body = detail::reductions::vectorizer(target).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
