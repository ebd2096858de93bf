#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/split_vectors.hpp>
#include <tilewright/pass/vectorize_reductions.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::reductions {

using namespace tilewright::ir;

/// to[at] = to[at] (op) value under the loops `chain`, outermost first.
struct reduction {
  std::vector<const loop_node*> chain;
  buffer to;
  std::vector<expr> at;
  op combine = op::add;
  expr value;
};

inline expr apply(op o, const expr& a, const expr& b) {
  switch (o) {
    case op::add: return a + b;
    case op::mul: return a * b;
    case op::max: return max(a, b);
    default: return min(a, b);
  }
}

inline expr identity_of(op o, dtype t) {
  switch (o) {
    case op::add: return literal(t, 0);
    case op::mul: return literal(t, 1);
    case op::max: return lowest_value(t);
    default: return highest_value(t);
  }
}

inline std::optional<reduction> match(const loop_node& outermost) {
  reduction r;
  const loop_node* loop = &outermost;
  while (loop && loop->loop == loop_kind::serial && is_reduction(*loop)) {
    r.chain.push_back(loop);
    if (!as_loop(loop->body)) break;
    loop = as_loop(loop->body);
  }
  if (!loop || r.chain.empty() || r.chain.back() != loop) return std::nullopt;
  const store_node* store = as_store(loop->body);
  if (!store) return std::nullopt;
  const expr& v = store->value;
  if (v->op != op::add && v->op != op::mul && v->op != op::max && v->op != op::min)
    return std::nullopt;
  const auto is_old = [&](const expr& e) {
    return e->op == op::load && e->buffer == store->buffer && same_indices(e->args, store->indices);
  };
  const bool left = is_old(v->args[0]);
  if (!left && !is_old(v->args[1])) return std::nullopt;
  r.value = v->args[left ? 1 : 0];
  r.to = store->buffer;
  r.at = store->indices;
  r.combine = v->op;
  bool again = false;
  for_each_expr(r.value,
                [&](const expr& e) { again = again || (e->op == op::load && e->buffer == r.to); });
  for (const expr& e : r.at)
    for (const loop_node* l : r.chain) again = again || uses_var(e, l->var);
  return again ? std::nullopt : std::optional(std::move(r));
}

/// Every load that changes with `k` reads the next element.
inline bool is_contiguous(const expr& e, const var& k) {
  if (e->op == op::if_then_else && uses_var(e->args[0], k)) return false;
  if (e->op == op::load && uses_var(e, k)) {
    const std::vector<expr>& strides = e->buffer->strides;
    if (!strides.empty() && !is_int(strides.back(), 1)) return false;
    for (std::size_t d = 0; d + 1 < e->args.size(); ++d)
      if (uses_var(e->args[d], k)) return false;
    const arith::linear last = arith::to_linear(e->args.back());
    for (const auto& [term, factor] : last.terms)
      if (term.same(k) ? factor != 1 : uses_var(term, k)) return false;
    return true;
  }
  for (const expr& arg : e->args)
    if (!is_contiguous(arg, k)) return false;
  return true;
}

inline bool loads_along(const expr& e, const var& k) {
  if (e->op == op::load && uses_var(e, k)) return true;
  for (const expr& arg : e->args)
    if (loads_along(arg, k)) return true;
  return false;
}

class vectorizer : public mutator {
 public:
  explicit vectorizer(const target::cpu& target) : target_(target) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const loop_node* loop = as_loop(s)) {
      if (std::optional<reduction> r = match(*loop)) {
        const std::int64_t lanes = lanes_of(r->chain.back()->body, target_);
        const std::int64_t parts = choose(*r, lanes);
        if (parts > 1) return rewrite_reduction(*r, lanes, parts);
      }
    }
    return mutator::mutate(s);
  }

 private:
  /// Number of partial results, a power of two; 1: leave it.
  static std::int64_t choose(const reduction& r, std::int64_t lanes) {
    const loop_node& inner = *r.chain.back();
    const std::int64_t extent = constant_extent(inner);
    const auto note = inner.annotations.find(reduction_lanes_note);
    if (note != inner.annotations.end()) {
      const std::int64_t* asked = std::get_if<std::int64_t>(&note->second.value);
      const bool fits = asked && *asked > 1 && (*asked & (*asked - 1)) == 0 && *asked <= extent;
      return fits ? *asked : 1;
    }
    if (!is_contiguous(r.value, inner.var) || !loads_along(r.value, inner.var) || lanes < 2 ||
        extent < 2 * lanes)
      return 1;
    std::int64_t parts = lanes;
    while (parts < 4 * lanes && extent >= 4 * parts) parts *= 2;
    return parts;
  }

  static stmt update(const reduction& r, const buffer& part, const expr& lane, const expr& k) {
    return make_store(
        part, {lane},
        apply(r.combine, load(part, {lane}), substitute(r.value, {{r.chain.back()->var, k}})));
  }

  static stmt lanes_loop(std::int64_t count, const std::function<stmt(const expr&)>& body) {
    const var l = make_var("l");
    return make_loop(l, 0, integer(dtype::i32, count), body(l), loop_kind::vectorized);
  }

  static stmt rewrite_reduction(const reduction& r, std::int64_t lanes, std::int64_t parts) {
    const loop_node& inner = *r.chain.back();
    const dtype index = inner.var.type();
    const buffer part =
        make_buffer(r.to->name + "_part", r.to->type, {integer(dtype::i32, parts)}, "local");
    const std::int64_t extent = constant_extent(inner), whole = extent / parts;
    const auto at = [&](const expr& e) { return cast(index, e); };
    std::vector<stmt> body;
    const var v = make_var(inner.var->name, index);
    body.push_back(make_loop(
        v, integer(index, 0), integer(index, whole),
        lanes_loop(parts,
                   [&](const expr& l) {
                     return update(r, part, l, inner.min + v * integer(index, parts) + at(l));
                   }),
        loop_kind::serial, {{reduction_note, 1}}));
    std::int64_t done = whole * parts;
    if (const std::int64_t rest = (extent - done) / lanes * lanes; rest > 0) {
      body.push_back(lanes_loop(rest, [&](const expr& l) {
        return update(r, part, l, inner.min + integer(index, done) + at(l));
      }));
      done += rest;
    }
    if (done < extent) {
      const var t = make_var(inner.var->name, index);
      body.push_back(make_loop(t, inner.min + integer(index, done), integer(index, extent - done),
                               substitute(inner.body, {{inner.var, t}}), loop_kind::serial,
                               {{reduction_note, 1}}));
    }
    stmt main = make_seq(std::move(body));
    for (std::size_t d = r.chain.size() - 1; d-- > 0;)
      main = with_body(*r.chain[d], std::move(main));
    std::vector<stmt> all{lanes_loop(parts,
                                     [&](const expr& l) {
                                       return make_store(part, {l},
                                                         identity_of(r.combine, r.to->type));
                                     }),
                          std::move(main)};
    for (std::int64_t width = parts / 2; width >= 1; width /= 2)
      all.push_back(lanes_loop(width, [&](const expr& l) {
        return make_store(
            part, {l},
            apply(r.combine, load(part, {l}), load(part, {l + integer(dtype::i32, width)})));
      }));
    all.push_back(make_store(r.to, r.at, apply(r.combine, load(r.to, r.at), load(part, {0}))));
    return make_allocate(part, make_seq(std::move(all)));
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
