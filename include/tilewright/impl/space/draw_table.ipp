#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <tilewright/schedule/possible_decisions.hpp>
#include <tilewright/schedule/sampling.hpp>
#include <tilewright/space/draw_table.hpp>
#include <tilewright/space/expression_text.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::space {
namespace detail::draws {

inline std::int64_t integer(const instruction& what, std::size_t at) {
  return std::get<std::int64_t>(what.args[at]);
}

inline std::string factors_text(const decision& d) {
  std::string out;
  for (const std::int64_t factor : d)
    out += (out.empty() ? "" : " * ") + (factor < 0 ? std::string("rest") : std::to_string(factor));
  return out;
}

inline std::string loop_text(const schedule& s, const instruction& what) {
  const auto& loop = s.get(loop_rv{std::get<rv>(what.args[0]).number});
  return "loop " + loop.var->name +
         (ir::is_int(loop.extent) ? " of " + std::to_string(loop.extent->integer) : std::string());
}

inline std::string subject_of(const schedule& s, const instruction& what) {
  const std::string_view name = what.kind->name;
  if (name == "sample_categorical") {
    const auto& weights = std::get<std::vector<double>>(what.args[1]);
    const bool equal = support::all(weights, [&](double w) { return w == weights.front(); });
    return equal ? "one of these" : "one of these, by weights " + list_text(weights);
  }
  if (name == "sample_compute_location")
    return "place of block " + s.get(block_rv{std::get<rv>(what.args[0]).number}).block->name;
  std::string out = loop_text(s, what) + " in " + std::to_string(integer(what, 1)) + " factors";
  if (name == "sample_perfect_tile" && integer(what, 2) != -1)
    out += ", the last one at most " + std::to_string(integer(what, 2));
  if (name == "sample_partitioned_tile")
    out += ", those from " + std::to_string(integer(what, 2)) + " on a multiple of " +
           std::to_string(integer(what, 3));
  if (name == "sample_tile")
    out += ", the last one of " + list_text(std::get<std::vector<std::int64_t>>(what.args[2]));
  return out;
}

/// The loop at which a place is, or where the block stays or goes without one.
inline std::string place_text(const schedule& s, const instruction& what, std::int64_t index) {
  const std::uint64_t block = s.state().block(std::get<rv>(what.args[0]));
  for (const primitive::compute_location& l : primitive::compute_locations(s.function(), block))
    if (l.index == index && l.loop) return "loop " + l.loop->name;
  return index == -2 ? "inline" : "in place";
}

inline std::string value_text(const schedule& s, const instruction& what, const decision& d) {
  const std::string_view name = what.kind->name;
  if (name == "sample_categorical")
    return std::to_string(
        std::get<std::vector<std::int64_t>>(what.args[0])[static_cast<std::size_t>(d.front())]);
  if (name == "sample_compute_location") return place_text(s, what, d.front());
  return factors_text(d);
}

/// All of a few values; of many the first and the last one.
inline std::string values_text(const schedule& s, const instruction& what,
                               const std::vector<decision>& all) {
  constexpr std::size_t few = 8;
  const bool tile = what.kind->choice == decision_shape::many;
  if (all.size() > few || (tile && all.size() > 3))
    return value_text(s, what, all.front()) + " ... " + value_text(s, what, all.back());
  std::string out;
  for (const decision& d : all) out += (out.empty() ? "" : ", ") + value_text(s, what, d);
  return out;
}

inline std::string names_of(const instruction& what) {
  std::string out;
  for (const rv& v : what.outputs)
    out += (out.empty() ? "" : ", ") +
           (std::string(1, static_cast<char>(v.kind)) + std::to_string(v.number));
  return out;
}

}  // namespace detail::draws

TILEWRIGHT_INLINE std::vector<drawn_variable> draws_of(const trace& sketch,
                                                       const ir::function& start) {
  namespace draws = detail::draws;
  constexpr std::size_t most = 100000;
  std::vector<drawn_variable> out;
  schedule s(start);
  const trace& t = sketch;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const instruction& what = *t[i].what;
    if (what.kind->choice != decision_shape::none) {
      const bool fixed = t.is_fixed(i);
      const std::vector<decision> all =
          fixed ? std::vector<decision>{t[i].choice} : possible_decisions(s.state(), what, most);
      out.push_back({draws::names_of(what), std::string(what.kind->name),
                     draws::subject_of(s, what), draws::values_text(s, what, all), all.size(),
                     all.size() < most, fixed});
    }
    s.apply(t[i].what, t[i].choice);
  }
  return out;
}

TILEWRIGHT_INLINE std::string draw_table(const std::vector<drawn_variable>& rows) {
  constexpr std::size_t columns = 5;
  using line = std::array<std::string, columns>;
  std::vector<line> lines{{"names", "count", "values", "primitive", "of"}};
  for (const drawn_variable& r : rows)
    lines.push_back({r.names, std::string(r.exact ? "" : ">= ") + std::to_string(r.count),
                     r.values + (r.fixed ? " (fixed)" : ""), r.primitive, r.of});
  std::array<std::size_t, columns> width{};
  for (const line& l : lines)
    for (std::size_t c = 0; c < columns; ++c) width[c] = std::max(width[c], l[c].size());
  std::string out;
  for (const line& l : lines) {
    for (std::size_t c = 0; c + 1 < columns; ++c)
      out += l[c] + std::string(width[c] - l[c].size() + 2, ' ');
    out += l.back() + "\n";
  }
  return out;
}

}  // namespace tilewright::space
