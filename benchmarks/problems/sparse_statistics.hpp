// What of a pattern decides about its format, in numbers, beside what is known of matrices of its kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sparse_matrices.hpp"

namespace bench {

/// A number of a pattern by its name: "avg", "max", "cv", "gini", "empty", "ell" (share of the places of rows of the longest
/// one's width that are elements), "hyb(c,k)" (share of places that are none, where columns are cut into c parts,
/// and rows of each are padded to 1, 2 .. 2^k places, longer ones cut into rows of 2^k), "bsr<b>" (share of the places
/// of b x b blocks with an element that are elements), "strips(t,g)" (the same of strips of t rows whose columns with
/// an element are padded to a multiple of g: SR-BCRS).
double statistic_of(const sparse_matrix& m, std::string_view name);

/// What is known of the matrices of a kind from elsewhere.
struct known_statistic {
  std::string name;
  double value;
  double within = 0.05;  // of the value, or 0.005 of a share: what other draws change
};

/// Those of the matrices of a name; none of others.
std::vector<known_statistic> known_statistics(std::string_view matrix);

/// Whether a value is the known one.
bool agrees(const known_statistic& known, double value);

/// "65536 x 65536, 504137 elements, 7.7 a row (max 2879, cv 4.98, Gini 0.63), 0 % of rows empty, ELL fill 0.3 %,
/// blocks of 4 6 %, 16 1 % full, hyb(1,3) 13 % padding", and what is known in parentheses, marked where it does not
/// agree.
std::string statistics(const sparse_matrix& m);

}  // namespace bench
