// From an element to the iteration that stores it: the point evaluator goes backwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/ir/expr.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::ir::detail::point {

/// An iteration variable of a block, over [0, extent).
struct iteration {
  var name;
  std::size_t slot = 0;
  std::int64_t extent = 0;
};

/// One index of a store: offset + sum of coefficient * iteration[number].
struct index_sum {
  struct term {
    std::size_t number = 0;
    std::int64_t coefficient = 0;
  };
  std::vector<term> terms;
  std::int64_t offset = 0;
};

/// `e` as a sum over `iterations`; nothing when it is none.
inline std::optional<index_sum> sum_of_index(const expr& e,
                                             const std::vector<iteration>& iterations) {
  index_sum out;
  if (e->op == op::integer) {
    out.offset = e->integer;
    return out;
  }
  if (e->op == op::var) {
    for (std::size_t n = 0; n < iterations.size(); ++n)
      if (iterations[n].name.same(e)) out.terms.push_back({n, 1});
    if (out.terms.empty()) return std::nullopt;
    return out;
  }
  if (e->op == op::cast && !is_float(e.type()) && bits(e.type()) >= bits(e->args[0].type()))
    return sum_of_index(e->args[0], iterations);
  if (e->op != op::add && e->op != op::sub && e->op != op::mul) return std::nullopt;
  auto a = sum_of_index(e->args[0], iterations), b = sum_of_index(e->args[1], iterations);
  if (!a || !b) return std::nullopt;
  if (e->op == op::mul) {
    if (!a->terms.empty()) std::swap(a, b);
    if (!a->terms.empty()) return std::nullopt;
    for (index_sum::term& t : b->terms) t.coefficient *= a->offset;
    b->offset *= a->offset;
    return b;
  }
  const std::int64_t sign = e->op == op::add ? 1 : -1;
  a->offset += sign * b->offset;
  for (const index_sum::term& t : b->terms) {
    const auto same = support::find(a->terms, [&](const auto& x) { return x.number == t.number; });
    if (same == a->terms.end())
      a->terms.push_back({t.number, sign * t.coefficient});
    else
      same->coefficient += sign * t.coefficient;
  }
  return a;
}

/// The inverse of the indices of a store, where each iteration stores an element of its own.
class placement {
 public:
  placement() = default;

  /// Nothing when the sums do not tell every iteration from every other.
  static std::optional<placement> of(const std::vector<expr>& indices,
                                     const std::vector<iteration>& iterations) {
    placement out;
    std::vector<bool> known(iterations.size());
    for (const expr& e : indices) {
      std::optional<index_sum> sum = sum_of_index(e, iterations);
      if (!sum || !out.add(std::move(*sum), iterations, known)) return std::nullopt;
    }
    for (std::size_t n = 0; n < iterations.size(); ++n)
      if (!known[n] && iterations[n].extent > 1) return std::nullopt;
    out.extents_.reserve(iterations.size());
    for (const iteration& i : iterations) out.extents_.push_back(i.extent);
    return out;
  }

  /// Finds the iteration that stores element `index`; false when none does.
  bool find(const std::int64_t* index, std::vector<std::int64_t>& iteration_at) const {
    iteration_at.assign(extents_.size(), 0);
    for (const std::int64_t e : extents_)
      if (e == 0) return false;
    for (const dimension& d : dimensions_) {
      std::int64_t rest = *index++ - d.offset;
      for (const index_sum::term& t : d.known) rest -= t.coefficient * iteration_at[t.number];
      for (const digit& g : d.digits) {
        // c * x + [low, high] = rest for one x at most, since |c| exceeds high - low
        const std::int64_t c = g.of.coefficient;
        const std::int64_t x = c > 0 ? floor_of(rest - g.low, c) : -floor_of(rest - g.low, -c);
        if (x < 0 || x >= extents_[g.of.number] || rest - c * x < g.low || rest - c * x > g.high)
          return false;
        iteration_at[g.of.number] = x;
        rest -= c * x;
      }
      if (rest != 0) return false;
    }
    return true;
  }

 private:
  struct digit {
    index_sum::term of;
    std::int64_t low = 0, high = 0;  // what the later digits add
  };
  struct dimension {
    std::int64_t offset = 0;
    std::vector<index_sum::term> known;
    std::vector<digit> digits;  // by falling size of the coefficient
  };

  static std::int64_t floor_of(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && a < 0 ? 1 : 0);
  }

  bool add(index_sum sum, const std::vector<iteration>& iterations, std::vector<bool>& known) {
    dimension d;
    d.offset = sum.offset;
    for (const index_sum::term& t : sum.terms) {
      if (t.coefficient == 0 || iterations[t.number].extent <= 1) continue;
      if (known[t.number])
        d.known.push_back(t);
      else
        d.digits.push_back({t, 0, 0});
    }
    std::sort(d.digits.begin(), d.digits.end(), [](const digit& a, const digit& b) {
      return std::abs(a.of.coefficient) > std::abs(b.of.coefficient);
    });
    for (std::size_t k = d.digits.size(); k-- > 1;) {
      const index_sum::term& t = d.digits[k].of;
      const std::int64_t reach = t.coefficient * (iterations[t.number].extent - 1);
      d.digits[k - 1].low = d.digits[k].low + std::min<std::int64_t>(reach, 0);
      d.digits[k - 1].high = d.digits[k].high + std::max<std::int64_t>(reach, 0);
    }
    for (const digit& g : d.digits) {
      if (std::abs(g.of.coefficient) <= g.high - g.low) return false;
      known[g.of.number] = true;
    }
    dimensions_.push_back(std::move(d));
    return true;
  }

  std::vector<dimension> dimensions_;
  std::vector<std::int64_t> extents_;
};

}  // namespace tilewright::ir::detail::point
