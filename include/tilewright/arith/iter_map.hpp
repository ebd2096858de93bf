// Quasi-affine iteration maps (TensorIR, ASPLOS 23, section 3.3): index expressions that are made
// from loop variables by splitting (//, %) and fusing (mixed-radix sums) alone. Such a map can be
// inverted, and it visits its image completely; that is what makes loop transformations of a block
// legal.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith {

/// ((source // lower_factor) % extent) * scale. The source is a loop variable counted from its
/// minimum, or a `fused_iter`.
struct iter_split {
  ir::var source;
  std::int64_t lower_factor = 1;
  std::int64_t extent = 1;
  std::int64_t scale = 1;
  ir::expr symbolic_extent;  // set when the source is a whole loop whose extent is no constant
};

/// base + sum of splits, in order of falling scale.
struct iter_sum {
  std::vector<iter_split> splits;
  ir::expr base;
};

/// A sum of splits that is itself split again, or that the predicate bounds: it runs over [0,
/// extent).
struct fused_iter {
  ir::var var;
  iter_sum value;
  std::int64_t extent = 1;
};

/// One sum per index.
struct iter_map {
  std::vector<iter_sum> indices;
  /// True where the map pads: where the indices take values that no iteration of the loops has;
  /// false literal when there is none.
  ir::expr padding_predicate;
  std::vector<fused_iter> fused;
  loop_domains loops;  // with constant ranges as the predicate cuts them
  bool bijective = true;
};

enum class iter_map_level : std::uint8_t {
  surjective,  // the indices take every combination of the values in an arithmetic progression each
  bijective    // and no two iterations have the same indices
};

/// The structure of `indices` while `loops` run and `predicate` holds; nothing if there is none.
/// Variables outside `loops` are constants.
std::optional<iter_map> detect_iter_map(const std::vector<ir::expr>& indices,
                                        const loop_domains& loops, const ir::expr& predicate,
                                        iter_map_level level, const analyzer& known);

/// Values of the loop variables in terms of the values `outputs` of the indices; nothing when the
/// map is not bijective. Loops of extent 1 that do not occur are at their minimum.
std::optional<ir::var_map> inverse_affine(const iter_map& map,
                                          const std::vector<ir::expr>& outputs);

/// True when `values` are a surjective map whose every value runs over an interval (scale 1), and
/// that of a reduce iteration variable over exactly its domain. Pass only the inner loops to ask
/// about a partial binding: variables outside of `loops` are constants, and a value that uses one
/// may be any interval.
bool is_affine_binding(const std::vector<ir::expr>& values, const std::vector<ir::iter_var>& iters,
                       const loop_domains& loops, const ir::expr& predicate, const analyzer& known);

}  // namespace tilewright::arith
