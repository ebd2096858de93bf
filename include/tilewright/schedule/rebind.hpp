// Replacing loop variables in the bindings of blocks: what split and fuse have in common.
#pragma once

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// The requirements that split and fuse share: a loop without annotation and thread axis (number
/// `plain`) that starts at 0 (number `from_zero`). Of another kind it may be: what comes out of it
/// is serial, which is always right.
/// @throws schedule_error
void check_plain_loop(const ir::loop_node& loop, const char* primitive, int plain, int from_zero);

/// `v` runs over [min, min + extent). With `relax_unit_loops`, a loop of extent 1 is taken to have
/// two iterations: what is proved stays true, and its variable is not simplified away.
void bind_loop(arith::analyzer& known, const ir::var& v, const ir::expr& min,
               const ir::expr& extent, bool relax_unit_loops);

/// The loops strictly above the end of `at`, bound by `bind_loop`.
arith::analyzer known_above(const path& at, bool relax_unit_loops = false);

/// `body` with variables replaced by `values`, which are simplified, changed bindings simplified,
/// and `guard` (null for none) required for everything that runs: it joins the predicates of the
/// outermost realizes; statements outside blocks get an `if`.
/// @param known the loops around `body`; those inside are added on the way
ir::stmt rebind(const ir::stmt& body, const ir::var_map& values, const ir::expr& guard,
                const arith::analyzer& known, bool relax_unit_loops);

}  // namespace tilewright::primitive
