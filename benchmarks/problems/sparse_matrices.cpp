#include "sparse_matrices.hpp"

#include <algorithm>
#include <cmath>
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

namespace {

sparse_matrix anywhere(std::string name, double share) {
  constexpr std::int32_t n = 2048;
  generator random(7);
  row_list rows(n);
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t c = 0; c < n; ++c)
      if (random.unit() < share) rows[static_cast<std::size_t>(i)].push_back(c);
  return finish(std::move(name), n, std::move(rows), random);
}

/// Rows with the columns that `f` gives each.
template <class F>
sparse_matrix by_rows(const char* name, std::int32_t count, std::int32_t columns, const F& f) {
  generator random(9);
  row_list rows(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = f(i);
  return finish(name, columns, std::move(rows), random);
}

}  // namespace

sparse_matrix unstructured() { return anywhere("unstructured", 0.028); }

std::vector<sparse_matrix> densities() {
  return {anywhere("density0.5", 0.005), anywhere("density5", 0.05), anywhere("density10", 0.1),
          anywhere("density30", 0.3)};
}

std::vector<sparse_matrix> pathological() {
  constexpr std::int32_t n = 16384, wide = 8 * n;
  using columns = std::vector<std::int32_t>;
  columns all(n), whole(wide);
  std::iota(all.begin(), all.end(), 0);
  std::iota(whole.begin(), whole.end(), 0);
  const auto diagonal = [](std::int32_t i) { return columns{i}; };
  const auto none = [](std::int32_t) { return columns{}; };
  return {by_rows("dense_row", n, n, [&](std::int32_t i) { return i == n / 2 ? all : columns{i}; }),
          by_rows("dense_column", n, n,
                  [](std::int32_t i) {
                    return columns{n / 2, i};
                  }),
          by_rows("diagonal", n, n, diagonal),
          by_rows("arrow", n, n,
                  [&](std::int32_t i) {
                    return i == n - 1 ? all : columns{i, n - 1};
                  }),
          by_rows("one_row", 1, n, [&](std::int32_t) { return all; }),
          by_rows("one_column", n, 1, [](std::int32_t) { return columns{0}; }),
          by_rows("empty", n, n, none),
          by_rows("last_row_empty", n, n,
                  [](std::int32_t i) {
                    return i == n - 1 ? columns{} : columns{i, (i + 1) % n};
                  }),
          by_rows("long_row", n, wide, [&](std::int32_t i) {
            return i == n / 2 ? whole : columns{3 * i, 4 * i + 1};
          })};
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

}  // namespace bench
