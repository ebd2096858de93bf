// A sparse convolution: features of points on a surface in space, at 27 offsets around each.
//
// The points are the voxels of a sphere's surface, few of all those in the cube around it. An output point
// adds up its neighbours, each through the weights of its offset (Choy, Gwak and Savarese, CVPR 2019);
// places without a point cost nothing. With weights that know the offsets alone, the sum of an output
// points to where its neighbours are: of a surface, along it. So the normal of the sphere, times the
// sum, is small, and the layer finds which way the surface faces.
#include "relational.hpp"

#include <array>
#include <iomanip>
#include <iostream>
#include <map>

int main() {
  constexpr int radius = 30, in = 16, out = 16, offsets = 27;
  std::map<std::array<int, 3>, int> points;
  for (int x = -radius - 1; x <= radius + 1; ++x)
    for (int y = -radius - 1; y <= radius + 1; ++y)
      for (int z = -radius - 1; z <= radius + 1; ++z) {
        const double far = std::sqrt(static_cast<double>(x * x + y * y + z * z));
        if (std::abs(far - radius) <= 0.5)
          points.emplace(std::array{x, y, z}, static_cast<int>(points.size()));
      }
  const auto count = static_cast<Eigen::Index>(points.size());
  std::vector<Eigen::Triplet<float>> entries;
  for (const auto& [at, point] : points)
    for (int offset = 0; offset < offsets; ++offset) {
      const auto neighbour =
          points.find({at[0] + offset / 9 - 1, at[1] + offset / 3 % 3 - 1, at[2] + offset % 3 - 1});
      if (neighbour != points.end())
        entries.emplace_back(point, neighbour->second, static_cast<float>(offset));
    }
  graph a(count, count);
  a.setFromTriplets(entries.begin(), entries.end());
  std::vector<std::int32_t> kind(a.valuePtr(), a.valuePtr() + a.nonZeros());
  for (Eigen::Index n = 0; n < a.nonZeros(); ++n) a.valuePtr()[n] = 1;

  features x = features::Random(count, in), w = features::Random(offsets * in, out), y(count, out);
  x.col(0).setOnes();
  // results 0 to 8 are the sums of products of the offset's parts: how neighbours spread in each direction
  for (int offset = 0; offset < offsets; ++offset) {
    const std::array<int, 3> step{offset / 9 - 1, offset / 3 % 3 - 1, offset % 3 - 1};
    w.middleRows(offset * in, in).leftCols(9).setZero();
    for (int r = 0; r < 9; ++r)
      w(offset * in, r) = static_cast<float>(step[static_cast<std::size_t>(r / 3)] *
                                             step[static_cast<std::size_t>(r % 3)]);
  }
  const tw::tuned op{relational, {.seconds = 2, .threads = 1}};
  op(a, kind, x, tw::view(w.data(), {offsets, in, out}), y);

  // neighbours spread least along the normal
  double along = 0;
  for (const auto& [at, point] : points) {
    Eigen::Matrix3f spread;
    for (int r = 0; r < 9; ++r) spread(r / 3, r % 3) = y(point, r);
    const Eigen::Vector3f normal =
        Eigen::Vector3f(static_cast<float>(at[0]), static_cast<float>(at[1]),
                        static_cast<float>(at[2]))
            .normalized();
    along += static_cast<double>(normal.dot(spread * normal)) / static_cast<double>(spread.trace());
  }
  along /= static_cast<double>(count);
  const double worst = difference(a, kind, x, w, y, 13);
  std::cout << count << " points of " << std::pow(2 * radius + 1, 3) << " places, " << a.nonZeros()
            << " pairs of neighbours\n"
            << std::fixed << std::setprecision(1) << "of the neighbours' spread, " << 100 * along
            << " % is across the surface (a third would be, in a solid)\n"
            << std::scientific << "largest difference from double: " << worst << "\n";
  return along < 0.2 && worst < 1e-5 ? 0 : 1;
}
