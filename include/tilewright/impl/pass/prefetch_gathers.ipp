#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/prefetch_gathers.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::prefetch {

using namespace tilewright::ir;

/// The index arrays of a gather looked at some elements further on.
class looker_ahead : public mutator {
 public:
  explicit looker_ahead(std::int64_t distance) : distance_(distance) {}
  bool possible = true;  // each array has one dimension of a known extent
  using mutator::mutate;

  expr mutate(const expr& e) override {
    if (e->op != op::load) return mutator::mutate(e);
    if (e->args.size() != 1 || !is_int(e->buffer->shape[0])) {
      possible = false;
      return e;
    }
    const dtype type = e->args[0].type();
    const std::int64_t largest = type == dtype::i64 ? std::numeric_limits<std::int64_t>::max()
                                                    : std::numeric_limits<std::int32_t>::max();
    if (as_int(e->buffer->shape[0]) > largest - distance_) possible = false;  // the sum would wrap
    const expr last = integer(type, as_int(e->buffer->shape[0]) - 1);
    return load(e->buffer, {min(e->args[0] + integer(type, distance_), last)});
  }

 private:
  std::int64_t distance_;
};

class inserter : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop) return mutator::mutate(s);
    const std::int64_t outside = distance_;
    if (const auto note = loop->annotations.find(ir::prefetch_note);
        note != loop->annotations.end())
      if (const auto* n = std::get_if<std::int64_t>(&note->second.value)) distance_ = *n;
    stmt out = distance_ > 0 && loop->loop == loop_kind::vectorized ? with_prefetches(*loop, s)
                                                                    : mutator::mutate(s);
    distance_ = outside;
    return out;
  }

 private:
  stmt with_prefetches(const loop_node& lanes, const stmt& s) const {
    std::vector<expr> wanted;
    for_each_expr(lanes.body, [&](const expr& e) {
      if (e->op != op::load) return;
      const auto gathers = [&](const expr& i) {
        return reads_memory(i) && !uses_var(i, lanes.var);
      };
      if (support::none(e->args, gathers)) return;
      looker_ahead ahead(distance_);
      std::vector<expr> at;
      for (const expr& i : e->args)
        at.push_back(ahead.mutate(substitute(i, {{lanes.var, lanes.min}})));
      const expr one = load(e->buffer, std::move(at));
      const auto same = [&](const expr& w) { return equal(w, one); };
      if (ahead.possible && support::none(wanted, same)) wanted.push_back(one);
    });
    std::vector<stmt> out;
    for (const expr& e : wanted) out.push_back(make_evaluate(call(e.type(), "prefetch", {e})));
    out.push_back(s);
    return make_seq(std::move(out));
  }

  std::int64_t distance_ = 0;
};

}  // namespace tilewright::pass::detail::prefetch

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function prefetch_gathers(const ir::function& f) {
  ir::function out = f;
  out.body = detail::prefetch::inserter{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
