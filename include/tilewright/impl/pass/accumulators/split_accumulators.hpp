// Several accumulators for a sum, so that its additions do not wait for each other (unroll_reductions).
//
//   for k in range(32):                                parts[0:2, 0:16] = -0.0
//     for u in unroll(4):                    ->        for k in range(32):
//       acc[l] = acc[l] + A[k * 4 + u] * B[..]           for u in unroll(4): parts[u % 2, l] += A[k * 4 + u] * B[..]
//                                                      acc[l] = acc[l] + (parts[0, l] + parts[1, l])
//
// An addition ends some steps behind its begin: a tile of few vectors waits for itself in each iteration.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/pass/accumulators/sum_parts.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/pass/unroll_loops.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::unroll {

using namespace tilewright::ir;

/// How many accumulators the loop asks for; 1: one.
inline std::int64_t asked_accumulators(const loop_node& loop) {
  const auto note = loop.annotations.find(sums_apart_note);
  if (note == loop.annotations.end()) return 1;
  const std::int64_t* n = std::get_if<std::int64_t>(&note->second.value);
  return n && *n > 1 && (*n & (*n - 1)) == 0 ? *n : 1;
}

/// Local buffers of literal shape to which each iteration of the loop adds, at places that do not follow it.
inline std::vector<buffer> local_sums(const loop_node& loop) {
  std::vector<buffer> out;
  if (!promote::has_free_order(loop)) return out;
  for_each_stmt(loop.body, [&](const stmt& s) {
    const store_node* store = as_store(s);
    if (!store || support::contains(out, store->buffer)) return;
    const buffer& b = store->buffer;
    const bool fits =
        b->scope == "local" && is_float(b->type) && b->strides.empty() && !b->shape.empty() &&
        support::all(b->shape, [](const expr& e) { return is_int(e); }) &&
        support::none(store->indices, [&](const expr& e) { return uses_var(e, loop.var); });
    if (fits && promote::only_adds_to(b, loop)) out.push_back(b);
  });
  return out;
}

/// One sum with accumulators of its own for iterations in turn.
class split_sum {
 public:
  split_sum(buffer sum, std::int64_t count) : sum_(std::move(sum)), count_(count) {
    std::vector<expr> shape = sum_->shape;
    shape.insert(shape.begin(), integer(type(), count));
    parts_ = make_buffer(sum_->name + "_parts", sum_->type, std::move(shape), "local");
  }

  /// The `turn`-th of the iterations that are written out.
  stmt rerouted(const stmt& body, const expr& turn) const {
    return reroute(body, sum_, parts_, [&](std::vector<expr> at) {
      at.insert(at.begin(), cast(type(), floormod(turn, integer(turn.type(), count_))));
      return at;
    });
  }

  /// `main` between what the accumulators begin with and where they are added up.
  stmt around(stmt main) const {
    const stmt first = each([&](const std::vector<expr>& at) {
      std::vector<stmt> all;  // -0.0 changes no sum, not even the sign of a zero
      for (std::int64_t p = 0; p < count_; ++p)
        all.push_back(make_store(parts_, of_part(p, at), real(sum_->type, -0.0)));
      return make_seq(std::move(all));
    });
    const stmt last = each([&](const std::vector<expr>& at) {
      return make_store(sum_, at, load(sum_, at) + added(0, count_, at));
    });
    return make_allocate(parts_, make_seq({first, std::move(main), last}));
  }

 private:
  dtype type() const { return sum_->shape.front().type(); }
  std::vector<expr> of_part(std::int64_t p, std::vector<expr> at) const {
    at.insert(at.begin(), integer(type(), p));
    return at;
  }
  expr added(std::int64_t first, std::int64_t count, const std::vector<expr>& at) const {
    if (count == 1) return load(parts_, of_part(first, at));
    return added(first, count / 2, at) + added(first + count / 2, count / 2, at);
  }

  /// For all elements of the sum, in vectors of its rows.
  template <class Body>
  stmt each(const Body& body) const {
    std::vector<var> loops;
    for (const expr& extent : sum_->shape) loops.push_back(make_var("a", extent.type()));
    stmt out = body(std::vector<expr>(loops.begin(), loops.end()));
    for (std::size_t d = loops.size(); d-- > 0;)
      out = make_loop(loops[d], integer(loops[d].type(), 0), sum_->shape[d], std::move(out),
                      d + 1 == loops.size() ? loop_kind::vectorized : loop_kind::unrolled);
    return out;
  }

  buffer sum_, parts_;
  std::int64_t count_;
};

}  // namespace tilewright::pass::detail::unroll
