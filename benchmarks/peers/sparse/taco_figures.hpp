// TACO (Kjolstad et al., OOPSLA 2017), which no package has: what its kernels reached on these matrices elsewhere.
#pragma once

#include <string_view>

namespace bench {

/// GFLOP/s on stored elements, floats, one core of a shared machine, clang -O3 -march=native
/// -ffast-math, within 10 %; each for 32 and for 128 columns. Eigen's and a plain loop's of the same run say what the
/// machine was.
struct taco_figures {
  std::string_view matrix;
  double taco[2];  // its default kernel
  double recipe
      [2];  // the schedule of its own tests: rows by 32, positions by 8, vectors along the columns
  double eigen[2];
  double plain[2];
};

inline constexpr taco_figures taco_elsewhere[] = {
    {"powerlaw", {4.6, 3.7}, {1.9, 1.9}, {3.4, 3.4}, {5.4, 4.1}},
    {"rmat16", {5.4, 6.2}, {2.4, 2.7}, {6.3, 5.6}, {7.7, 6.5}},
    {"uniform", {4.9, 3.3}, {1.6, 1.4}, {5.1, 2.8}, {5.7, 3.2}},
    {"banded", {11.1, 13.0}, {2.1, 2.2}, {12.4, 12.0}, {13.5, 13.7}},
    {"stencil27", {11.5, 17.3}, {3.3, 3.8}, {10.3, 19.1}, {11.3, 17.8}},
    {"blocks32", {11.7, 20.4}, {10.7, 13.9}, {10.1, 24.1}, {12.3, 19.5}},
    {"unstructured", {10.6, 12.7}, {8.6, 9.9}, {9.8, 15.7}, {11.9, 13.3}}};

}  // namespace bench
