// Elements that several instances of a block write, found by running through instances.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/store_elements.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Runs through values of the spatial variables that the places of a region follow: all of them, or
/// as many from both ends of each domain as `most` instances allow. Where the box does not say what
/// an instance writes, its stores do.
class repeated_elements {
 public:
  repeated_elements(const ir::block_node& block, const ir::buffer_region& region)
      : block_(block), region_(region) {
    // a declared region may be larger than the element that a block stores
    const ir::store_node* store = ir::as_store(block.body);
    if (store && store->buffer == region.buffer) region_.box = ir::point_box(store->indices);
    for (const ir::iter_var& v : block.iters) add(v);
  }

  /// No element is written twice: proved where all instances could be run through.
  apartness apart() {
    if (is_vague()) return apart_as_stored();
    if (!constant_ || support::any(region_.box, [](const ir::range& d) {
          return !ir::is_int(d.extent) || ir::reads_memory(d.min);
        }))
      return apartness::believed;
    shorten();
    run(0, [&] { note(0, {}); });
    return answer();
  }

 private:
  static constexpr std::int64_t most = 4096;

  struct axis {
    ir::var v;
    std::int64_t min, extent, low, high;  // as many values from either end
  };

  /// Whether the size of the box follows variables, or some are not in it at all.
  bool is_vague() const {
    const auto places = [&](const ir::iter_var& v) {
      return v.kind != ir::iter_kind::spatial ||
             support::any(axes_, [&](const axis& a) { return a.v.same(v.var); });
    };
    const auto is_point = [](const ir::range& d) { return ir::is_int(d.extent, 1); };
    return support::any(region_.box, [](const ir::range& d) { return !ir::is_int(d.extent); }) ||
           (constant_ && !support::all(block_.iters, places) &&
            !support::all(region_.box, is_point));
  }
  apartness apart_as_stored() {
    axes_.clear();
    for (const ir::iter_var& v : block_.iters) {
      if (!ir::is_int(v.dom.min) || !ir::is_int(v.dom.extent)) return apartness::believed;
      add_constant(v);
    }
    region_.box.clear();
    shorten();
    bool known = true;
    run(0, [&] {
      if (!known || is_full()) return;
      stored_elements one(region_.buffer, values_, most);
      known = one.collect(block_.init) && one.collect(block_.body);
      for (std::vector<std::int64_t>& e : one.take()) elements_.push_back(std::move(e));
    });
    if (known) return answer();
    return stores_anyway(block_.body, {}) ? apartness::none : apartness::believed;
  }

  /// Whether some store goes to the same elements whatever the instance, as that of a copy of all of the buffer does:
  /// its indices read no memory, and follow neither the block's variables nor `with`, what follows these.
  bool stores_anyway(const ir::stmt& s, ir::var_set with) const {
    const auto follows = [&](const ir::expr& e) {
      return ir::reads_memory(e) || ir::uses_any(e, with) ||
             support::any(block_.iters,
                          [&](const ir::iter_var& v) { return ir::uses_var(e, v.var); });
    };
    const auto in_all = [&](const std::vector<ir::expr>& list) {
      return support::none(list, follows);
    };
    switch (s->kind) {
      case ir::stmt_kind::store:
        return ir::as_store(s)->buffer == region_.buffer && in_all(ir::as_store(s)->indices);
      case ir::stmt_kind::loop: {
        const ir::loop_node& l = *ir::as_loop(s);
        if (!in_all({l.min, l.extent})) with.insert(l.var);
        return stores_anyway(l.body, std::move(with));
      }
      case ir::stmt_kind::block_realize: {
        const ir::block_realize_node& r = *ir::as_realize(s);
        if (!in_all({r.predicate})) return false;
        ir::var_set inside = with;
        for (std::size_t i = 0; i < r.values.size(); ++i)
          if (!in_all({r.values[i]})) inside.insert(r.block->iters[i].var);
        return stores_anyway(r.block->body, std::move(inside));
      }
      case ir::stmt_kind::seq:
        return support::any(ir::as_seq(s)->stmts,
                            [&](const ir::stmt& child) { return stores_anyway(child, with); });
      default: return false;
    }
  }

  bool is_full() {
    if (static_cast<std::int64_t>(elements_.size()) <= most) return false;
    all_ = false;
    return true;
  }
  apartness answer() {
    std::sort(elements_.begin(), elements_.end());
    if (std::adjacent_find(elements_.begin(), elements_.end()) != elements_.end())
      return apartness::none;
    return all_ ? apartness::proved : apartness::believed;
  }

  void add(const ir::iter_var& v) {
    const bool constant = ir::is_int(v.dom.min) && ir::is_int(v.dom.extent);
    const bool occurs =
        support::any(region_.box, [&](const ir::range& d) { return ir::uses_var(d.min, v.var); });
    if (!occurs) return;
    constant_ = constant_ && constant;
    if (constant) add_constant(v);
  }
  void add_constant(const ir::iter_var& v) {
    const std::int64_t count = v.kind == ir::iter_kind::spatial ? ir::as_int(v.dom.extent) : 1;
    all_ = all_ && count == ir::as_int(v.dom.extent);
    axes_.push_back({v.var, ir::as_int(v.dom.min), count, count, 0});
  }

  /// Halves the longest axes until few instances are left.
  void shorten() {
    const auto count = [](const axis& a) { return a.low + a.high; };
    const auto elements = [&] {
      std::int64_t all = 1;
      for (const axis& a : axes_)
        all = std::min(most + 1, all * std::max<std::int64_t>(count(a), 1));
      for (const ir::range& d : region_.box)
        all = std::min(most + 1, all * std::max<std::int64_t>(ir::as_int(d.extent), 1));
      return all;
    };
    while (elements() > most) {
      const auto longest =
          std::max_element(axes_.begin(), axes_.end(),
                           [&](const axis& a, const axis& b) { return count(a) < count(b); });
      if (longest == axes_.end() || count(*longest) < 2) break;
      const std::int64_t kept = count(*longest) / 2;
      all_ = false;
      longest->low = kept - kept / 2;
      longest->high = kept / 2;
    }
  }

  template <class Each>
  void run(std::size_t at, const Each& each) {
    if (at == axes_.size()) return each();
    const axis& a = axes_[at];
    for (std::int64_t i = 0; i < a.low + a.high; ++i) {
      const std::int64_t value = a.min + (i < a.low ? i : a.extent - a.high + (i - a.low));
      values_[a.v] = ir::integer(a.v.type(), value);
      run(at + 1, each);
    }
  }

  /// All elements of the box from dimension `d` on.
  void note(std::size_t d, std::vector<std::int64_t> element) {
    if (is_full()) return;
    if (d == region_.box.size()) {
      elements_.push_back(std::move(element));
      return;
    }
    const ir::expr place = ir::substitute(region_.box[d].min, values_);
    if (!ir::is_int(place)) {  // an operator that is not computed here
      all_ = false;
      return;
    }
    element.push_back(ir::as_int(place));
    for (std::int64_t i = 0; i < ir::as_int(region_.box[d].extent); ++i, ++element.back())
      note(d + 1, element);
  }

  const ir::block_node& block_;
  ir::buffer_region region_;
  bool constant_ = true;
  bool all_ = true;  // instances and elements were run through
  std::vector<axis> axes_;
  ir::var_map values_;
  std::vector<std::vector<std::int64_t>> elements_;
};

}  // namespace tilewright::dependence
