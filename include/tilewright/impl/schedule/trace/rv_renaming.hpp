// Variables of a trace under other numbers: for replay on a schedule that has variables already,
// and for printing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tilewright/schedule/trace.hpp>

namespace tilewright::detail {

/// Where the variables of a trace are in the schedule it is replayed on.
class rv_renaming {
 public:
  std::span<const std::uint32_t> numbers() const noexcept { return numbers_; }
  /// True while every variable has kept its number, so that instructions can be shared.
  bool identity() const noexcept { return identity_; }

  void bind(const std::vector<rv>& from, const std::vector<rv>& to) {
    for (std::size_t i = 0; i < from.size(); ++i) bind(from[i].number, to[i].number);
  }

 private:
  void bind(std::uint32_t from, std::uint32_t to) {
    identity_ = identity_ && from == to && from == numbers_.size();
    if (from >= numbers_.size()) numbers_.resize(from + 1);
    numbers_[from] = to;
  }
  std::vector<std::uint32_t> numbers_;
  bool identity_ = true;
};

inline support::ref<const instruction> with_arguments(const instruction& like,
                                                      std::span<const std::uint32_t> numbers) {
  auto* out = new instruction(like);
  support::ref<const instruction> owner(out);
  for (argument& a : out->args) a = renumber(a, numbers);
  return owner;
}

/// The trace with variables numbered in the order in which they are given, as they are printed.
inline std::vector<trace::step> canonical_steps(const std::vector<trace::step>& steps) {
  rv_renaming names;
  std::uint32_t next = 0;
  std::vector<trace::step> out;
  out.reserve(steps.size());
  for (const trace::step& s : steps) {
    auto* changed = new instruction(*s.what);
    out.push_back({support::ref<const instruction>(changed), s.choice});
    for (argument& a : changed->args) a = renumber(a, names.numbers());
    for (rv& v : changed->outputs) v.number = next++;
    names.bind(s.what->outputs, changed->outputs);
  }
  return out;
}

}  // namespace tilewright::detail
