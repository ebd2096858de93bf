// Sparse programs over coordinates: axes, sparse buffers and sparse iterations (SparseTIR, ASPLOS
// 23, sections 3 and 4; its stage I).
//
// An expression indexes a sparse buffer by coordinates, as if all of its elements were there; what
// is not stored has the buffer's default value. How elements are stored is said by axes, once, and
// no expression mentions it. An iteration over a stored axis visits the stored elements below the
// position of its parent, in their order; what it does there is an ordinary statement. Lowering
// (sparse/lower.hpp) makes loops over positions of it.
//
// The four kinds of axes differ in two things. Does the number of elements depend on the parent's
// position (offsets, `indptr`), and are the coordinates listed (`indices`) or counted?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Attribute of a function on flat storage: which of its parameters are offsets, by their names. Each
/// is a list of the name of the parameter that they lead into, of its number of elements, and, where patterns
/// meet or a row of blocks is kept, of the coordinates that its elements have a place among.
inline constexpr const char* offsets_attribute = "tilewright.offsets";

enum class axis_kind : std::uint8_t {
  dense_fixed,  // [0, length), each coordinate is its position; below a parent as often as that has
                // positions: the rows of a slice, the inside of a block
  dense_variable,  // offsets say how many, counted from 0: ragged
  sparse_fixed,    // `width` elements each, their coordinates are listed: ELL
  sparse_variable  // offsets say how many, their coordinates are listed: CSR
};

struct sparse_axis_node;
/// Shared handle to an axis; its identity is the node.
using sparse_axis = support::ref<const sparse_axis_node>;

struct sparse_axis_node : support::counted {
  std::string name;
  axis_kind kind = axis_kind::dense_fixed;
  sparse_axis parent;  // null for a dense_fixed axis that stands alone
  expr length;         // of the coordinates
  expr nnz;            // variable: elements below all positions of the parent
  expr width;          // sparse_fixed: elements below one of them
  buffer indptr;       // variable: first elements, and behind them the end
  buffer indices;      // sparse: coordinates
  bool sorted = true;  // coordinates rise below each position of the parent, none occurs twice

  bool variable() const {
    return kind == axis_kind::dense_variable || kind == axis_kind::sparse_variable;
  }
  bool sparse() const {
    return kind == axis_kind::sparse_fixed || kind == axis_kind::sparse_variable;
  }
};

/// A tensor whose elements are stored along axes.
struct sparse_buffer {
  ir::buffer coordinates;         // what expressions index; its shape are the lengths of the axes
  std::vector<sparse_axis> axes;  // [rank]
  ir::buffer storage;             // one dimension; or one, and those of the dense axes behind the
                                  // last stored one
  expr absent = {};               // a literal: what is read where nothing is stored; null: 0
};

/// What is read of the buffer where nothing is stored.
inline expr absent_value(const sparse_buffer& b) {
  return b.absent ? b.absent : literal(b.coordinates->type, 0);
}

/// Axes up to the last one of which only some points are stored; those behind are positions as they stand.
std::size_t stored_rank(const sparse_buffer& b);

/// Annotation of a parallel loop over rows: the name of their offsets. Threads share it out by the elements of
/// rows, beside their number.
inline constexpr const char* balance_annotation = "tilewright.balance";

/// Annotation of such a loop: so many tasks share it out, which begin and end inside of rows
/// (pass/rows/divide_rows.hpp). Rows of a matrix may be fewer than threads.
inline constexpr const char* tasks_annotation = "tilewright.tasks";

/// Annotation of a block over coordinates: how the sparse tensors that it reads meet. One of
///
///     ["intersect", v], ["unite", v]   along the iteration variable v, the patterns of all that are read at it
///     ["look up"]                      nothing is walked
///     ["walk", A, vi, vk]              what A stores is, as A[vi, vk]; the others are looked up
inline constexpr const char* walk_attribute = "tilewright.walk";

/// Annotation of a block: names of parameters whose elements rise strictly, so that no number occurs twice. Pattern
/// checks see to it. Instances that write at such a number write apart.
inline constexpr const char* rising_annotation = "tilewright.rising";

/// Annotation of an iteration whose axes are fused, and of its block: each element finds its row by a search of its
/// own in the offsets, so that rows are listed in parallel. Without it a walk over the rows lists them.
inline constexpr const char* searched_rows_annotation = "tilewright.searched_rows";

/// Annotation of an iteration, and of its block: its results are initialized by a nest of its own, before it.
inline constexpr const char* initialized_apart_annotation = "tilewright.initialized_apart";

/// Attribute of a function on flat storage: the text of the sparse program that it was lowered from
/// (sparse/iterations.hpp).
inline constexpr const char* iterations_attribute = "tilewright.iterations";

/// The points along an axis that an iteration visits.
enum class axis_walk : std::uint8_t {
  every,      // those that the axis has
  intersect,  // of a dense axis, the coordinates that all sparse buffers read along it store
  unite       // those that at least one of them stores
};

struct sparse_iter {
  ir::var var;
  sparse_axis axis;
  iter_kind kind = iter_kind::spatial;  // spatial or reduce
  axis_walk walk = axis_walk::every;
  bool fused = false;  // one loop over the elements of the next axis walks that one and this one
  /// An axis that stands before, whose coordinates are the rows of this one; null: positions of its parent
  /// are. Rows of one matrix are so walked below the columns of another one.
  sparse_axis attached = {};
};

/// Whether one loop walks the axis and others. A fused group begins with an axis that has no parent, and
/// each further one is of variable extent, below the one before.
inline bool in_fused_group(const std::vector<sparse_iter>& iters, std::size_t k) {
  return iters[k].fused || (k > 0 && iters[k - 1].fused);
}

/// `body` for each point that the axes store, in their order. `init` runs once for each point of
/// the spatial axes, before, also where nothing is stored to be reduced. A sparse buffer that is read
/// elsewhere than at the variables of its axes is looked up by coordinates.
struct sparse_iteration {
  std::string name;
  std::vector<sparse_iter> iters;  // a stored axis stands after its parent
  ir::annotations annotations;
  stmt init;  // null when nothing is reduced
  stmt body;  // stores, in sequences and lets
};

/// A program of stage I: dense nests, as in ir::function, and sparse iterations, in program order.
struct sparse_function {
  std::string name = "main";
  std::vector<param> params;  // dense buffers, scalars, storage, offsets and indices
  annotations attrs;
  std::vector<sparse_axis> axes;  // parents before children
  std::vector<sparse_buffer> buffers;
  std::vector<buffer> alloc_buffers;
  std::vector<std::variant<stmt, sparse_iteration>> body;

  /// The sparse buffer that expressions know as `b`; null when it is none.
  const sparse_buffer* find(const buffer& b) const {
    for (const sparse_buffer& s : buffers)
      if (s.coordinates == b) return &s;
    return nullptr;
  }
};

/// @name Axes
/// @{
sparse_axis dense_fixed(std::string name, expr length, sparse_axis parent = {});
/// @param indptr its elements are 32- or 64-bit integers
sparse_axis sparse_variable(std::string name, sparse_axis parent, expr length, expr nnz,
                            buffer indptr, buffer indices);
sparse_axis dense_variable(std::string name, sparse_axis parent, expr length, expr nnz,
                           buffer indptr);
sparse_axis sparse_fixed(std::string name, sparse_axis parent, expr length, expr width,
                         buffer indices);
/// @}

/// Position of a point in one-dimensional storage along `axes`, given the position along each, of
/// which those of variable axes count from the offset of their parent.
///
/// A chain of variable axes and the axis above it is one dimension: `indptr[i] + j` for rows of
/// compressed elements; the storage is row-major in these.
///
///     (I, J): indptr[i] + j      (I, J, BI, BJ): ((indptr[i] + j) * b + bi) * b + bj
expr storage_index(const std::vector<sparse_axis>& axes, const std::vector<expr>& positions,
                   dtype index);

/// The indices of that point in the storage of `b`.
std::vector<expr> place_in_storage(const sparse_buffer& b, const std::vector<expr>& positions,
                                   dtype index);

/// Number of elements stored along `axes`: the extent of that storage.
expr storage_extent(const std::vector<sparse_axis>& axes);

/// Elements below the position of the parent, whose address among its own kind is `parent`.
expr fibre_extent(const sparse_axis_node& axis, const expr& parent, dtype index);

/// Offsets that a function on flat storage is called with.
struct offsets_note {
  std::string into;              // the parameter whose elements they divide into rows; "" for none
  std::int64_t last = 0;         // its number of elements; none of them is greater
  std::int64_t coordinates = 0;  // those elements are less; 0: not said, their uses tell
};
/// What `f` says of a parameter by `offsets_attribute`; nothing of one that holds something else.
std::optional<offsets_note> offsets_of(const function& f, const std::string& parameter);

/// Number of iterations of a loop whose extent is read from offsets of `f`, on the average over its
/// rows; 1 for any other extent that is no literal.
double mean_extent(const function& f, const expr& extent);

/// Whether `e` reads a sparse buffer along the dense axis of `i`, which merges it.
bool reads_along(const sparse_function& f, const sparse_iter& i, const expr& e);

/// The axis and those above it, outermost first.
std::vector<sparse_axis> ancestry(const sparse_axis& axis);

}  // namespace tilewright::ir
