// Shortest ways between towns: from some of them to all others, one more road at a time (Bellman and Ford).
//
// Where there is no road, the way is infinitely long: the matrix of roads is sparse, and what it does not store is
// no zero. A step is a product in which a minimum takes the place of the sum and a sum that of the product.
#include <tilewright/tilewright.hpp>

#include <Eigen/Sparse>
#include <cmath>
#include <functional>
#include <iomanip>
#include <iostream>
#include <queue>
#include <random>
#include <utility>
#include <vector>

// [step]
constexpr tw::dim roads = tw::absent_as<tw::compressed<"N">, tw::infinity>;
constexpr auto one_more_road = tw::kernel<"one_more_road">(
    [](tw::in<"road", float, "N", roads> road, tw::in<"way", float, "N", "S"> way,
       tw::out<"next", float, "N", "S"> next) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return next(i, j) = tw::min(way(i, j), tw::min<k>(road(i, k) + way(k, j)));
    });
// [step]

namespace {

using sparse = Eigen::SparseMatrix<float, Eigen::RowMajor>;
using table = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Towns on a grid with roads to their neighbours, of lengths that are no straight lines; some are missing.
sparse country(int wide) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> length(1, 3);
  std::vector<Eigen::Triplet<float>> entries;
  const auto connect = [&](int a, int b) {
    if (random() % 8 == 0) return;
    const float km = length(random);
    entries.emplace_back(a, b, km);
    entries.emplace_back(b, a, km);
  };
  for (int y = 0; y < wide; ++y)
    for (int x = 0; x < wide; ++x) {
      if (x + 1 < wide) connect(y * wide + x, y * wide + x + 1);
      if (y + 1 < wide) connect(y * wide + x, (y + 1) * wide + x);
    }
  sparse out(wide * wide, wide * wide);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// The same one town after the other, the nearest one first (Dijkstra).
std::vector<float> nearest_first(const sparse& road, int from) {
  std::vector<float> out(static_cast<std::size_t>(road.rows()), static_cast<float>(tw::infinity));
  using stop = std::pair<float, int>;
  std::priority_queue<stop, std::vector<stop>, std::greater<>> next;
  next.emplace(0.0f, from);
  while (!next.empty()) {
    const auto [way, town] = next.top();
    next.pop();
    if (way >= out[static_cast<std::size_t>(town)]) continue;
    out[static_cast<std::size_t>(town)] = way;
    for (sparse::InnerIterator to(road, town); to; ++to)
      next.emplace(way + to.value(), static_cast<int>(to.col()));
  }
  return out;
}

}  // namespace

int main() {
  constexpr int wide = 60, starts = 16;
  const sparse road = country(wide);
  const Eigen::Index towns = road.rows();
  table way = table::Constant(towns, starts, static_cast<float>(tw::infinity)), next = way;
  std::vector<int> from;
  for (int s = 0; s < starts; ++s) {
    from.push_back(s * 223 % static_cast<int>(towns));
    way(from.back(), s) = 0;
  }
  const tw::tuned op{one_more_road, {.seconds = 1}};
  int steps = 0;
  for (bool shorter = true; shorter; ++steps) {
    op(road, way, next);
    shorter = next != way;
    way.swap(next);
  }

  float difference = 0, longest = 0;
  int unreached = 0;
  for (int s = 0; s < starts; ++s) {
    const std::vector<float> expected = nearest_first(road, from[static_cast<std::size_t>(s)]);
    for (Eigen::Index town = 0; town < towns; ++town) {
      const float ours = way(town, s), other = expected[static_cast<std::size_t>(town)];
      if (std::isinf(ours) || std::isinf(other)) {
        unreached += std::isinf(ours);
        if (std::isinf(ours) != std::isinf(other)) difference = ours;
        continue;
      }
      difference = std::max(difference, std::abs(ours - other));
      longest = std::max(longest, ours);
    }
  }
  std::cout << towns << " towns, " << road.nonZeros() / 2 << " roads; ways from " << starts
            << " towns settled after " << steps << " steps\n"
            << std::fixed << std::setprecision(2) << "the longest one is " << longest << " km, "
            << unreached << " have no road; those by the nearest town first differ by at most "
            << std::scientific << std::setprecision(1) << difference << " km\n";
  return difference < 1e-4f ? 0 : 1;
}
