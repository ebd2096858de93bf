// Who touches each element of memory that threads share, point by point.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/ir/expr.hpp>

namespace tilewright::pass::detail::barriers {

using namespace tilewright::ir;

/// A variable of an index and its values.
struct index_domain {
  var v;
  std::int64_t first = 0, extent = 1;
};

/// An index of integers in postfix, whose value is asked at many points.
class point_index {
 public:
  point_index(const expr& e, const std::vector<index_domain>& domain) : known_(add(e, domain)) {}

  /// `point`: a value for each variable of the domain. Nothing for what is more than arithmetic.
  std::optional<std::int64_t> value(const std::vector<std::int64_t>& point) const {
    if (!known_) return std::nullopt;
    std::array<std::int64_t, most_steps> stack;
    std::size_t depth = 0;
    for (const step& s : steps_) {
      if (s.what == op::integer) {
        stack[depth++] = s.number;
        continue;
      }
      if (s.what == op::var) {
        stack[depth++] = point[static_cast<std::size_t>(s.number)];
        continue;
      }
      const std::int64_t b = stack[--depth];
      std::int64_t& a = stack[depth - 1];
      switch (s.what) {
        case op::add: a += b; break;
        case op::sub: a -= b; break;
        case op::mul: a *= b; break;
        case op::min: a = std::min(a, b); break;
        case op::max: a = std::max(a, b); break;
        case op::lt: a = a < b; break;
        case op::le: a = a <= b; break;
        case op::gt: a = a > b; break;
        case op::ge: a = a >= b; break;
        case op::eq: a = a == b; break;
        case op::ne: a = a != b; break;
        default:
          if (b == 0) return std::nullopt;
          if (a >= 0 && b > 0)
            a = s.what == op::floordiv ? a / b : a % b;
          else
            a = s.what == op::floordiv ? floor_divide(a, b) : floor_modulo(a, b);
      }
    }
    return stack[0];
  }

 private:
  static constexpr std::size_t most_steps = 128;
  struct step {
    op what;
    std::int64_t number = 0;  // of a variable: its place in the domain
  };

  static bool is_arithmetic(op what) {
    switch (what) {
      case op::add:
      case op::sub:
      case op::mul:
      case op::min:
      case op::max:
      case op::floordiv:
      case op::floormod:
      case op::lt:
      case op::le:
      case op::gt:
      case op::ge:
      case op::eq:
      case op::ne: return true;
      default: return false;
    }
  }

  bool push(step s) {
    steps_.push_back(s);
    return steps_.size() <= most_steps;
  }
  bool add(const expr& e, const std::vector<index_domain>& domain) {
    if (is_int(e)) return push({op::integer, as_int(e)});
    if (is_var(e)) {
      for (std::size_t i = 0; i < domain.size(); ++i)
        if (domain[i].v.get() == e.get()) return push({op::var, static_cast<std::int64_t>(i)});
      return false;
    }
    if (e->op == op::cast) return add(e->args[0], domain);
    return e->args.size() == 2 && is_arithmetic(e->op) && add(e->args[0], domain) &&
           add(e->args[1], domain) && push({e->op});
  }

  std::vector<step> steps_;
  bool known_;
};

/// For each element the number of the one thread that touches it, or that several do. Elements are taken
/// together in units of a width that all touches have, where all begin at a multiple of it.
class toucher_table {
 public:
  struct touch {
    std::int64_t element;
    std::int32_t thread;
  };
  /// @param width elements side by side that each touch is about
  toucher_table(const std::vector<touch>& all, std::int64_t width) : unit_(width) {
    for (const touch& t : all)
      if (floor_modulo(t.element, width) != 0) unit_ = 1;
    if (all.empty()) return;
    const auto [low, high] =
        std::minmax_element(all.begin(), all.end(),
                            [](const touch& x, const touch& y) { return x.element < y.element; });
    const std::int64_t parts = width / unit_;
    first_ = floor_divide(low->element, unit_);
    const std::int64_t places = floor_divide(high->element, unit_) + parts - first_,
                       touched = static_cast<std::int64_t>(all.size()) * parts;
    const bool dense = places <= 8 * touched;
    dense ? places_.resize(static_cast<std::size_t>(places), nobody)
          : far_.reserve(static_cast<std::size_t>(touched));
    for (const touch& t : all)
      for (std::int64_t p = 0; p < parts; ++p) {
        const std::int64_t place = floor_divide(t.element, unit_) + p;
        if (dense)
          join(places_[static_cast<std::size_t>(place - first_)], t.thread);
        else
          far_.push_back({place, t.thread});
      }
    if (!dense) sort_far();
  }

  /// Whether two different threads touch one element.
  bool meets(const toucher_table& other) const {
    if (this == &other) return several_meet_;
    if (unit_ != other.unit_) return expanded().meets_alike(other.expanded());
    return meets_alike(other);
  }

 private:
  static constexpr std::int32_t nobody = -1, several = -2;

  toucher_table() = default;

  void join(std::int32_t& who, std::int32_t thread) {
    const bool alone = who == nobody || who == thread;
    several_meet_ = several_meet_ || !alone;
    who = alone ? thread : several;
  }

  /// By place, each once.
  void sort_far() {
    std::sort(far_.begin(), far_.end(), before);
    std::size_t kept = 0;
    for (const touch& t : far_)
      if (kept > 0 && far_[kept - 1].element == t.element)
        join(far_[kept - 1].thread, t.thread);
      else
        far_[kept++] = t;
    far_.resize(kept);
  }
  static bool before(const touch& x, const touch& y) { return x.element < y.element; }

  template <class F>
  bool any(const F& f) const {
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (places_[i] != nobody && f(first_ + static_cast<std::int64_t>(i), places_[i])) return true;
    for (const touch& t : far_)
      if (f(t.element, t.thread)) return true;
    return false;
  }
  std::int32_t at(std::int64_t place) const {
    if (places_.empty()) {
      const auto found = std::lower_bound(far_.begin(), far_.end(), touch{place, 0}, before);
      return found == far_.end() || found->element != place ? nobody : found->thread;
    }
    const std::int64_t i = place - first_;
    return i < 0 || i >= static_cast<std::int64_t>(places_.size())
               ? nobody
               : places_[static_cast<std::size_t>(i)];
  }

  bool meets_alike(const toucher_table& other) const {
    return any([&](std::int64_t place, std::int32_t who) {
      const std::int32_t them = other.at(place);
      return them != nobody && (who == several || them != who);
    });
  }

  /// The same element by element.
  toucher_table expanded() const {
    toucher_table out;
    any([&](std::int64_t place, std::int32_t who) {
      for (std::int64_t p = 0; p < unit_; ++p) out.far_.push_back({place * unit_ + p, who});
      return false;
    });
    return out;
  }

  std::int64_t unit_ = 1;
  bool several_meet_ = false;
  std::int64_t first_ = 0;            // in units
  std::vector<std::int32_t> places_;  // from `first_` on
  std::vector<touch> far_;            // instead, by place, where they lie far apart
};

}  // namespace tilewright::pass::detail::barriers
