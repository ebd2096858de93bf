// How what a copy touches lies in the device's memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/async_copy.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::copies {

using namespace tilewright::ir;

/// The one access of an element to the device's memory, as the number of elements in front of it; nothing is known of
/// statements with several.
class memory_order {
 public:
  explicit memory_order(const stmt& element) {
    int accesses = 0;
    const auto note = [&](const buffer& b, const std::vector<expr>& at) {
      if (storage_rank(b->scope) != 0) return;
      ++accesses;
      place_ = arith::to_linear(arith::simplify(async_copies::offset_of(b, at)));
      alignment_ = b->alignment;
    };
    for_each_stmt(element, [&](const stmt& s) {
      if (const store_node* to = as_store(s)) note(to->buffer, to->indices);
    });
    for_each_expr(element, [&](const expr& e) {
      if (e->op == op::load) note(e->buffer, e->args);
    });
    if (accesses != 1) place_.reset();
  }

  /// The loop whose steps go from one element to the next becomes the innermost one.
  void sort(std::vector<const loop_node*>& loops) const {
    const auto steps = [&](const loop_node* l) { return place_ && coefficient(l->var) == 1; };
    const auto at = std::find_if(loops.begin(), loops.end(), steps);
    if (at != loops.end() && !steps(loops.back())) std::rotate(at, at + 1, loops.end());
  }

  /// `width` elements along the loop, fewer where accesses of so many would not begin at multiples of their bytes: as many as
  /// can be copied at once, or what makes up the four bytes of a bank.
  std::int64_t narrowed(std::int64_t width, std::int64_t bytes, const var& inner) const {
    constexpr std::int64_t bank = 4;
    if (!place_ || coefficient(inner) != 1) return width;
    const auto is_whole = [&](std::int64_t n) {
      return alignment_ % (n * bytes) == 0 && place_->constant % n == 0 &&
             support::all(place_->terms, [&](const auto& t) {
               return t.second % n == 0 || (t.second == 1 && is(t.first, inner));
             });
    };
    while (width * bytes > bank && width % 2 == 0 && !is_whole(width)) width /= 2;
    return width;
  }

 private:
  static bool is(const expr& term, const var& v) {
    return arith::same_value(term, v) ||
           (term->op == op::cast && arith::same_value(term->args[0], v));
  }

  /// Of the variable, where it stands in no other term.
  std::int64_t coefficient(const var& v) const {
    std::int64_t out = 0;
    for (const auto& [term, factor] : place_->terms) {
      if (!uses_var(term, v)) continue;
      if (out != 0 || !is(term, v)) return 0;
      out = factor;
    }
    return out;
  }

  std::optional<arith::linear> place_;
  std::int64_t alignment_ = 0;
};

}  // namespace tilewright::pass::detail::copies
