#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/impl/ir/text/opaque.hpp>
#include <tilewright/ir/interpret/scalarize.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir {
namespace detail {

class scalarizer : public mutator {
 public:
  using mutator::mutate;

  expr mutate(const expr& e) override {
    if (is_vector(e.type()))
      throw argument_error("a value of type " + std::string(name(e.type())) +
                           " stands where a scalar is needed");
    if (e->op == op::load) return load_lane(e, 0);
    if (is_reinterpret(e) && is_vector(e->args[0].type())) return bits_of_lane(e, 0);
    return mutator::mutate(e);
  }

  buffer mutate(const buffer& b) override {
    if (!is_vector(b->type)) return b;
    const auto known = buffers_.find(b);
    if (known != buffers_.end()) return known->second;
    need_fixed(b->type);
    auto* node = new buffer_node(*b);
    const buffer out(node);
    const int count = lanes(b->type);
    node->type = element_of(b->type);
    node->shape.push_back(integer(b->shape.empty() ? dtype::i32 : b->shape[0].type(), count));
    for (expr& stride : node->strides) stride = stride * integer(stride.type(), count);
    if (!node->strides.empty()) node->strides.push_back(integer(node->strides[0].type(), 1));
    if (node->elem_offset)
      node->elem_offset = node->elem_offset * integer(node->elem_offset.type(), count);
    node->offset_factor *= count;
    return buffers_[b] = out;
  }

  block mutate(const block& b) override {
    views_ += static_cast<int>(b->match_buffers.size());
    const block changed = mutator::mutate(b);
    views_ -= static_cast<int>(b->match_buffers.size());
    if (changed == b) return b;
    block_node out = *changed;
    for (buffer_region& r : out.reads) add_lanes(r);
    for (buffer_region& r : out.writes) add_lanes(r);
    for (match_buffer& m : out.match_buffers) add_lanes(m.source);
    return make_block(std::move(out));
  }

  stmt mutate(const stmt& s) override {
    if (const store_node* n = as_store(s)) return store(*n);
    if (const auto* n = s->kind == stmt_kind::let ? static_cast<const let_node*>(s.get()) : nullptr;
        n && is_vector(n->var.type()))
      return bind(n->var, n->value, [&] { return mutate(n->body); });
    if (const evaluate_node* n = as_evaluate(s); n && is_vector(n->value.type())) {
      std::vector<stmt> parts;
      for (int i = 0; i < count_of(n->value); ++i)
        parts.push_back(make_evaluate(lane(n->value, i)));
      return make_seq(std::move(parts));
    }
    return mutator::mutate(s);
  }

 private:
  static void need_fixed(dtype t) {
    if (is_scalable(t))
      throw argument_error(
          "type " + std::string(name(t)) +
          " has as many lanes as the machine wants; write a literal number of them");
  }
  static int count_of(const expr& e) {
    need_fixed(e.type());
    return lanes(e.type());
  }

  static void add_lanes(buffer_region& r) {
    if (r.box.size() == r.buffer->shape.size()) return;
    const expr& all = r.buffer->shape.back();
    r.box.push_back({integer(all.type(), 0), all});
  }

  /// The variables that hold the lanes of a vector variable.
  const std::vector<var>& lanes_of(const var& v) {
    std::vector<var>& known = vars_[v.get()];
    const int count = count_of(v);
    for (int i = static_cast<int>(known.size()); i < count; ++i)
      known.push_back(make_var(v->name + "_" + std::to_string(i), element_of(v.type())));
    return known;
  }

  template <class Body>
  stmt bind(const var& v, const expr& value, const Body& body) {
    std::vector<expr> values;
    for (int i = 0; i < count_of(v); ++i) values.push_back(lane(value, i));
    stmt out = body();
    const std::vector<var>& names = lanes_of(v);
    for (std::size_t i = values.size(); i-- > 0;)
      out = make_let(names[i], values[i], std::move(out));
    return out;
  }

  /// Lane i of a value; a scalar has the same one everywhere.
  expr lane(const expr& e, int i) {
    if (!is_vector(e.type())) return mutate(e);
    need_fixed(e.type());
    switch (e->op) {
      case op::var: return lanes_of(e)[static_cast<std::size_t>(i)];
      case op::load: return load_lane(e, i);
      case op::cast: return cast(element_of(e.type()), lane(e->args[0], i));
      case op::let: return let_lane(e, i);
      case op::call: return call_lane(e, i);
      default: return with_args(e, lane(e->args, i));
    }
  }

  std::vector<expr> lane(const std::vector<expr>& list, int i) {
    std::vector<expr> out;
    for (const expr& e : list) out.push_back(lane(e, i));
    return out;
  }

  std::vector<expr> place(const buffer& b, const std::vector<expr>& indices, int i) {
    const int inner = lanes(b->type);
    std::vector<expr> out = lane(indices, i / inner);
    if (inner > 1) out.push_back(integer(mutate(b)->shape.back().type(), i % inner));
    return out;
  }

  expr load_lane(const expr& e, int i) {
    return load(mutate(e->buffer), place(e->buffer, e->args, i));
  }

  expr let_lane(const expr& e, int i) {
    const var& v = e->args[0];
    if (!is_vector(v.type())) return let_in(v, mutate(e->args[1]), lane(e->args[2], i));
    expr out = lane(e->args[2], i);
    const std::vector<var>& names = lanes_of(v);
    for (int k = count_of(v); k-- > 0;)
      out = let_in(names[static_cast<std::size_t>(k)], lane(e->args[1], k), out);
    return out;
  }

  expr call_lane(const expr& e, int i) {
    const dtype scalar = element_of(e.type());
    const std::vector<expr>& args = e->args;
    if (e->name == "tir.Broadcast") return mutate(args[0]);
    if (e->name == "tir.Ramp") return mutate(args[0]) + mutate(args[1]) * integer(scalar, i);
    if (e->name == "tir.Shuffle" && args.size() == 2) return shuffled(args[0], args[1], i);
    if (e->name == "tir.vectorlow" && args.size() == 1) return lane(args[0], i);
    if (e->name == "tir.vectorhigh" && args.size() == 1)
      return lane(args[0], i + count_of(args[0]) - count_of(e));
    if (e->name == "tir.vectorcombine" && args.size() == 2) {
      const int first = count_of(args[0]);
      return i < first ? lane(args[0], i) : lane(args[1], i - first);
    }
    if (is_reinterpret(e) && lanes(args[0].type()) != lanes(e.type())) return bits_of_lane(e, i);
    const auto as_wide = [&](const expr& a) { return lanes(a.type()) == lanes(e.type()); };
    const bool by_lane = is_script_intrinsic(e->name) || e->name == "reinterpret";
    if (!by_lane || !support::all(args, as_wide))
      throw argument_error("call of " + e->name + " of type " + std::string(name(e.type())) +
                           " cannot be computed lane by lane");
    return call(scalar, e->name, lane(args, i));
  }

  static bool is_reinterpret(const expr& e) {
    return e->op == op::call && e->name == "reinterpret" && e->args.size() == 1;
  }

  /// Lane i of the bits of a value as another number of lanes; the first lane is the lowest.
  expr bits_of_lane(const expr& e, int i) {
    const expr& from = e->args[0];
    const int width = bits(e.type()), given = bits(from.type());
    if (width * count_of(e) != given * count_of(from) || (width % given && given % width))
      throw argument_error("the bits of " + std::string(name(from.type())) + " are not those of " +
                           std::string(name(e.type())));
    const auto as = [](dtype t, const expr& x) {
      return x.type() == t ? x : call(t, "reinterpret", {x});
    };
    const auto raw = [&](int k) { return as(integer_type(given, true), lane(from, k)); };
    const dtype word = integer_type(std::max(width, given), true);
    const auto shift = [&](const char* way, const expr& x, int by) {
      return by == 0 ? x : call(word, way, {x, integer(word, by)});
    };
    expr all;
    if (width < given) {
      const int each = given / width;
      all = cast(integer_type(width, true), shift("shift_right", raw(i / each), i % each * width));
    } else {
      const int each = width / given;
      for (int k = 0; k < each; ++k) {
        const expr part = shift("shift_left", cast(word, raw(i * each + k)), k * given);
        all = all ? call(word, "bitwise_or", {all, part}) : part;
      }
    }
    return as(element_of(e.type()), all);
  }

  expr shuffled(const expr& vectors, const expr& places, int i) {
    const std::vector<expr> from = tuple_items(vectors), at = tuple_items(places);
    const expr& wanted = at[static_cast<std::size_t>(i)];
    std::int64_t rest = is_int(wanted) ? wanted->integer : -1;
    for (const expr& v : from) {
      if (rest >= 0 && rest < count_of(v)) return lane(v, static_cast<int>(rest));
      rest -= count_of(v);
    }
    throw argument_error("T.Shuffle needs literal places within its vectors");
  }

  /// Lanes are stored when all are known, unless nothing that is stored is read.
  stmt store(const store_node& n) {
    const buffer to = mutate(n.buffer);
    if (!is_vector(access_type(n.buffer, n.indices)))
      return make_store(to, lane(n.indices, 0), mutate(n.value));
    const int count = count_of(n.value);
    bool overlaps = false;
    for_each_expr(n.value, [&](const expr& e) {
      overlaps = overlaps || (e->op == op::load && (e->buffer == n.buffer || views_ > 0));
    });
    const var held = make_var("lane", n.value.type());
    std::vector<stmt> parts;
    for (int i = 0; i < count; ++i)
      parts.push_back(make_store(to, place(n.buffer, n.indices, i),
                                 overlaps ? lane(held, i) : lane(n.value, i)));
    stmt all = make_seq(std::move(parts));
    return overlaps ? bind(held, n.value, [&] { return all; }) : all;
  }

  buffer_map buffers_;
  std::unordered_map<const expr_node*, std::vector<var>> vars_;
  int views_ = 0;  // matched around, any of which may be what is stored to
};

}  // namespace detail

TILEWRIGHT_INLINE bool has_vectors(const function& f) {
  bool found = false;
  for (const param& p : f.params)
    found = found || is_vector(p.buffer ? p.buffer->type : p.scalar.type());
  if (!f.body) return found;
  for_each_expr(f.body, [&](const expr& e) { found = found || is_vector(e.type()); });
  const auto look = [&](const buffer& b) { found = found || is_vector(b->type); };
  for_each_stmt(f.body, [&](const stmt& s) {
    if (const store_node* n = as_store(s)) look(n->buffer);
    if (const allocate_node* n = as_allocate(s)) look(n->buffer);
    if (const block_realize_node* n = as_realize(s)) {
      for (const buffer& b : n->block->alloc_buffers) look(b);
      for (const match_buffer& m : n->block->match_buffers) look(m.buffer);
    }
  });
  return found;
}

TILEWRIGHT_INLINE function scalarize(const function& f) {
  if (!has_vectors(f)) return f;
  detail::scalarizer change;
  function out = f;
  for (param& p : out.params) {
    if (p.buffer)
      p.buffer = change.mutate(p.buffer);
    else if (is_vector(p.scalar.type()))
      throw argument_error("parameter " + p.scalar->name + " of type " +
                           std::string(name(p.scalar.type())) + " needs to be a buffer");
  }
  if (out.body) out.body = change.mutate(f.body);
  return out;
}

}  // namespace tilewright::ir
