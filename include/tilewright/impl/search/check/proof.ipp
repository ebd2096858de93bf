#pragma once

#include <cstring>
#include <optional>
#include <vector>

#include <tilewright/impl/ir/interpret/residue.hpp>
#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/interpret/modular.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/check/proof.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail {

/// Arguments of a modular program, where their strides put them.
class residue_memory {
 public:
  residue_memory(const ir::function& f, std::uint64_t seed) : operands_(search::operands(f)) {
    const value_needs needs = needs_of(f);
    support::random all(seed);
    for (const operand& o : operands_) {
      support::random random = all.split();
      const bool real = is_float(o.type);
      const std::int64_t size = real ? 8 : bytes(o.type);
      const memory_span span = span_of(o.extents, o.strides);
      const std::int64_t count = std::max<std::int64_t>(span.last - span.first + 1, 1);
      std::vector<std::byte>& to =
          bytes_.emplace_back(static_cast<std::size_t>(count * size), std::byte{0x5a});
      std::byte* element0 = to.data() - span.first * size;
      views_.push_back({element0, o.scalar ? std::vector<std::int64_t>{} : o.strides});
      if (o.written && !o.read) continue;
      if (!real) {
        make_up(o, needs, element0, o.strides, random);
        continue;
      }
      each_offset(o.extents, o.strides, [&](std::int64_t at) {
        const std::uint64_t x = ir::detail::residue::reduced(random.next());
        std::memcpy(element0 + at * size, &x, sizeof x);
      });
    }
  }

  const std::vector<ir::tensor_view>& views() const { return views_; }

  /// The first element that another memory of the same function has otherwise; empty: none.
  std::string difference(const residue_memory& other) const {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const operand& o = operands_[i];
      if (!o.written || bytes_[i] == other.bytes_[i]) continue;
      const auto size = static_cast<std::size_t>(is_float(o.type) ? 8 : bytes(o.type));
      std::string out;
      std::int64_t flat = 0;
      each_offset(o.extents, o.strides, [&](std::int64_t at) {
        const auto here = [&](const residue_memory& m) {
          return static_cast<const std::byte*>(m.views_[i].data) +
                 at * static_cast<std::int64_t>(size);
        };
        if (out.empty() && std::memcmp(here(*this), here(other), size) != 0)
          out = o.name + index_text(flat, o.extents) + " differs in exact arithmetic";
        ++flat;
      });
      if (!out.empty()) return out;
    }
    return {};
  }

 private:
  std::vector<operand> operands_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<ir::tensor_view> views_;
};

/// What a trace makes of `f`; nothing where it does not fit.
inline std::optional<ir::function> scheduled_by(const std::string& text, const ir::function& f,
                                                std::uint64_t seed) {
  try {
    if (const auto c = replay(trace::parse(text), f, seed)) return c->scheduled.function();
  } catch (const error&) {
  }
  return std::nullopt;
}

}  // namespace detail

TILEWRIGHT_INLINE exact_comparison compare_exactly(const ir::function& original,
                                                   const ir::function& scheduled,
                                                   std::uint64_t seed) {
  using result = exact_comparison::result;
  if (!ir::has_modular_meaning(original) || !ir::has_modular_meaning(scheduled))
    return {result::unknown, "a reducer of the kernel calls functions"};
  std::optional<detail::residue_memory> expected, found;
  try {
    expected.emplace(original, seed);
    found.emplace(original, seed);
    ir::interpret(ir::modular(original), expected->views());
  } catch (const std::exception& e) {
    return {result::unknown, e.what()};
  }
  try {
    ir::interpret(ir::modular(scheduled), found->views());
  } catch (const argument_error& e) {  // calls that the interpreter does not know
    return {result::unknown, e.what()};
  } catch (const error& e) {  // memory that nothing wrote, or out of bounds
    return {result::different, e.what()};
  }
  std::string difference = expected->difference(*found);
  if (!difference.empty() && ir::has_alternatives(original))
    return {result::unknown, "it may be another algorithm of the kernel"};
  const result is = difference.empty() ? result::equal : result::different;
  return {is, std::move(difference)};
}

TILEWRIGHT_INLINE exact_comparison prove(const workload& w, const std::string& trace,
                                         std::uint64_t seed, double seconds, std::string* at) {
  constexpr double stores_per_second = 4e6;  // of the interpreter, both programs together
  using result = exact_comparison::result;
  const auto compared = [&](const ir::function& f, const char* extents) -> exact_comparison {
    const std::optional<ir::function> scheduled = detail::scheduled_by(trace, f, seed);
    if (!scheduled)
      return {result::unknown, std::string("the trace does not replay at ") + extents};
    if (at) *at = extents;
    return compare_exactly(f, *scheduled, seed);
  };
  const auto fits = [&](const ir::function& f) {
    double elements = 0;  // which are made up and compared
    for (const operand& o : operands(f)) elements += static_cast<double>(o.elements());
    return work_of(f) + elements <= stores_per_second * seconds;
  };
  if (fits(w.function)) return compared(w.function, "full extents");
  const std::optional<ir::function> small = w.shrunk ? w.shrunk() : std::nullopt;
  if (!small || !fits(*small)) return {result::unknown, "no extents are small enough"};
  return compared(*small, "small extents");
}

}  // namespace tilewright::search
