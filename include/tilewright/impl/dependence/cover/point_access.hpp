// Blocks that touch a buffer at one point per instance: which point, and a layout that follows it.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/iter_map.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence::point_access {

/// All accesses to a buffer in a block.
class collector : public ir::visitor {
 public:
  explicit collector(ir::buffer x) : x_(std::move(x)) {}
  using ir::visitor::visit;

  void visit(const ir::expr& e) override {
    if (e->op == ir::op::load && e->buffer == x_) add(e->args);
    if (e->op == ir::op::data && e->buffer == x_) opaque = true;
    if (e->op == ir::op::if_then_else || e->op == ir::op::logical_and ||
        e->op == ir::op::logical_or)
      conditional = true;
    ir::visitor::visit(e);
  }
  void visit(const ir::stmt& s) override {
    if (const ir::store_node* store = ir::as_store(s); store && store->buffer == x_)
      add(store->indices);
    if (ir::as_if(s) || ir::as_while(s) || ir::as_loop(s)) conditional = true;
    ir::visitor::visit(s);
  }
  void visit(const ir::block& b) override {
    for (const ir::match_buffer& m : b->match_buffers)
      if (m.source.buffer == x_) opaque = true;
    ir::visitor::visit(b);
  }

  std::optional<std::vector<ir::expr>> indices;  // of all accesses
  bool differ = false;                           // there are several tuples
  bool opaque = false;                           // its address is taken, or a part of it is matched
  bool conditional = false;                      // something in the block may not happen

 private:
  void add(const std::vector<ir::expr>& at) {
    if (!indices) {
      indices = at;
      return;
    }
    for (std::size_t d = 0; d < at.size(); ++d) differ = differ || !ir::equal(at[d], (*indices)[d]);
  }

  ir::buffer x_;
};

inline collector accesses(const ir::block& b, const ir::buffer& x) {
  collector out(x);
  out.visit(b);
  return out;
}

/// Positions of the iteration variables that occur in the expressions.
inline std::vector<std::size_t> iters_of(const ir::block_node& b,
                                         const std::vector<ir::expr>& list) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < b.iters.size(); ++i)
    if (support::any(list, [&](const ir::expr& e) { return ir::uses_var(e, b.iters[i].var); }))
      out.push_back(i);
  return out;
}

/// Whether every index lies in the buffer for all values of the iteration variables.
inline bool inside(const ir::block_node& b, const ir::buffer& x, const std::vector<ir::expr>& at) {
  return is_inside(x, at, knowing(b.iters));
}

/// Whether instances of the block, all different, access different elements at the indices, each
/// one. `writes_once` believes that of what is loaded; where instances change places, it must be
/// certain.
inline bool instances_apart(const ir::block_node& b, const std::vector<ir::expr>& at) {
  return arith::detect_iter_map(at, domains(b.iters), ir::boolean(true),
                                arith::iter_map_level::bijective, {})
      .has_value();
}

/// Regions of the loads in index expressions, and of the point itself.
inline std::vector<ir::buffer_region> reads_of(const ir::expr& value) {
  std::vector<ir::buffer_region> out;
  ir::for_each_expr(value, [&](const ir::expr& e) {
    if (e->op == ir::op::load) out.push_back({e->buffer, ir::point_box(e->args)});
  });
  return out;
}

/// Index tensors that place an element: they must say the same to a block and to the copy beside it.
/// A block that may write one in between, or in a loop of the block that is none of the copy's; -1
/// if there is none.
inline int changer_of_places(const block_scope& scope, std::size_t self, std::size_t copy,
                             const std::vector<ir::expr>& indices) {
  const std::size_t common = scope.common_loops(self, copy);
  for (const ir::expr& e : indices)
    for (const ir::buffer_region& r : reads_of(e))
      for (std::size_t w = 0; w < scope.size(); ++w) {
        const bool changes = ir::writes_buffer(scope[w].block(), r.buffer);
        const bool between = std::min(self, copy) < w && w < std::max(self, copy);
        if (changes && (w == self || between || scope.common_loops(w, self) > common))
          return static_cast<int>(w);
      }
  return -1;
}

/// The accesses to one buffer go to given indices of another.
class replacer : public ir::rerouting {
 public:
  replacer(ir::buffer from, ir::buffer to, std::vector<ir::expr> indices)
      : from_(std::move(from)), to_(std::move(to)), indices_(std::move(indices)) {}

 private:
  bool reroutes(const ir::buffer& b) const override { return b == from_; }
  ir::buffer_element rerouted(const ir::buffer&, std::vector<ir::expr>) override {
    return {to_, indices_};
  }
  ir::buffer_region rerouted_region(ir::buffer_region) override {
    return {to_, ir::point_box(indices_)};
  }

  ir::buffer from_, to_;
  std::vector<ir::expr> indices_;
};

}  // namespace tilewright::dependence::point_access
