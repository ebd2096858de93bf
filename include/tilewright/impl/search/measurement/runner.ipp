#pragma once

#include <algorithm>
#include <cstring>

#include <tilewright/impl/search/measurement/bound_positions.hpp>
#include <tilewright/impl/search/measurement/made_up_patterns.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/measurement/timer.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {
namespace detail {

inline argument_place place_of(const operand& o, const argument_layout& layout) {
  const std::int64_t size = bytes(o.type);
  const memory_span span = span_of(o.extents, layout.strides);
  const auto before = support::checked_product(span.first, -1);
  const auto reach =
      before ? support::checked_sum(support::saturated_sum(span.last, 1), *before) : before;
  const auto needed = support::checked_product(std::max<std::int64_t>(reach.value_or(-1), 1), size);
  if (!reach || !needed) throw argument_error(o.name + " does not fit into memory");
  argument_place out;
  out.bytes = static_cast<std::size_t>(*needed);
  out.element0 = static_cast<std::size_t>(-span.first * size);
  out.at = {layout.at.alignment, (layout.at.beyond - out.element0) % layout.at.alignment};
  if (!o.scalar) out.strides = layout.strides;
  out.written = o.written;
  out.read = o.read || !o.written;
  return out;
}

inline std::vector<argument_place> places_of(const std::vector<operand>& operands,
                                             const std::vector<argument_layout>& layouts) {
  std::vector<argument_place> out;
  for (std::size_t i = 0; i < operands.size(); ++i)
    out.push_back(place_of(operands[i], layouts[i]));
  return out;
}

/// Layouts with declared strides where none are given.
inline std::vector<argument_layout> complete_layouts(const std::vector<operand>& operands,
                                                     std::vector<argument_layout> layouts) {
  layouts.resize(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (layouts[i].strides.empty()) layouts[i].strides = operands[i].strides;
  return layouts;
}

}  // namespace detail

struct runner::state {
  state(const ir::function& f, std::vector<argument_layout> l, const backend::executor& exec,
        argument_memory::sharing sharing)
      : operands(search::operands(f)),
        needs(needs_of(f)),
        layouts(detail::complete_layouts(operands, std::move(l))),
        memory(detail::places_of(operands, layouts), sharing),
        clock(memory, exec) {
    clock.take_from_memory(detail::bound_positions(f));
  }

  std::vector<operand> operands;
  value_needs needs;
  std::vector<argument_layout> layouts;
  argument_memory memory;
  timer clock;

  std::byte* element0(std::size_t i) const { return static_cast<std::byte*>(memory.data()[i]); }

  void fill(std::size_t i, support::random random, const given_values& given, value_set set) {
    const operand& o = operands[i];
    if (o.written && !o.read) {  // an output that nobody writes shall not look right by chance
      std::memset(memory.buffer(i).data(), 0xa5, memory.buffer(i).size());
    } else if (i < given.size() && !given[i].empty()) {
      const auto needed = static_cast<std::size_t>(o.elements() * bytes(o.type));
      if (given[i].size() != needed)
        throw argument_error("the value of " + o.name + " has " + std::to_string(given[i].size()) +
                             " bytes; its elements take " + std::to_string(needed));
      unpack_elements(o, element0(i), layouts[i].strides, given[i]);
    } else {
      make_up(o, needs, element0(i), layouts[i].strides, random, set, i);
    }
  }

  void fill_patterns(const given_values& given, support::random random) {
    std::vector<std::byte*> first;
    std::vector<bool> made_up;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      first.push_back(element0(i));
      made_up.push_back(!operands[i].written && (i >= given.size() || given[i].empty()));
    }
    detail::make_up_patterns(operands, first, made_up, random);
  }
};

TILEWRIGHT_INLINE runner::runner(const ir::function& f, std::vector<argument_layout> layouts,
                                 const backend::executor& exec, std::uint64_t seed,
                                 const given_values& given, argument_memory::sharing sharing,
                                 value_set set)
    : state_(new state(f, std::move(layouts), exec, sharing)) {
  support::random random(seed);
  for (std::size_t i = 0; i < state_->operands.size(); ++i)
    state_->fill(i, random.split(), given, set);
  state_->fill_patterns(given, random.split());
  state_->memory.seal();
}

TILEWRIGHT_INLINE runner::~runner() = default;

TILEWRIGHT_INLINE measurement runner::measure(const backend::loaded& code,
                                              const measure_options& options) {
  return state_->clock.measure(code, options);
}

TILEWRIGHT_INLINE measurement runner::run(const backend::loaded& code, double deadline) {
  return state_->clock.run(code, deadline);
}

TILEWRIGHT_INLINE std::vector<std::vector<std::byte>> runner::outputs() const {
  std::vector<std::vector<std::byte>> out;
  for (std::size_t i = 0; i < state_->operands.size(); ++i)
    if (state_->operands[i].written)
      out.push_back(
          packed_elements(state_->operands[i], state_->element0(i), state_->layouts[i].strides));
  return out;
}

TILEWRIGHT_INLINE void runner::cancel() { state_->clock.cancel(); }
TILEWRIGHT_INLINE void runner::watch(const std::atomic<bool>* cancelled) {
  state_->clock.watch(cancelled);
}

TILEWRIGHT_INLINE const std::vector<operand>& runner::operands() const noexcept {
  return state_->operands;
}
TILEWRIGHT_INLINE const std::vector<void*>& runner::data() const noexcept {
  return state_->memory.data();
}
TILEWRIGHT_INLINE const std::vector<argument_layout>& runner::layouts() const noexcept {
  return state_->layouts;
}
TILEWRIGHT_INLINE void runner::reset_outputs() { state_->memory.reset(); }
TILEWRIGHT_INLINE const argument_memory& runner::memory() const noexcept { return state_->memory; }

}  // namespace tilewright::search
