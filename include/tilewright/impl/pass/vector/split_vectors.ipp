#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/masked_tails.hpp>
#include <tilewright/impl/pass/vector/rounded_quotient.hpp>
#include <tilewright/impl/target/slow_division.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/pass/vector/streams.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::vectors {

using namespace tilewright::ir;

/// Lanes of what keeps values in registers: all that touches such a buffer does so in vectors of one length, or it would
/// be taken apart and put together between a comparison of floats and the truth values of several.
class register_lanes : public visitor {
 public:
  explicit register_lanes(const target::cpu& target) : target_(target) {}
  using visitor::visit;

  void visit(const stmt& s) override {
    visitor::visit(s);
    const loop_node* loop = as_loop(s);
    if (!loop || loop->loop != loop_kind::vectorized) return;
    const std::int64_t lanes = lanes_of(loop->body, target_);
    for_each_buffer(loop->body, [&](const buffer& b) {
      const auto found = lanes_.emplace(b.get(), lanes).first;
      found->second = std::min(found->second, lanes);
    });
  }

  std::int64_t of(const stmt& body) const {
    std::int64_t out = lanes_of(body, target_);
    for_each_buffer(body, [&](const buffer& b) {
      const auto found = lanes_.find(b.get());
      if (found != lanes_.end()) out = std::min(out, found->second);
    });
    return out;
  }

 private:
  template <class Seen>
  static void for_each_buffer(const stmt& body, const Seen& seen) {
    const auto local = [&](const buffer& b) {
      if (b->scope == "local") seen(b);
    };
    for_each_stmt(body, [&](const stmt& s) {
      if (const store_node* store = as_store(s)) local(store->buffer);
    });
    for_each_expr(body, [&](const expr& e) {
      if (e->op == op::load) local(e->buffer);
    });
  }

  const target::cpu& target_;
  std::map<const buffer_node*, std::int64_t> lanes_;
};

class splitter : public mutator {
 public:
  splitter(const target::cpu& target, var_set sizes, const masked::tails& tails,
           const register_lanes& lanes)
      : target_(target), sizes_(std::move(sizes)), tails_(tails), lanes_(lanes) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    stmt out = mutator::mutate(s);
    const loop_node* loop = as_loop(out);
    if (!loop || loop->loop != loop_kind::vectorized || stream_of(*loop, target_)) return out;
    const std::int64_t lanes = lanes_.of(loop->body);
    return is_int(loop->extent) ? split(*loop, as_int(loop->extent), lanes)
                                : split_symbolic(*loop, lanes);
  }

 private:
  static expr number(const loop_node& loop, std::int64_t v) { return integer(loop.var.type(), v); }

  /// `width` lanes from `start` on.
  static stmt chunk(const loop_node& loop, const expr& start, std::int64_t width) {
    const expr first =
        loop.min.type() == loop.var.type() ? loop.min : cast(loop.var.type(), loop.min);
    if (width == 1) return rename_loops(substitute(loop.body, {{loop.var, first + start}}));
    const var lane = make_var(loop.var->name, loop.var.type());
    return make_loop(lane, number(loop, 0), number(loop, width),
                     rename_loops(substitute(loop.body, {{loop.var, first + start + lane}})),
                     loop_kind::vectorized, loop.annotations);
  }

  /// The last `rest` lanes, from `start` on, in one vector.
  stmt masked_chunk(const loop_node& loop, const expr& start, std::int64_t rest) const {
    const var lane = make_var(loop.var->name, loop.var.type());
    const stmt body = rename_loops(substitute(loop.body, {{loop.var, start + lane}}));
    return make_loop(lane, number(loop, 0), number(loop, masked::power_not_below(rest)),
                     tails_.masked(body, loop, lt(lane, number(loop, rest)), lane),
                     loop_kind::vectorized, loop.annotations);
  }

  /// `count` chunks of `width` lanes from `start` on, written out.
  static stmt chunks(const loop_node& loop, const expr& start, std::int64_t count,
                     std::int64_t width) {
    if (count == 1) return chunk(loop, start, width);
    const var u = make_var(loop.var->name + "_v", loop.var.type());
    return make_loop(u, number(loop, 0), number(loop, count),
                     chunk(loop, start + u * number(loop, width), width), loop_kind::unrolled);
  }

  /// Whether the loop divides its elements by one divisor: that their products by the reciprocal round
  /// as quotients do, or to the same integers, is tested once for the lanes of two vectors.
  bool tests_in_pairs(const loop_node& loop, std::int64_t lanes) const {
    bool out = false;
    const auto by_one = [&](const expr_node& e) {
      return !uses_var(e.args[1], loop.var) && uses_var(e.args[0], loop.var);
    };
    for_each_expr(loop.body, [&](const expr& e) {
      const expr_node* rounded =
          target_.fma && lanes >= 4 ? pass::detail::rounded_quotient(e) : nullptr;
      out = out || (rounded && by_one(*rounded)) ||
            (e->op == op::div && is_float(e.type()) && by_one(*e) &&
             target::divides_slowly(target_, e.type(), static_cast<int>(lanes)));
    });
    return out;
  }

  stmt split(const loop_node& loop, std::int64_t extent, std::int64_t lanes) const {
    std::vector<stmt> out;
    const std::int64_t vectors = tests_in_pairs(loop, lanes) ? 2 : 1, step = vectors * lanes;
    const std::int64_t whole = extent / step;
    std::int64_t done = 0;
    if (whole * vectors > unrolled_vectors) {
      const std::int64_t group = 4 / vectors;
      const var g = make_var(loop.var->name + "_g", loop.var.type());
      out.push_back(make_loop(g, number(loop, 0), number(loop, whole / group),
                              chunks(loop, g * number(loop, group * step), group, step)));
      done = whole / group * group;
    }
    if (whole > done) out.push_back(chunks(loop, number(loop, done * step), whole - done, step));
    std::int64_t at = whole * step;
    if (extent - at >= lanes) {
      out.push_back(chunk(loop, number(loop, at), lanes));
      at += lanes;
    }
    if (tails_.is_maskable(loop)) {
      out.push_back(masked_chunk(loop, number(loop, at), extent - at));
      at = extent;
    }
    for (std::int64_t width = lanes; width >= 1; width /= 2)
      if (extent - at >= width) {
        out.push_back(chunk(loop, number(loop, at), width));
        at += width;
      }
    return make_seq(std::move(out));
  }

  stmt split_symbolic(const loop_node& loop, std::int64_t lanes) const {
    const expr extent =
        loop.extent.type() == loop.var.type() ? loop.extent : cast(loop.var.type(), loop.extent);
    const expr whole = whole_steps(extent, number(loop, lanes), sizes_);
    const var g = make_var(loop.var->name + "_v", loop.var.type());
    stmt main = make_loop(g, number(loop, 0), whole, chunk(loop, g * number(loop, lanes), lanes));
    const var t = make_var(loop.var->name + "_t", loop.var.type());
    stmt tail = make_loop(t, number(loop, 0), extent - whole * number(loop, lanes),
                          chunk(loop, whole * number(loop, lanes) + t, 1));
    return make_seq({std::move(main), std::move(tail)});
  }

  const target::cpu& target_;
  var_set sizes_;
  const masked::tails& tails_;
  const register_lanes& lanes_;
};

}  // namespace tilewright::pass::detail::vectors

namespace tilewright::pass {

TILEWRIGHT_INLINE int lanes_of(const ir::stmt& body, const target::cpu& target) {
  int lanes = 0;
  const auto consider = [&](dtype t) {
    const dtype computed = t == dtype::f16 || t == dtype::bf16 ? dtype::f32 : t;
    const int n = target.lanes(computed);
    lanes = lanes == 0 ? n : std::min(lanes, n);
  };
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s)) consider(store->buffer->type);
  });
  ir::for_each_expr(body, [&](const ir::expr& e) {
    if (e->op == ir::op::load && is_float(e.type())) consider(e.type());
  });
  int power = 1;
  while (power * 2 <= lanes) power *= 2;
  return power;
}

TILEWRIGHT_INLINE ir::function split_vectors(const ir::function& f, const target::cpu& target) {
  ir::function out = f;
  const detail::masked::tails tails(f.body, target);
  detail::vectors::register_lanes lanes(target);
  lanes.visit(f.body);
  const ir::stmt split =
      detail::vectors::splitter(target, shape_variables(f), tails, lanes).mutate(f.body);
  out.body = ir::replace_buffers(split, tails.longer());
  return out;
}

}  // namespace tilewright::pass
