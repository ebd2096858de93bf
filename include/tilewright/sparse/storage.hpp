// Which parameters of a dense program are stored sparsely: the way into stage I.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/sparse/format_rule.hpp>

namespace tilewright::sparse {

/// How the elements of a parameter, or of a temporary, are stored.
struct stored_parameter {
  std::string parameter;
  std::int64_t places = 0;   // of elements; padding counts
  dtype index = dtype::i32;  // of offsets and indices
  std::int64_t lanes = 1;    // rows side by side; 1: compressed rows
  std::int64_t slices = 0;   // groups of so many rows
  /// The compressed parameter whose elements it has; "": it has offsets and indices of its own.
  std::string pattern = {};
  std::int64_t block = 1;  // rows and columns of a block; 1: single elements
  std::int64_t width = 0;  // places of each row; 0: rows have as many as they need
  /// Rows that have elements, of which alone there are numbers and offsets; -1: all rows have offsets.
  std::int64_t numbered_rows = -1;
  /// Name of the arrays where the parameter is a sum of several matrices, each of which has an entry; "": its own.
  std::string part = {};
  /// Of a part: no other one has elements in its rows, which are stored by it alone.
  bool exclusive_rows = false;
  bool by_columns = false;      // offsets are those of columns, and indices number rows
  std::int64_t diagonals = -1;  // stored as so many diagonals; -1: by rows
  bool counted = false;         // rows have offsets and no indices: ragged
  /// Elements of compressed fibres along each dimension between the first and the last one.
  std::vector<std::int64_t> levels = {};
  /// A format that the user states; null: none. `levels` are the elements of its sparse_variable axes.
  std::shared_ptr<const format_rule> rule = {};
  /// What is read where nothing is stored; infinities are the highest and the lowest value of the type.
  double absent = 0;
  /// Of blocks: some places hold no element.
  bool padded = false;

  /// Its arrays are others than offsets, indices and values of compressed rows.
  bool converted() const {
    return lanes > 1 || block > 1 || width > 0 || numbered_rows >= 0 || by_columns ||
           diagonals >= 0 || rule || !part.empty();
  }
  /// What names of arrays begin with.
  const std::string& arrays() const { return part.empty() ? parameter : part; }
};

/// Names of the arrays of a sparse parameter `A`: "A_indptr", "A_indices", and "A" for its values; of
/// rows side by side "A_lengths" and "A_order", too; rows of one width have "A_lengths" and no offsets; rows
/// with numbers have "A_row_numbers", diagonals "A_diagonals" and no offsets. Rows that are counted have no
/// indices. A tensor in compressed fibres has offsets and indices of "A_level1", "A_level2" and so on.
std::string indptr_name(const std::string& parameter);
std::string indices_name(const std::string& parameter);
std::string lengths_name(const std::string& parameter);
std::string order_name(const std::string& parameter);
std::string row_numbers_name(const std::string& parameter);
std::string diagonals_name(const std::string& parameter);
/// @param level 1: the second dimension
std::string level_name(const std::string& parameter, int level);
/// Name of the arrays of a part of a sparse parameter `A`: "A_part0".
std::string part_name(const std::string& parameter, int part);

/// What names of the offsets and indices of an axis of a rule begin with: "A" where no other axis is sparse, else "A_AXIS".
std::string rule_arrays_name(const std::string& arrays, const format_rule& rule,
                             const format_axis& axis);

/// The parameter in the format of a rule, as a pattern has its arrays: `A_indptr` and `A_indices` where one axis is sparse,
/// else `A_AXIS_indptr` and `A_AXIS_indices`, in the order of the axes, and the values of all places.
stored_parameter stored_by_rule(std::string parameter, format_rule rule,
                                const formatted_pattern& pattern, dtype index = dtype::i32);

/// The program `f` over coordinates, with the parameters in `formats` stored as they say. Each gives
/// way to its arrays. A nest that reads or writes one of them becomes a sparse iteration: axes that
/// index it in their order, then the others.
///
/// A result on the pattern of another parameter is computed at the elements of that pattern. A
/// temporary that only such nests read, at the element of their result, is stored on the pattern,
/// too: of `S[i, j] = A[i, j] * T[i, j]` no other element of T is needed.
///
/// Rows side by side (SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput. 36, 2014) are sorted and
/// padded, so that the iteration has its own result, of which a second nest takes each row from its
/// place:
/// ```
/// iteration C [slices: S, steps: R, lanes: S, K: R]:   C_sliced[s * lanes + l] += A[s, t, l] * B[k]
/// for i:                                               C[i] = C_sliced[A_order[i]]
/// ```
/// What pads a row is multiplied and left out, so that it shows no NaN. Rows that all have as many places
/// (ELL) are walked as far as that. Blocks (BSR) are stored by columns; where the number of rows is no
/// multiple of the block, the result is one of the iteration's own, as above:
/// ```
/// iteration C [rows of blocks: S, blocks: R, columns: R, rows: S]:
///   C[o * b + i] += A[o, t, c, i] * B[t * b + c]
/// ```
/// A sum over a parameter that has several entries, which are its parts, becomes a sum over each of them. The
/// first initializes the result, and the others add to it, so that it is initialized once:
/// ```
/// iteration C [..: over the first part]:         C[i] = 0, C[i] += A_part0[..] * B[..]
/// iteration C_part1 [rows: S, columns: R]:       C[i] += A_part1[i, k] * B[k]
/// ```
/// No two parts hold one element: what makes the matrix sees to it. A part of rows with numbers whose rows no other
/// part has initializes and stores them itself, instead of adding to what is there.
/// Of rows with numbers (DCSR) those that are there are added to a result that a nest of its own has
/// initialized; so are columns (CSC) where the sum is along a row. Diagonals (DIA) are walked by rows, as far
/// as they lie in the matrix.
/// A format that a rule states is walked along its axes, with row and column as its inverse map says. Axes that the
/// row depends on are spatial, the others reduce. Where one of the former is sparse, rows may be missing, so that a
/// nest of its own initializes the result. Rows and columns beyond the matrix, which pad the last places, are left out.
/// ```
/// iteration C [IO: S, JO: R, JI: R, II: S]:   C[io * 2 + ii] += A[io, jo, ji, ii] * B[jo * 2 + ji]
/// ```
/// A sum leaves out what is not stored, and so does a minimum of A + B where `absent` is the highest value, a maximum where
/// it is the lowest one: the caller sees to it. Places that pad a format are left out, too; those of blocks, diagonals
/// and rules are read, and hold that value (`formatted_pattern::gather`).
/// Rows that are counted (ragged) and fibres (CSF) are axes as compressed rows are; dense dimensions may
/// stand behind counted ones, and are dimensions of the values.
/// A tensor on the pattern of a matrix in blocks, in rows of one width, of rows with numbers or in parts of these has a
/// value for each place of it, and an array for each part. Its nest becomes one for each part, and nests of such
/// results that follow each other are done part by part:
/// ```
/// iteration S [rows of blocks: S, blocks: S, columns: S, rows: S]:
///   S[o, t, c, i] = A[o, t, c, i] * X[o * b + i] * Y[t * b + c]
/// iteration S_part1 [rows: S, columns: S]:   S_part1[i, k] = A_part1[i, k] * X[i] * Y[k]
/// ```
/// @throws argument_error for a rule that breaks a requirement of `check_format_rule`; when a block reads a sparse parameter and is no perfect nest of its own; when
/// one that reads another format than compressed rows does anything but sum, or one that reads rows side
/// by side needs the number of the row elsewhere; when one reduces what is stored like a matrix of padded blocks, of which
/// places that hold no element would count
ir::sparse_function with_storage(const ir::function& f,
                                 const std::vector<stored_parameter>& formats);

}  // namespace tilewright::sparse
