#include "sparse_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <utility>

namespace bench {
namespace {

/// splitmix64: the standard's distributions differ from library to library.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::int32_t below(std::int32_t n) {
    return static_cast<std::int32_t>(unit() * static_cast<double>(n));
  }

 private:
  std::uint64_t state_;
};

using row_list = std::vector<std::vector<std::int32_t>>;

/// Sorts rows, drops what occurs twice, and draws the values.
sparse_matrix finish(std::string name, std::int32_t columns, row_list rows, generator& random) {
  sparse_matrix out;
  out.name = std::move(name);
  out.rows = static_cast<std::int32_t>(rows.size());
  out.columns = columns;
  out.offsets.push_back(0);
  for (std::vector<std::int32_t>& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    out.indices.insert(out.indices.end(), row.begin(), row.end());
    out.offsets.push_back(static_cast<std::int32_t>(out.indices.size()));
  }
  for (std::size_t k = 0; k < out.indices.size(); ++k)
    out.values.push_back(static_cast<float>(2 * random.unit() - 1));
  return out;
}

}  // namespace

sparse_matrix powerlaw() {
  constexpr std::int32_t n = 65536;
  constexpr double exponent = -1 / 1.2, mean = 8, most = 4096;
  generator random(1);
  // weights (i + i0)^exponent, with i0 so large that the first row has no more than `most`
  std::vector<double> cumulative(n);
  double first = 1;
  for (;; first *= 1.1) {
    double total = 0;
    for (std::int32_t i = 0; i < n; ++i)
      total += std::pow(static_cast<double>(i) + first, exponent),
          cumulative[static_cast<std::size_t>(i)] = total;
    if (std::pow(first, exponent) / total * mean * n <= most) break;
  }
  std::vector<std::int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::int32_t i = n - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(random.below(i + 1))]);
  row_list rows(n);
  double before = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    const double share = (cumulative[static_cast<std::size_t>(i)] - before) / cumulative.back();
    before = cumulative[static_cast<std::size_t>(i)];
    const double expected = share * mean * n;
    auto count = static_cast<std::int32_t>(expected);
    if (random.unit() < expected - count) ++count;
    std::vector<std::int32_t>& row =
        rows[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
    for (std::int32_t k = 0; k < count; ++k) {
      const auto at =
          std::lower_bound(cumulative.begin(), cumulative.end(), random.unit() * cumulative.back());
      row.push_back(order[static_cast<std::size_t>(
          std::min<std::ptrdiff_t>(at - cumulative.begin(), n - 1))]);
    }
  }
  return finish("powerlaw", n, std::move(rows), random);
}

sparse_matrix rmat16() {
  constexpr int scale = 16;
  generator random(2);
  row_list rows(1 << scale);
  for (std::int32_t edge = 0; edge < 8 << scale; ++edge) {
    std::int32_t row = 0, column = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const double u = random.unit();
      row = 2 * row + (u >= 0.76);
      column = 2 * column + ((u >= 0.57 && u < 0.76) || u >= 0.95);
    }
    rows[static_cast<std::size_t>(row)].push_back(column);
  }
  return finish("rmat16", 1 << scale, std::move(rows), random);
}

sparse_matrix uniform() {
  constexpr std::int32_t n = 65536;
  generator random(3);
  row_list rows(n);
  for (std::int32_t k = 0; k < 8 * n; ++k)
    rows[static_cast<std::size_t>(random.below(n))].push_back(random.below(n));
  return finish("uniform", n, std::move(rows), random);
}

sparse_matrix banded() {
  constexpr std::int32_t n = 65536, half = 16;
  generator random(4);
  row_list rows(n);
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t c = std::max(i - half, 0); c <= std::min(i + half, n - 1); ++c)
      if (c == i || random.unit() < 0.25) rows[static_cast<std::size_t>(i)].push_back(c);
  return finish("banded", n, std::move(rows), random);
}

sparse_matrix stencil27() {
  constexpr std::int32_t side = 32, n = side * side * side;
  generator random(5);
  row_list rows(n);
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t x = i % side, y = i / side % side, z = i / (side * side);
    for (std::int32_t d = 0; d < 27; ++d) {
      const std::int32_t a = x + d % 3 - 1, b = y + d / 3 % 3 - 1, c = z + d / 9 - 1;
      if (std::min({a, b, c}) >= 0 && std::max({a, b, c}) < side)
        rows[static_cast<std::size_t>(i)].push_back((c * side + b) * side + a);
    }
  }
  return finish("stencil27", n, std::move(rows), random);
}

namespace {

/// Rows of blocks32.
row_list rows_of_blocks(generator& random) {
  constexpr std::int32_t n = 2048, side = 32;
  row_list rows(n);
  for (std::int32_t r = 0; r < n / side; ++r) {
    if (random.unit() < 0.3) continue;
    for (std::int32_t c = 0; c < n / side; ++c) {
      if (random.unit() >= 0.06) continue;
      for (std::int32_t k = 0; k < side * side; ++k)
        rows[static_cast<std::size_t>(r * side + k / side)].push_back(c * side + k % side);
    }
  }
  return rows;
}

}  // namespace

sparse_matrix blocks32() {
  generator random(6);
  row_list rows = rows_of_blocks(random);
  return finish("blocks32", 2048, std::move(rows), random);
}

sparse_matrix mixed() {
  generator random(6);
  row_list rows = rows_of_blocks(random);
  for (std::vector<std::int32_t>& row : rows)
    for (std::int32_t c = 0; c < 2048; ++c)
      if (random.unit() < 0.005) row.push_back(c);
  return finish("mixed", 2048, std::move(rows), random);
}

sparse_matrix unstructured() { return unstructured("unstructured", 0.028); }

sparse_matrix unstructured(const std::string& name, double share) {
  constexpr std::int32_t n = 2048;
  generator random(7);
  row_list rows(n);
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t c = 0; c < n; ++c)
      if (random.unit() < share) rows[static_cast<std::size_t>(i)].push_back(c);
  return finish(name, n, std::move(rows), random);
}

std::vector<sparse_matrix> densities() {
  return {unstructured("unstructured0.5", 0.005), unstructured("unstructured5", 0.05),
          unstructured("unstructured10", 0.1), unstructured("unstructured30", 0.3)};
}

namespace {

/// `n` rows and `columns` columns; an element stands where `holds` says so.
template <class Holds>
sparse_matrix placed(const char* name, std::int32_t n, std::int32_t columns, const Holds& holds) {
  generator random(25);
  row_list rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t c = 0; c < columns; ++c)
      if (holds(i, c)) rows[static_cast<std::size_t>(i)].push_back(c);
  return finish(name, columns, std::move(rows), random);
}

}  // namespace

std::vector<sparse_matrix> pathological() {
  constexpr std::int32_t n = 4096;
  const auto seldom = [](std::int32_t i, std::int32_t c) { return (i * 31 + c * 17) % 1021 == 0; };
  return {placed("dense_row", n, n, [&](int i, int c) { return i == 7 || seldom(i, c); }),
          placed("dense_column", n, n, [&](int i, int c) { return c == 7 || seldom(i, c); }),
          placed("diagonal", n, n, [](int i, int c) { return i == c; }),
          placed("arrow", n, n, [](int i, int c) { return i == 0 || c == 0 || i == c; }),
          placed("one_row", 1, n, [](int, int c) { return c % 3 == 0; }),
          placed("one_column", n, 1, [](int i, int) { return i % 3 == 0; }),
          placed("last_row_empty", n, n, [&](int i, int c) { return i + 1 < n && seldom(i, c); }),
          placed("no_elements", n, n, [](int, int) { return false; })};
}

namespace {

/// Elements of the blocks that `sees` holds for, given with the numbers of their rows and columns of blocks.
template <class Sees>
sparse_matrix masked(const char* name, const Sees& sees) {
  constexpr std::int32_t block = 16, blocks = 256;
  generator random(8);
  row_list rows(static_cast<std::size_t>(block * blocks));
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::int32_t c = 0; c < block * blocks; ++c)
      if (sees(static_cast<std::int32_t>(row) / block, c / block)) rows[row].push_back(c);
  return finish(name, block * blocks, std::move(rows), random);
}

}  // namespace

sparse_matrix longformer() {
  return masked("longformer", [](int i, int j) { return j >= i && j < i + 16; });
}

sparse_matrix butterfly() {
  return masked("butterfly", [](int i, int j) { return ((i ^ j) & ((i ^ j) - 1)) == 0; });
}

sparse_matrix pruned_elements(std::int32_t rows, std::int32_t columns, double zeros) {
  generator random(21);
  row_list list(static_cast<std::size_t>(rows));
  for (std::vector<std::int32_t>& row : list)
    for (std::int32_t c = 0; c < columns; ++c)
      if (random.unit() >= zeros) row.push_back(c);
  return finish("pruned", columns, std::move(list), random);
}

sparse_matrix pruned_blocks(std::int32_t rows, std::int32_t columns, double zeros) {
  constexpr std::int32_t block = 16;
  generator random(22);
  row_list list(static_cast<std::size_t>(rows));
  for (std::int32_t r = 0; r < rows; r += block)
    for (std::int32_t c = 0; c < columns; c += block) {
      if (random.unit() < zeros) continue;
      for (std::int32_t k = 0; k < block * block; ++k)
        list[static_cast<std::size_t>(r + k / block)].push_back(c + k % block);
    }
  return finish("pruned_blocks", columns, std::move(list), random);
}

sparse_matrix relations(std::int32_t nodes, std::int32_t kinds) {
  generator random(23);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> edges;
  double shares = 0;
  for (std::int32_t k = 1; k <= kinds; ++k) shares += 1.0 / k;
  // nodes of a power law: the square of a number in [0, 1) is small more often
  const auto node = [&](std::int32_t kind) {
    const double u = random.unit();
    const auto drawn = static_cast<std::int64_t>(u * u * nodes);
    return static_cast<std::int32_t>((drawn * 2 + kind) * 40503 % nodes);
  };
  for (std::int32_t k = 0; k < kinds; ++k) {
    const auto count = static_cast<std::int64_t>(8.0 * nodes / shares / (k + 1));
    for (std::int64_t e = 0; e < count; ++e) edges.try_emplace({node(k), node(k)}, k);
  }
  row_list list(static_cast<std::size_t>(nodes));
  for (const auto& [edge, kind] : edges)
    list[static_cast<std::size_t>(edge.first)].push_back(edge.second);
  sparse_matrix out = finish("relations", nodes, std::move(list), random);
  std::size_t at = 0;  // a map is in the order of rows and columns
  for (const auto& [edge, kind] : edges) out.values[at++] = static_cast<float>(kind);
  return out;
}

sparse_matrix surface_points() {
  constexpr std::int32_t side = 128;
  generator random(24);
  std::map<std::int32_t, std::int32_t> points;  // by place
  const auto place = [](std::int32_t x, std::int32_t y, std::int32_t z) {
    return (x * side + y) * side + z;
  };
  for (int sphere = 0; sphere < 6; ++sphere) {
    const double radius = 12 + 20 * random.unit();
    double center[3];
    for (double& c : center) c = radius + 1 + (side - 2 * radius - 2) * random.unit();
    for (std::int32_t x = 0; x < side; ++x)
      for (std::int32_t y = 0; y < side; ++y)
        for (std::int32_t z = 0; z < side; ++z) {
          const double far = std::hypot(x - center[0], y - center[1], z - center[2]);
          if (std::abs(far - radius) <= 0.5) points.try_emplace(place(x, y, z), 0);
        }
  }
  std::int32_t count = 0;
  for (auto& [at, number] : points) number = count++;
  row_list list(points.size());
  std::vector<float> kinds;
  for (const auto& [at, number] : points)
    for (std::int32_t offset = 0; offset < 27; ++offset) {
      const std::int32_t x = at / side / side + offset / 9 - 1,
                         y = at / side % side + offset / 3 % 3 - 1, z = at % side + offset % 3 - 1;
      if (std::min({x, y, z}) < 0 || std::max({x, y, z}) >= side) continue;
      const auto neighbour = points.find(place(x, y, z));
      if (neighbour == points.end()) continue;
      list[static_cast<std::size_t>(number)].push_back(neighbour->second);
      kinds.push_back(
          static_cast<float>(offset));  // places rise with offsets, and numbers with places
    }
  sparse_matrix out = finish("points", count, std::move(list), random);
  out.values = std::move(kinds);
  return out;
}

std::vector<sparse_matrix> sparse_matrices() {
  return {powerlaw(), rmat16(), uniform(), banded(), stencil27(), blocks32(), unstructured()};
}

namespace {

/// What formats depend on.
struct pattern_statistics {
  double mean = 0;    // elements of a row
  double most = 0;    // of one row
  double spread = 0;  // standard deviation of their number over the mean
  double gini = 0;    // how unequal rows are: 0 all alike, 1 one row has all
  double empty = 0;   // rows without elements; %
  double in_rows_of_one_width = 0, in_blocks_of_4 = 0;  // of the places; %
};

pattern_statistics statistics_of(const sparse_matrix& m) {
  const auto rows = static_cast<std::size_t>(m.rows);
  std::vector<double> lengths(rows);
  std::size_t blocks = 0;
  std::vector<std::size_t> seen(static_cast<std::size_t>(m.columns) / 4 + 1, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    lengths[i] = m.offsets[i + 1] - m.offsets[i];
    for (auto at = static_cast<std::size_t>(m.offsets[i]);
         at < static_cast<std::size_t>(m.offsets[i + 1]); ++at) {
      std::size_t& last = seen[static_cast<std::size_t>(m.indices[at]) / 4];
      blocks += last != i / 4 + 1;
      last = i / 4 + 1;
    }
  }
  std::sort(lengths.begin(), lengths.end());
  const auto all = static_cast<double>(m.nonzeros()), n = static_cast<double>(m.rows);
  pattern_statistics out;
  if (m.rows == 0) return out;
  out.mean = all / n;
  out.most = lengths.back();
  double squares = 0, ranked = 0, empty = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    squares += (lengths[i] - out.mean) * (lengths[i] - out.mean);
    ranked += static_cast<double>(i + 1) * lengths[i];
    empty += lengths[i] == 0;
  }
  out.empty = 100 * empty / n;
  if (all == 0) return out;
  out.spread = std::sqrt(squares / n) / out.mean;
  out.gini = 2 * ranked / (n * all) - (n + 1) / n;
  out.in_rows_of_one_width = 100 * all / (n * out.most);
  out.in_blocks_of_4 = 100 * all / (16 * static_cast<double>(blocks));
  return out;
}

/// What a recipe is known to give; negative: that is not known.
struct known_statistics {
  const char* name;
  pattern_statistics values;
};
constexpr double not_known = -1;
constexpr known_statistics known[] = {
    {"powerlaw", {7.7, 2879, 4.98, .63, not_known, .3, not_known}},
    {"rmat16", {7.5, 3856, 5.66, .89, 49, not_known, not_known}},
    {"uniform", {8, 25, .35, not_known, not_known, 32, not_known}},
    {"banded", {9, not_known, .27, not_known, not_known, not_known, 25.5}},
    {"stencil27", {25.3, 27, not_known, not_known, not_known, 94, not_known}},
    {"blocks32", {not_known, not_known, not_known, not_known, 27, not_known, 100}}};

}  // namespace

std::string statistics(const sparse_matrix& m) {
  const pattern_statistics s = statistics_of(m);
  char out[256];
  std::snprintf(
      out, sizeof out,
      "%d x %d, %lld elements, %.1f a row (max %.0f, cv %.2f, Gini %.2f), %.0f %% of rows "
      "empty, rows of one width %.1f %% full, blocks of 4 %.1f %%",
      m.rows, m.columns, static_cast<long long>(m.nonzeros()), s.mean, s.most, s.spread, s.gini,
      s.empty, s.in_rows_of_one_width, s.in_blocks_of_4);
  return out;
}

std::string unlike_known(const sparse_matrix& m) {
  constexpr double far = 0.05;
  std::string out;
  for (const known_statistics& k : known) {
    if (m.name != k.name) continue;
    const pattern_statistics s = statistics_of(m);
    const auto compare = [&](const char* what, double made, double expected) {
      if (expected < 0 || std::abs(made - expected) <= far * expected) return;
      char text[96];
      std::snprintf(text, sizeof text, "%s%s %.2f and not %.2f", out.empty() ? "" : ", ", what,
                    made, expected);
      out += text;
    };
    compare("mean", s.mean, k.values.mean);
    compare("max", s.most, k.values.most);
    compare("cv", s.spread, k.values.spread);
    compare("Gini", s.gini, k.values.gini);
    compare("empty rows %", s.empty, k.values.empty);
    compare("rows of one width, % full", s.in_rows_of_one_width, k.values.in_rows_of_one_width);
    compare("blocks of 4, % full", s.in_blocks_of_4, k.values.in_blocks_of_4);
  }
  return out;
}

}  // namespace bench
