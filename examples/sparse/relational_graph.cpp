// A layer of a relational graph convolution (Schlichtkrull et al., ESWC 2018): who manages whom?
//
// People are linked by three kinds of edges: "manages", "is managed by" and "sits beside". A layer adds up the
// features of the neighbours, each through the matrix of its kind of edge. With matrices that keep
// the first kind and drop the others, the layer counts how many people somebody manages, which an
// ordinary convolution cannot: it does not tell the kinds apart.
#include "relational.hpp"

#include <iomanip>
#include <iostream>
#include <random>

int main() {
  constexpr int people = 20000, kinds = 3, in = 32, out = 32;
  std::mt19937 random(3);
  struct edge {
    int from, to, kind;
  };
  std::vector<edge> edges;
  std::vector<int> manages(people);
  for (int person = 1; person < people;
       ++person) {  // a tree of managers, four people each on average
    const int manager = (person - 1) / 4;
    edges.push_back({manager, person, 0});
    edges.push_back({person, manager, 1});
    ++manages[static_cast<std::size_t>(manager)];
    const int neighbour = person ^ 1;  // which is another person, and no manager of either
    if (neighbour < people && neighbour / 2 == person / 2 && (neighbour - 1) / 4 != person &&
        (person - 1) / 4 != neighbour && neighbour != manager)
      edges.push_back({person, neighbour, 2});
  }
  std::vector<Eigen::Triplet<float>> entries;
  for (const edge& e : edges) entries.emplace_back(e.from, e.to, static_cast<float>(e.kind));
  graph a(people, people);
  a.setFromTriplets(entries.begin(), entries.end());
  std::vector<std::int32_t> kind(a.valuePtr(), a.valuePtr() + a.nonZeros());
  for (Eigen::Index n = 0; n < a.nonZeros(); ++n) a.valuePtr()[n] = 1;

  features x = features::Random(people, in), w = features::Random(kinds * in, out);
  x.col(0).setOnes();
  for (int k = 0; k < kinds; ++k) w.middleRows(k * in, in).col(0).setZero();
  w(0, 0) = 1;  // of "manages", the constant feature; result 0 counts
  features y(people, out);
  const auto weights = tw::view(w.data(), {kinds, in, out});
  const tw::tuned op{relational, {.seconds = 2, .threads = 1}};
  op(a, kind, x, weights, y);

  int right = 0;
  for (int person = 0; person < people; ++person)
    right +=
        static_cast<int>(std::lround(y(person, 0))) == manages[static_cast<std::size_t>(person)];
  const double worst = difference(a, kind, x, w, y, 97);
  std::cout << people << " people, " << a.nonZeros() << " edges of " << kinds << " kinds\n"
            << "people of whom the layer says how many they manage: " << right << "\n"
            << "person 0 manages " << y(0, 0) << ", person 7 manages " << y(7, 0) << "\n"
            << std::scientific << "largest difference from double: " << worst << "\n";
  return right == people && worst < 1e-5 ? 0 : 1;
}
