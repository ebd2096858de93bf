// What the passes share: small questions about statements.
#pragma once

#include <unordered_set>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::pass {

/// Annotation of loops whose variable occurs in the binding of a reduce iteration variable: their
/// iterations may be reassociated. Set by lower_blocks.
inline constexpr const char* reduction_note = "tilewright.reduction";
using ir::edge_note, ir::reduction_lanes_note;

using buffer_set = std::unordered_set<ir::buffer>;

/// The loop without iterations beyond the first: value when the extent is the literal 1.
bool is_unit(const ir::loop_node& loop);
/// Literal extent, or 0 when it is none.
std::int64_t constant_extent(const ir::loop_node& loop);
/// Variables that are extents of parameters: never negative.
ir::var_set shape_variables(const ir::function& f);
/// Whole steps of `by` in an extent; none in a negative one, which a loop may have that follows
/// another, or data. `sizes` are never negative.
ir::expr whole_steps(const ir::expr& extent, const ir::expr& by, const ir::var_set& sizes);

/// Same loop with other domain and body.
ir::stmt with_domain(const ir::loop_node& like, ir::expr min, ir::expr extent, ir::stmt body);
ir::stmt with_kind(const ir::loop_node& like, ir::loop_kind kind, ir::stmt body);
/// Gives every loop and let inside `s` a new variable, so that a copy can stand beside the
/// original.
ir::stmt rename_loops(const ir::stmt& s);
/// Buffers stored to, and loaded from, anywhere in `s`.
buffer_set stored_buffers(const ir::stmt& s);
buffer_set loaded_buffers(const ir::stmt& s);
bool same_indices(const std::vector<ir::expr>& a, const std::vector<ir::expr>& b);
/// True for a null statement and for a sequence of such.
bool is_nothing(const ir::stmt& s);
/// Elements from the first to the last of a buffer of literal shape and strides; -1 when one of
/// them is symbolic.
std::int64_t constant_size(const ir::buffer& b);

}  // namespace tilewright::pass
