// What a parameter takes, by how its elements are stored: the sentence of each format.
#pragma once

#include <tilewright/meta/dim.hpp>
#include <tilewright/meta/mistake.hpp>
#include <tilewright/meta/name.hpp>

namespace tilewright::dsl {

template <class... T>
inline constexpr bool is_sparse_argument = false;

/// Refuses what is given for a parameter of this storage; each format has a line below.
template <dim_storage Storage>
struct matrix_argument;

/// @cond
#define TILEWRIGHT_MATRIX_ARGUMENT(STORAGE, WRITTEN, TAKEN)                                    \
  template <>                                                                                  \
  struct matrix_argument<dim_storage::STORAGE> {                                               \
    template <class Name, class Given>                                                         \
    static constexpr void refuse() {                                                           \
      TILEWRIGHT_MISTAKE(is_sparse_argument,                                                   \
                         "tilewright: the argument of a parameter with " WRITTEN " is " TAKEN, \
                         meta::shown<Name>, Given);                                            \
    }                                                                                          \
  }
#define TILEWRIGHT_MAKE_ONE "; make one of the matrix, and keep it"

TILEWRIGHT_MATRIX_ARGUMENT(compressed, "a compressed dimension",
                           "a sparse matrix of Eigen or csr(offsets, indices, values, columns)");
TILEWRIGHT_MATRIX_ARGUMENT(sell, "sell<\"K\", lanes>",
                           "a sell_matrix<T, lanes>" TILEWRIGHT_MAKE_ONE);
TILEWRIGHT_MATRIX_ARGUMENT(bsr, "bsr<\"K\", block>", "a bsr_matrix<T, block>" TILEWRIGHT_MAKE_ONE);
TILEWRIGHT_MATRIX_ARGUMENT(ell, "ell<\"K\", width>", "an ell_matrix<T, width>" TILEWRIGHT_MAKE_ONE);
TILEWRIGHT_MATRIX_ARGUMENT(dcsr, "dcsr<\"K\">", "a dcsr_matrix<T>" TILEWRIGHT_MAKE_ONE);
TILEWRIGHT_MATRIX_ARGUMENT(
    csc, "csc<\"K\">",
    "an Eigen::SparseMatrix<T>, csc_of(offsets, indices, values, rows) or a csc_matrix<T>");
TILEWRIGHT_MATRIX_ARGUMENT(dia, "dia<\"K\">", "a dia_matrix<T>" TILEWRIGHT_MAKE_ONE);
TILEWRIGHT_MATRIX_ARGUMENT(ragged, "ragged<\"L\">", "ragged_of(offsets, values)");
TILEWRIGHT_MATRIX_ARGUMENT(parts, "parts<..>", "a parted_matrix<T, parts<..>>" TILEWRIGHT_MAKE_ONE);
TILEWRIGHT_MATRIX_ARGUMENT(
    stored_like, "stored_like<\"N\", \"A\">",
    "a vector of its values, an array of them where dimensions stand behind, or a "
    "sparse matrix with the same pattern");

#undef TILEWRIGHT_MAKE_ONE
#undef TILEWRIGHT_MATRIX_ARGUMENT
/// @endcond

}  // namespace tilewright::dsl
