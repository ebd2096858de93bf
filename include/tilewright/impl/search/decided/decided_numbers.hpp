// Integers of a trace that its decisions fix, without replaying it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <tilewright/ir/expr.hpp>
#include <tilewright/schedule/trace.hpp>

namespace tilewright::search::detail::decided {

using known_size = std::optional<std::int64_t>;

/// The integer variables of a trace, as far as they are known.
class decided_numbers {
 public:
  void note(const rv& variable, std::int64_t value) { values_[variable.number] = value; }

  known_size value(const factor& f) const {
    using op = factor::op;
    if (f.kind() == op::inferred) return std::nullopt;
    if (f.kind() == op::literal) return f.value();
    if (f.kind() == op::variable) {
      const auto there = values_.find(static_cast<std::uint32_t>(f.value()));
      return there == values_.end() ? std::nullopt : known_size(there->second);
    }
    const known_size a = value(f.left()), b = value(f.right());
    if (!a || !b) return std::nullopt;
    switch (f.kind()) {
      case op::add: return *a + *b;
      case op::sub: return *a - *b;
      case op::mul: return *a * *b;
      case op::floordiv: return *b > 0 ? known_size(ir::floor_divide(*a, *b)) : std::nullopt;
      case op::floormod: return *b > 0 ? known_size(ir::floor_modulo(*a, *b)) : std::nullopt;
      case op::eq: return *a == *b;
      case op::ne: return *a != *b;
      case op::lt: return *a < *b;
      case op::le: return *a <= *b;
      case op::gt: return *a > *b;
      case op::ge: return *a >= *b;
      default: return std::nullopt;
    }
  }

  known_size value(const annotation_value& note) const {
    if (const auto* f = std::get_if<factor>(&note.value)) return value(*f);
    const auto* given = std::get_if<ir::attr>(&note.value);
    const auto* n = given ? std::get_if<std::int64_t>(&given->value) : nullptr;
    return n ? known_size(*n) : std::nullopt;
  }

 private:
  std::map<std::uint32_t, std::int64_t> values_;
};

}  // namespace tilewright::search::detail::decided
