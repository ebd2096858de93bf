// Loads of one statement whose lanes read elements side by side, wherever these lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/expr.hpp>

namespace tilewright::backend::llvm {
namespace detail {

/// b - a where it is one number for all values; also of two sums that are limited, whose limits are as far apart.
inline std::optional<std::int64_t> distance(const ir::expr& a, const ir::expr& b) {
  if (a->op == b->op && (a->op == ir::op::min || a->op == ir::op::max)) {
    const auto of_all = [&](std::size_t first) -> std::optional<std::int64_t> {
      const std::optional<std::int64_t> x = distance(a->args[0], b->args[first]),
                                        y = distance(a->args[1], b->args[1 - first]);
      return x == y ? x : std::nullopt;
    };
    const std::optional<std::int64_t> in_order = of_all(0);
    return in_order ? in_order : of_all(1);
  }
  const arith::linear x = arith::to_linear(a), y = arith::to_linear(b);
  if (x.terms.size() != y.terms.size()) return std::nullopt;
  for (const auto& [term, factor] : x.terms)
    if (y.coefficient(term) != factor) return std::nullopt;
  return y.constant - x.constant;
}

/// How many elements of a row the place of `b` lies behind that of `a`.
inline std::optional<std::int64_t> places_apart(const ir::expr& a, const ir::expr& b) {
  if (a->buffer != b->buffer || a->args.empty() || a->args.size() != b->args.size())
    return std::nullopt;
  for (std::size_t d = 0; d + 1 < a->args.size(); ++d)
    if (!arith::same_value(a->args[d], b->args[d])) return std::nullopt;
  return distance(a->args.back(), b->args.back());
}

}  // namespace detail

/// The loads of expressions in pairs: each that is one element in front of another one with it.
class load_pairs {
 public:
  /// Where a load stands: the number of its pair, and whether it is the element behind.
  struct seat {
    std::size_t pair;
    bool behind;
  };

  /// Of expressions that are all computed; what a condition may leave out is not among them.
  explicit load_pairs(const std::vector<ir::expr>& whole) {
    for (const ir::expr& e : whole) visit(e);
  }

  /// Nothing where no load of the expressions has an element beside this one.
  std::optional<seat> of(const ir::expr& load) const {
    const auto found = seats_.find(load.get());
    if (found == seats_.end() || !groups_[found->second.group].behind) return std::nullopt;
    const group& pair = groups_[found->second.group];
    return seat{found->second.group, found->second.place != pair.first};
  }

  /// Both of a pair, the element in front first.
  std::pair<ir::expr, ir::expr> both(std::size_t pair) const {
    return {groups_[pair].front, groups_[pair].behind};
  }

 private:
  static constexpr std::size_t most = 64;  // loads that are compared with each other

  /// Loads of an element and of the one behind it.
  struct group {
    ir::expr front, behind;  // one of each; null: there is none
    std::int64_t first;      // place of `front`, counted from the load that was found first
  };
  struct member {
    std::size_t group;
    std::int64_t place;
  };

  void visit(const ir::expr& e) {
    if (e->op == ir::op::if_then_else) return visit(e->args[0]);
    for (const ir::expr& arg : e->args) visit(arg);
    if (e->op == ir::op::load && seats_.size() < most && !seats_.count(e.get())) enter(e);
  }

  void enter(const ir::expr& load) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      group& near = groups_[g];
      const std::optional<std::int64_t> apart = detail::places_apart(near.front, load);
      if (!apart || *apart < -1 || *apart > 1 || (*apart == -1 && near.behind)) continue;
      seats_[load.get()] = {g, near.first + *apart};
      if (*apart == 1 && !near.behind) near.behind = load;
      if (*apart == -1) {
        near.behind = std::exchange(near.front, load);
        --near.first;
      }
      return;
    }
    seats_[load.get()] = {groups_.size(), 0};
    groups_.push_back({load, {}, 0});
  }

  std::vector<group> groups_;
  std::unordered_map<const ir::expr_node*, member> seats_;
};

}  // namespace tilewright::backend::llvm
