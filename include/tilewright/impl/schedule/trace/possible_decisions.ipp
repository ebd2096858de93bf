#pragma once

#include <algorithm>
#include <string_view>

#include <tilewright/impl/schedule/trace/divisors.hpp>
#include <tilewright/impl/schedule/trace/tile_decision.hpp>
#include <tilewright/schedule/possible_decisions.hpp>
#include <tilewright/schedule/sampling.hpp>

namespace tilewright {
namespace detail {

/// Fills a tile from the innermost factor outwards; the outermost one is what is left.
class tile_list {
 public:
  /// The sizes of factor `at` where `rest` of the extent is left, ascending.
  using sizes = std::vector<std::int64_t> (*)(const tile_list& of, std::size_t at,
                                              std::int64_t rest);

  tile_list(int n, std::size_t most, std::vector<std::int64_t> wanted, std::int64_t largest)
      : innermost(std::move(wanted)),
        limit(largest),
        most_(most),
        now_(static_cast<std::size_t>(n), 1) {}

  std::vector<decision> of(std::int64_t extent, sizes choose) {
    fill(now_.size() - 1, extent, choose);
    return std::move(out_);
  }
  bool is_innermost(std::size_t at) const { return at + 1 == now_.size(); }

  std::vector<std::int64_t> innermost;  // wanted; of tiles that need not divide
  std::int64_t limit;                   // of the innermost factor

 private:
  void fill(std::size_t at, std::int64_t rest, sizes choose) {
    if (out_.size() >= most_) return;
    if (at == 0) {
      now_[0] = rest;
      out_.push_back(now_);
      return;
    }
    for (const std::int64_t size : choose(*this, at, rest)) {
      now_[at] = size;
      fill(at - 1, primitive::detail::ceil_divide(rest, size), choose);
    }
  }

  std::size_t most_;
  decision now_;
  std::vector<decision> out_;
};

inline std::vector<std::int64_t> dividing_sizes(const tile_list& of, std::size_t at,
                                                std::int64_t rest) {
  std::vector<std::int64_t> out = primitive::detail::divisors(primitive::detail::factorize(rest));
  if (of.is_innermost(at)) std::erase_if(out, [&](std::int64_t d) { return d > of.limit; });
  return out;
}

inline std::vector<std::int64_t> covering_sizes(const tile_list& of, std::size_t at,
                                                std::int64_t rest) {
  return of.is_innermost(at) ? primitive::detail::tile_candidates(rest, of.innermost)
                             : primitive::detail::part_candidates(rest);
}

inline std::vector<decision> positions_of_weights(const std::vector<double>& weights) {
  std::vector<decision> out;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) out.push_back({static_cast<std::int64_t>(i)});
  return out;
}

inline std::vector<decision> legal_places(const ir::function& f, std::uint64_t block) {
  std::vector<decision> out;
  for (const primitive::compute_location& l : primitive::compute_locations(f, block))
    out.push_back({l.index});
  return out;
}

/// Of the three kinds of tiles.
inline std::vector<decision> possible_tiles(const schedule_state& state, const instruction& what,
                                            std::size_t most) {
  namespace sampling = primitive::detail::sampling;
  const auto number = [&](std::size_t i) { return std::get<std::int64_t>(what.args[i]); };
  const int n = static_cast<int>(number(1));
  const ir::expr extent =
      sampling::extent_of(state.function, state.loop(std::get<rv>(what.args[0])), "sample");
  const bool covers = what.kind->name == "sample_tile";
  const bool parts = what.kind->name == "sample_partitioned_tile";
  const auto* wanted = std::get_if<std::vector<std::int64_t>>(&what.args[2]);
  const std::int64_t inner = parts ? number(3) : 1;
  const std::int64_t size = ir::is_int(extent) ? extent->integer : 0;
  if (size < 1 || size % inner != 0)
    return {sampling::inferred(n, covers && wanted ? wanted->front() : n == 1 ? -1 : 1)};
  const bool limited = what.kind->name == "sample_perfect_tile" && number(2) != -1;
  tile_list list(n, most, wanted ? *wanted : std::vector<std::int64_t>(),
                 limited ? number(2) : size);
  std::vector<decision> out = list.of(size, covers ? &covering_sizes : &dividing_sizes);
  if (parts)
    std::erase_if(out, [&](const decision& d) {
      return !sampling::inner_part_fits(d, static_cast<int>(number(2)), inner);
    });
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<decision> possible_decisions(const schedule_state& state,
                                                           const instruction& what,
                                                           std::size_t most) {
  const std::string_view name = what.kind->name;
  std::vector<decision> out{decision{}};
  if (name == "sample_categorical")
    out = detail::positions_of_weights(std::get<std::vector<double>>(what.args[1]));
  else if (name == "sample_compute_location")
    out = detail::legal_places(state.function, state.block(std::get<rv>(what.args[0])));
  else if (what.kind->choice == decision_shape::many)
    out = detail::possible_tiles(state, what, most);
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace tilewright
