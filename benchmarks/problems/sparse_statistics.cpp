#include "sparse_statistics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <tilewright/support/numbers/row_lengths.hpp>

namespace bench {
namespace {

/// The whole numbers in a name, such as 1 and 3 of "hyb(1,3)".
std::vector<int> numbers_in(std::string_view name) {
  std::vector<int> out;
  for (std::size_t at = 0; at < name.size();) {
    int number = 0;
    const auto read = std::from_chars(name.data() + at, name.data() + name.size(), number);
    if (read.ec == std::errc()) {
      out.push_back(number);
      at = static_cast<std::size_t>(read.ptr - name.data());
    } else {
      ++at;
    }
  }
  return out;
}

std::int32_t first_of(const sparse_matrix& m, std::int32_t row) {
  return m.offsets[static_cast<std::size_t>(row)];
}

/// Places of rows padded to powers of two, in parts of the columns; those of longer rows to a multiple of the widest.
double hybrid_places(const sparse_matrix& m, int parts, int power) {
  const std::int32_t widest = 1 << power;
  double places = 0;
  for (std::int32_t row = 0; row < m.rows; ++row) {
    const auto begin = m.indices.begin() + first_of(m, row),
               end = m.indices.begin() + first_of(m, row + 1);
    auto at = begin;
    for (int part = 1; part <= parts; ++part) {
      const auto last =
          static_cast<std::int32_t>(static_cast<std::int64_t>(m.columns) * part / parts);
      const auto stop = std::lower_bound(at, end, last);
      const auto left = static_cast<std::int32_t>(stop - at);
      at = stop;
      std::int32_t width = 1;
      while (width < std::min(left, widest)) width *= 2;
      if (left > 0) places += static_cast<double>((left + width - 1) / width) * width;
    }
  }
  return places;
}

/// Columns with an element in groups of as many rows; those of each group padded to a multiple.
double strip_places(const sparse_matrix& m, std::int32_t tall, std::int32_t wide,
                    std::int32_t multiple) {
  std::vector<std::int32_t> seen(static_cast<std::size_t>(m.columns / wide + 1), -1);
  double places = 0;
  for (std::int32_t first = 0; first < m.rows; first += tall) {
    std::int32_t columns = 0;
    for (std::int32_t at = first_of(m, first); at < first_of(m, std::min(first + tall, m.rows));
         ++at) {
      std::int32_t& last =
          seen[static_cast<std::size_t>(m.indices[static_cast<std::size_t>(at)] / wide)];
      columns += last != first;
      last = first;
    }
    columns = (columns + multiple - 1) / multiple * multiple;
    places += static_cast<double>(columns) * tall * wide;
  }
  return places;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double statistic_of(const sparse_matrix& m, std::string_view name) {
  const auto elements = static_cast<double>(m.nonzeros());
  if (m.rows == 0 || elements == 0) return name == "empty" && m.rows > 0 ? 1 : 0;
  const std::vector<int> of = numbers_in(name);
  if (name.substr(0, 3) == "hyb") return 1 - share(elements, hybrid_places(m, of.at(0), of.at(1)));
  if (name.substr(0, 3) == "bsr") return share(elements, strip_places(m, of.at(0), of.at(0), 1));
  if (name.substr(0, 6) == "strips") return share(elements, strip_places(m, of.at(0), 1, of.at(1)));
  const auto lengths = tilewright::support::row_lengths_of(m.offsets.data(), m.rows, m.nonzeros());
  if (name == "avg") return lengths.mean;
  if (name == "max") return std::round(lengths.longest * lengths.mean);
  if (name == "cv") return lengths.spread;
  if (name == "gini") return lengths.gini;
  if (name == "empty") return lengths.empty;
  if (name == "ell") return share(1, lengths.longest);
  throw std::invalid_argument("no number of patterns: " + std::string(name));
}

std::vector<known_statistic> known_statistics(std::string_view matrix) {
  // the longest of 65536 rows differs from one draw to the next, and so do 64 rows of blocks
  constexpr double extreme = 0.15, few = 0.6;
  if (matrix == "powerlaw")
    return {{"avg", 7.7},   {"max", 2879},       {"cv", 4.98},       {"gini", 0.63},
            {"ell", 0.003}, {"hyb(1,3)", 0.128}, {"hyb(4,3)", 0.113}};
  if (matrix == "rmat16")
    return {{"avg", 7.5},   {"max", 3856},   {"cv", 5.66},
            {"gini", 0.89}, {"empty", 0.49}, {"hyb(1,3)", 0.084}};
  if (matrix == "uniform")
    return {
        {"avg", 8}, {"max", 25, extreme}, {"cv", 0.35}, {"ell", 0.32, extreme}, {"hyb(1,3)", 0.26}};
  if (matrix == "banded") return {{"avg", 9}, {"cv", 0.27}, {"bsr4", 0.255}};
  if (matrix == "stencil27") return {{"avg", 25.3}, {"ell", 0.94}, {"hyb(1,5)", 0.20}};
  if (matrix == "blocks32") return {{"empty", 0.27, few}, {"bsr4", 1}, {"bsr8", 1}, {"bsr16", 1}};
  // what is stored anywhere with a density of 2.8 % fills 13.8 % of such columns before any of them is padded
  if (matrix == "unstructured") return {{"strips(8,32)", 0.149, 0.12}};
  return {};
}

bool agrees(const known_statistic& known, double value) {
  const double off = std::abs(value - known.value);
  return off <= known.within * known.value || (known.value <= 1 && off <= 0.005);
}

std::string statistics(const sparse_matrix& m) {
  char text[320];
  const auto of = [&](const char* name) { return statistic_of(m, name); };
  std::snprintf(text, sizeof text,
                "%d x %d, %lld elements, %.1f a row (max %.0f, cv %.2f, Gini %.2f), %.0f %% of "
                "rows empty, ELL fill "
                "%.1f %%, blocks of 4 %.0f %%, 16 %.0f %% full, hyb(1,3) %.1f %% padding",
                m.rows, m.columns, static_cast<long long>(m.nonzeros()), of("avg"), of("max"),
                of("cv"), of("gini"), 100 * of("empty"), 100 * of("ell"), 100 * of("bsr4"),
                100 * of("bsr16"), 100 * of("hyb(1,3)"));
  std::string out = text;
  const std::vector<known_statistic> known = known_statistics(m.name);
  for (std::size_t k = 0; k < known.size(); ++k) {
    const double value = statistic_of(m, known[k].name);
    std::snprintf(text, sizeof text, "%s%s %.4g%s", k == 0 ? " (known: " : ", ",
                  known[k].name.c_str(), known[k].value, agrees(known[k], value) ? "" : " !");
    out += text;
  }
  return known.empty() ? out : out + ")";
}

}  // namespace bench
