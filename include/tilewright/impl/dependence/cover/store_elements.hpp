// Elements that a statement stores, found by running through its loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// The elements of a buffer that a statement stores, its free variables having values.
class stored_elements {
 public:
  stored_elements(ir::buffer x, ir::var_map values, std::size_t most)
      : buffer_(std::move(x)), values_(std::move(values)), most_(most) {}

  /// False where some are not known, or finding them takes more steps than asked for.
  bool collect(const ir::stmt& s) {
    if (!s) return true;
    if (++steps_ > most_) return false;
    if (const ir::store_node* store = ir::as_store(s))
      return store->buffer != buffer_ || note(store->indices);
    if (const ir::seq_node* seq = ir::as_seq(s))
      return support::all(seq->stmts, [&](const ir::stmt& x) { return collect(x); });
    if (const ir::loop_node* loop = ir::as_loop(s)) return collect_each(*loop);
    if (const ir::block_realize_node* r = ir::as_realize(s)) return collect_block(*r);
    if (const ir::if_node* branch = ir::as_if(s)) {
      const ir::expr taken = at(branch->condition);
      return ir::is_int(taken) &&
             collect(ir::is_int(taken, 0) ? branch->else_body : branch->then_body);
    }
    return false;
  }
  /// Each once.
  std::vector<std::vector<std::int64_t>> take() {
    std::sort(elements_.begin(), elements_.end());
    elements_.erase(std::unique(elements_.begin(), elements_.end()), elements_.end());
    return std::move(elements_);
  }

 private:
  ir::expr at(const ir::expr& e) const { return ir::substitute(e, values_); }

  bool note(const std::vector<ir::expr>& indices) {
    std::vector<std::int64_t> element;
    for (const ir::expr& e : indices) {
      const ir::expr place = at(e);
      if (!ir::is_int(place)) return false;
      element.push_back(ir::as_int(place));
    }
    elements_.push_back(std::move(element));
    return true;
  }
  bool collect_each(const ir::loop_node& loop) {
    const ir::expr min = at(loop.min), extent = at(loop.extent);
    if (!ir::is_int(min) || !ir::is_int(extent)) return false;
    for (std::int64_t i = 0; i < ir::as_int(extent); ++i) {
      values_[loop.var] = ir::integer(loop.var.type(), ir::as_int(min) + i);
      if (!collect(loop.body)) return false;
    }
    return true;
  }
  bool collect_block(const ir::block_realize_node& r) {
    const ir::expr runs = at(r.predicate);
    if (ir::is_int(runs, 0)) return true;
    if (!ir::is_int(runs) || !r.block->match_buffers.empty()) return false;
    for (std::size_t i = 0; i < r.values.size(); ++i)
      values_[r.block->iters[i].var] = at(r.values[i]);
    return collect(r.block->init) && collect(r.block->body);
  }

  ir::buffer buffer_;
  ir::var_map values_;
  std::size_t most_, steps_ = 0;
  std::vector<std::vector<std::int64_t>> elements_;
};

}  // namespace tilewright::dependence
