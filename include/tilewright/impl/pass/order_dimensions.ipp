#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/pass/order_dimensions.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::pass {
namespace detail::dimension_order {

using weights = std::vector<double>;  // [rank], vector accesses that move along the dimension

inline constexpr double symbolic_trips = 64;

/// Counts the vectorized accesses of every buffer by the dimension they move along.
class survey : public ir::visitor {
 public:
  using ir::visitor::visit;

  void visit(const ir::stmt& s) override {
    if (const ir::loop_node* l = ir::as_loop(s)) return enter(*l);
    if (const ir::store_node* store = ir::as_store(s)) count(store->buffer, store->indices);
    ir::visitor::visit(s);
  }
  void visit(const ir::expr& e) override {
    if (e->op == ir::op::load) count(e->buffer, e->args);
    if (e->op == ir::op::call && (e->name == "dot4" || e->name == "dot2" || e->name == "sad8"))
      return visit_dot(*e);
    ir::visitor::visit(e);
  }

  /// The dimension to put last; -1 where it is the last already, or nothing moves.
  int choice(const ir::buffer& b) const {
    const auto found = along_.find(b);
    if (found == along_.end()) return -1;
    const weights& w = found->second;
    const auto best = std::max_element(w.begin(), w.end()) - w.begin();
    const std::size_t last = w.size() - 1;
    return w[static_cast<std::size_t>(best)] > w[last] ? static_cast<int>(best) : -1;
  }

 private:
  void enter(const ir::loop_node& l) {
    const std::int64_t extent = constant_extent(l);
    const double before = trips_;
    trips_ *= extent > 0 ? static_cast<double>(extent) : symbolic_trips;
    const bool vector = l.loop == ir::loop_kind::vectorized;
    if (vector) vectors_.push_back(l.var);
    visit(l.body);
    if (vector) vectors_.pop_back();
    trips_ = before;
  }

  /// The factors of a short dot product are packed: elements side by side are what one lane takes.
  void visit_dot(const ir::expr_node& dot) {
    visit(dot.args[0]);
    for (std::size_t i = 1; i < dot.args.size(); ++i) visit_packed(dot.args[i]);
  }

  void visit_packed(const ir::expr& factor) {
    if (factor->op == ir::op::call && ir::detail::works_on_bits(factor->name)) {
      for (const ir::expr& part : factor->args) visit_packed(part);
      return;
    }
    if (factor->op != ir::op::load || factor->args.size() < 2)
      visit(factor);
    else
      keep_order(factor->buffer, factor->args.size());
  }

  void count(const ir::buffer& b, const std::vector<ir::expr>& indices) {
    if (indices.size() < 2) return;
    for (const ir::var& v : vectors_) {
      std::vector<std::size_t> moved;
      for (std::size_t d = 0; d < indices.size(); ++d)
        if (ir::uses_var(indices[d], v)) moved.push_back(d);
      // lanes that run over the last dimension and those before it want them as they are
      if (moved.size() > 1 && moved.back() + 1 == indices.size()) keep_order(b, indices.size());
      if (moved.size() != 1) continue;
      const std::int64_t by = arith::to_linear(indices[moved[0]]).coefficient(v);
      if (by < 1 || by > target::cheap_lane_step) continue;
      weights& w = along_[b];
      w.resize(indices.size());
      w[moved[0]] += trips_;
    }
  }

  void keep_order(const ir::buffer& b, std::size_t dimensions) {
    weights& w = along_[b];
    w.resize(dimensions);
    w.back() += trips_;
  }

  std::unordered_map<ir::buffer, weights> along_;
  std::vector<ir::var> vectors_;
  double trips_ = 1;
};

template <class T>
std::vector<T> with_last(std::vector<T> list, int d) {
  std::rotate(list.begin() + d, list.begin() + d + 1, list.end());
  return list;
}

/// Rewrites allocations and accesses.
class reordering : public ir::rerouting {
 public:
  explicit reordering(const survey& wanted) : wanted_(wanted) {}

  using ir::rerouting::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::allocate_node* a = ir::as_allocate(s);
    return a ? allocation(*a) : ir::rerouting::mutate(s);
  }

 private:
  struct change {
    ir::buffer buffer;
    int last = 0;
  };

  bool reroutes(const ir::buffer& b) const override { return moved_.count(b) != 0; }
  ir::buffer_element rerouted(const ir::buffer& b, std::vector<ir::expr> indices) override {
    const change& now = moved_.at(b);
    return {now.buffer, with_last(std::move(indices), now.last)};
  }

  ir::stmt allocation(const ir::allocate_node& a) {
    const int last = wanted_.choice(a.buffer);
    if (last < 0 || !a.buffer->strides.empty() || is_handed_out(a))
      return ir::make_allocate(a.buffer, mutate(a.body));
    ir::buffer_node node = *a.buffer;
    node.shape = with_last(node.shape, last);
    const ir::buffer b(new ir::buffer_node(std::move(node)));
    moved_[a.buffer] = {b, last};
    return ir::make_allocate(b, mutate(a.body));
  }

  /// Whether something else than loads and stores knows the buffer.
  static bool is_handed_out(const ir::allocate_node& a) {
    bool out = false;
    ir::for_each_expr(a.body, [&](const ir::expr& e) {
      out = out || (e->op != ir::op::load && e->buffer == a.buffer);
    });
    return out;
  }

  const survey& wanted_;
  std::unordered_map<ir::buffer, change> moved_;
};

}  // namespace detail::dimension_order

TILEWRIGHT_INLINE ir::function order_dimensions(const ir::function& f) {
  detail::dimension_order::survey wanted;
  wanted.visit(f.body);
  ir::function out = f;
  out.body = detail::dimension_order::reordering(wanted).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
