// Quotients of vectors by divisors that several of them share, as the coordinates of a vector that is normalized.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::backend::llvm {

/// The quotients of floats in a statement at least three of which have equal divisors, in code that no loop
/// interrupts: repetitions of short loops that change the numerator alone, or terms written one after the other.
class shared_quotients : ir::visitor {
 public:
  explicit shared_quotients(const ir::stmt& whole) {
    visit(whole);
    close(0);
  }

  bool has(const ir::expr& quotient) const { return shared_.count(quotient.get()) != 0; }

 private:
  static constexpr std::int64_t least =
      3;  // two take no longer than a reciprocal and products by it
  static constexpr std::size_t most = 32;  // of a stretch that are compared with each other

  /// A quotient, and how many are taken with its divisor when it is emitted.
  struct written {
    ir::expr quotient;
    std::int64_t times;
  };
  /// A loop around that is written out, and what its iterations have each for themselves.
  struct repetition {
    std::int64_t times;
    ir::var_set variables;
    std::unordered_set<const ir::buffer_node*> buffers;

    explicit repetition(const ir::loop_node& loop)
        : times(ir::as_int(loop.extent)), variables{loop.var} {
      ir::for_each_stmt(loop.body, [&](const ir::stmt& s) {
        if (const auto* let = ir::as_let(s)) variables.insert(let->var);
        if (const auto* store = ir::as_store(s)) buffers.insert(store->buffer.get());
      });
    }
    bool changes(const ir::expr& e) const {
      bool out = false;
      ir::for_each_expr(e, [&](const ir::expr& part) {
        out = out || variables.count(part) != 0 ||
              (part->op == ir::op::load && buffers.count(part->buffer.get()) != 0);
      });
      return out;
    }
  };

  /// Whether the loop is straight code, or goes over a few channels, which are emitted so or hoist the reciprocal.
  static bool is_written_out(const ir::loop_node& loop) {
    constexpr std::int64_t most_channels = 8;
    return ir::is_int(loop.extent) &&
           (loop.loop == ir::loop_kind::unrolled ||
            (loop.loop == ir::loop_kind::serial && ir::as_int(loop.extent) <= most_channels));
  }

  using visitor::visit;

  void visit(const ir::stmt& s) override {
    const ir::loop_node* loop = ir::as_loop(s);
    if (!loop || loop->loop == ir::loop_kind::vectorized) return visitor::visit(s);
    if (is_written_out(*loop)) {
      around_.emplace_back(*loop);
      visitor::visit(s);
      around_.pop_back();
      return;
    }
    const std::size_t before = found_.size();
    std::vector<repetition> outside = std::exchange(around_, {});
    visitor::visit(s);
    close(before);
    around_ = std::move(outside);
  }

  void visit(const ir::expr& e) override {
    if (e->op == ir::op::div && is_float(e.type())) {
      std::int64_t times = 1;
      for (const repetition& each : around_)
        if (each.changes(e->args[0]) && !each.changes(e->args[1])) times *= each.times;
      found_.push_back({e, times});
    }
    visitor::visit(e);
  }

  /// Ends a stretch of code, the quotients of which begin with number `first`.
  void close(std::size_t first) {
    for (std::size_t i = first; i < found_.size() && found_.size() - first <= most; ++i) {
      std::int64_t times = 0;
      std::vector<ir::expr> numerators;
      for (std::size_t j = first; j < found_.size(); ++j) {
        const ir::expr& other = found_[j].quotient;
        if (!arith::same_value(other->args[1], found_[i].quotient->args[1])) continue;
        if (std::any_of(numerators.begin(), numerators.end(), [&](const ir::expr& known) {
              return arith::same_value(known, other->args[0]);
            }))
          continue;
        numerators.push_back(other->args[0]);
        times += found_[j].times;
      }
      if (times >= least) shared_.insert(found_[i].quotient.get());
    }
    found_.resize(first);
  }

  std::vector<repetition> around_;
  std::vector<written> found_;
  std::unordered_set<const ir::expr_node*> shared_;
};

}  // namespace tilewright::backend::llvm
