// What the iterations of a reduction have in common: elements of windows that move by less than they reach.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/unrolled_size.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass::detail {

/// Loads of one iteration of a reduction: in how many registers they stand, and how many of these the next
/// iteration loads again.
struct iteration_loads {
  std::int64_t vectors = 0;  // lanes along a vectorized loop
  std::int64_t common = 0;   // scalars of both iterations, but what is guarded
};

/// Counts the loads of an iteration of `reduction`, whose body has no loops but unrolled and vectorized ones.
/// Loads that stay from iteration to iteration are left out: sums, that is.
class load_counter {
 public:
  load_counter(const ir::loop_node& reduction, const target::cpu& target)
      : reduction_(reduction), target_(target) {}

  iteration_loads count() {
    visit(reduction_.body);
    return out_;
  }

 private:
  static constexpr std::int64_t most_elements = 256;

  void visit(const ir::stmt& s) {
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      loops_.push_back(loop);
      visit(loop->body);
      loops_.pop_back();
    } else if (const ir::seq_node* seq = ir::as_seq(s)) {
      for (const ir::stmt& child : seq->stmts) visit(child);
    } else if (const ir::if_node* guard = ir::as_if(s)) {
      ++guards_;
      visit(guard->then_body);
      --guards_;
    } else if (ir::as_store(s)) {
      ir::for_each_expr(s, [&](const ir::expr& e) {
        if (e->op == ir::op::load && ir::uses_var(e, reduction_.var)) add(e);
      });
    }
  }

  void add(const ir::expr& read) {
    std::vector<const ir::loop_node*> moving;  // unrolled loops that move the element
    std::int64_t lanes = 0, elements = 1;
    for (const ir::loop_node* loop : loops_) {
      if (!ir::uses_var(read, loop->var)) continue;
      if (loop->loop == ir::loop_kind::vectorized) {
        lanes = constant_extent(*loop);
        continue;
      }
      moving.push_back(loop);
      elements *= unrolled_times(*loop);
    }
    if (elements > most_elements) return;
    if (lanes > 0) {
      const std::int64_t whole = target_.lanes(read.type());
      out_.vectors += elements * ((lanes + whole - 1) / whole);
      return;
    }
    if (guards_ == 0) out_.common += common(read, moving);
  }

  /// How many elements `read` has both now and an iteration later.
  std::int64_t common(const ir::expr& read, const std::vector<const ir::loop_node*>& moving) const {
    std::set<std::vector<std::int64_t>> now{std::vector<std::int64_t>(read->args.size(), 0)};
    std::vector<std::int64_t> later(read->args.size(), 0);
    std::vector<arith::linear> indices;
    for (const ir::expr& index : read->args) indices.push_back(arith::to_linear(index));
    for (std::size_t d = 0; d < indices.size(); ++d)
      later[d] = indices[d].coefficient(reduction_.var);
    for (const ir::loop_node* loop : moving) {
      std::set<std::vector<std::int64_t>> moved;
      for (const std::vector<std::int64_t>& from : now)
        for (std::int64_t step = 0; step < unrolled_times(*loop); ++step) {
          std::vector<std::int64_t> to = from;
          for (std::size_t d = 0; d < indices.size(); ++d)
            to[d] += step * indices[d].coefficient(loop->var);
          moved.insert(std::move(to));
        }
      now = std::move(moved);
    }
    std::int64_t out = 0;
    for (const std::vector<std::int64_t>& element : now) {
      std::vector<std::int64_t> then = element;
      for (std::size_t d = 0; d < then.size(); ++d) then[d] += later[d];
      out += then != element && now.count(then) ? 1 : 0;
    }
    return out;
  }

  const ir::loop_node& reduction_;
  const target::cpu& target_;
  std::vector<const ir::loop_node*> loops_;
  int guards_ = 0;  // around what is visited: each iteration may leave out another part
  iteration_loads out_;
};

}  // namespace tilewright::pass::detail
