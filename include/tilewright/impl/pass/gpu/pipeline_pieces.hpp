// What pipelines are made of: the lists that say which statement runs when, statements with what is allocated around
// them, what a statement does to buffers, and buffers with several versions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/pass/gpu/shared_alignment.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::pipelining {

using namespace tilewright::ir;

inline constexpr const char* stage_key = "software_pipeline_stage";
inline constexpr const char* order_key = "software_pipeline_order";
inline constexpr const char* async_key = "software_pipeline_async_stages";
inline constexpr const char* rest_key = "software_pipeline_rest";

using numbers = std::vector<std::int64_t>;

/// The numbers of an annotation; none where it is no list of such.
inline numbers numbers_of(const loop_node& loop, const char* key) {
  numbers out;
  const auto found = loop.annotations.find(key);
  if (found == loop.annotations.end()) return out;
  const auto* list = std::get_if<attr::list>(&found->second.value);
  if (!list) return out;
  for (const attr& a : *list) {
    const auto* n = std::get_if<std::int64_t>(&a.value);
    if (!n) return {};
    out.push_back(*n);
  }
  return out;
}

/// Statements in order, and what is allocated around them.
struct pieces {
  std::vector<stmt> statements;
  std::vector<buffer> buffers;

  stmt whole() const {
    stmt out = make_seq(statements);
    for (const buffer& b : buffers) out = make_allocate(b, std::move(out));
    return out;
  }
};

/// What a statement does to each buffer.
struct effects {
  buffer_set written, touched;

  explicit effects(const stmt& s) : written(stored_buffers(s)), touched(loaded_buffers(s)) {
    for_each_expr(s, [&](const expr& e) {
      // a product changes its sums, a load of matrices its fragments, which come first
      if (e->op == op::call && !e->args.empty() && e->args[0]->op == op::load &&
          e->name.rfind("tw_", 0) == 0)
        written.insert(e->args[0]->buffer);
    });
    touched.insert(written.begin(), written.end());
  }
};

/// The statements of a loop in the order of a round.
/// @throws build_error where the annotations give none
inline std::vector<std::size_t> positions(const loop_node& loop, const numbers& stage,
                                          const numbers& order) {
  std::vector<std::size_t> out(order.size());
  std::vector<bool> seen(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<std::size_t>(order[i]);
    if (order[i] < 0 || at >= out.size() || seen[at] || stage[i] < 0)
      throw build_error("loop " + loop.var->name +
                        ": software_pipeline_order is no permutation of its statements, or a stage "
                        "is negative");
    seen[at] = true;
    out[at] = i;
  }
  return out;
}

/// Elements of the leading dimension that a statement touches; nothing where they are not literal.
inline std::optional<std::vector<std::int64_t>> leading_elements(const stmt& s, const buffer& b) {
  std::vector<std::int64_t> out;
  bool literal = true;
  const auto add = [&](const buffer& x, const std::vector<expr>& at) {
    if (x != b) return;
    literal = literal && !at.empty() && is_int(at[0]);
    if (literal) out.push_back(as_int(at[0]));
  };
  for_each_stmt(s, [&](const stmt& x) {
    if (const store_node* store = as_store(x)) add(store->buffer, store->indices);
  });
  for_each_expr(s, [&](const expr& e) {
    if (e->op == op::load) add(e->buffer, e->args);
  });
  return literal ? std::optional(out) : std::nullopt;
}

/// So many buffers one behind the other.
inline buffer with_versions(const buffer& b, std::int64_t count) {
  buffer_node node = *b;
  node.shape.insert(node.shape.begin(), integer(dtype::i32, count));
  if (storage_rank(b->scope) == 1 || !b->strides.empty()) {
    std::int64_t step = 1;
    if (b->strides.empty()) {
      std::vector<expr> strides(b->shape.size());
      for (std::size_t d = b->shape.size(); d-- > 0; step *= as_int(b->shape[d]))
        strides[d] = integer(dtype::i32, step);
      node.strides = std::move(strides);
    }
    // each version begins where rows of 128 bytes do, or eight of them
    const std::int64_t unit = shared_alignment(*b),
                       line = std::max<std::int64_t>(unit / bytes(b->type), 1);
    step = (constant_size(b) + line - 1) / line * line;
    node.strides.insert(node.strides.begin(), integer(dtype::i32, step));
  }
  return buffer(new buffer_node(std::move(node)));
}

/// A statement of one iteration: with loops, lets and allocations of its own, the iteration's number for the loop's
/// variable, and one more index in front where buffers have versions.
class of_iteration : public rerouting {
 public:
  /// @param index [buffers with versions] the iteration's version
  of_iteration(const var& v, expr number, const buffer_map& versions,
               std::unordered_map<buffer, expr> index)
      : values_{{v, std::move(number)}}, versions_(versions), index_(std::move(index)) {}
  using rerouting::mutate;

  expr mutate(const expr& e) override {
    if (e->op != op::var) return rerouting::mutate(e);
    const auto found = values_.find(e);
    return found == values_.end() ? e : found->second;
  }

  stmt mutate(const stmt& s) override {
    if (const loop_node* loop = as_loop(s)) {
      auto* node = new loop_node(*loop);
      stmt owner(node);
      node->min = mutate(loop->min);
      node->extent = mutate(loop->extent);
      node->var = fresh(loop->var);
      node->body = mutate(loop->body);
      return owner;
    }
    if (const let_node* let = as_let(s)) {
      expr value = mutate(let->value);
      const var v = fresh(let->var);
      return make_let(v, std::move(value), mutate(let->body));
    }
    if (const allocate_node* n = as_allocate(s))
      own_[n->buffer] = buffer(new buffer_node(*n->buffer));
    return rerouting::mutate(s);
  }

  buffer mutate(const buffer& b) override {
    const auto found = own_.find(b);
    return found == own_.end() ? b : found->second;
  }

 private:
  bool reroutes(const buffer& b) const override { return versions_.count(b) != 0; }
  buffer_element rerouted(const buffer& b, std::vector<expr> indices) override {
    indices.insert(indices.begin(), index_.at(b));
    return {versions_.at(b), std::move(indices)};
  }
  const var& fresh(const var& v) { return values_[v] = make_var(v->name, v.type()); }

  var_map values_;
  buffer_map own_;
  const buffer_map& versions_;
  std::unordered_map<buffer, expr> index_;
};

}  // namespace tilewright::pass::detail::pipelining
