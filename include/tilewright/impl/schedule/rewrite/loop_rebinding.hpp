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

/// The loops around a place, and what follows from them. They are bound when the first question is
/// asked, since most splits ask none.
class known_loops {
 public:
  /// Those strictly above the end of `at`, which has to live as long. With `relax_unit_loops`, a
  /// loop of extent 1 is taken to have two iterations: what is proved stays true, and its variable
  /// is not simplified away.
  explicit known_loops(const path& at, bool relax_unit_loops = false)
      : above_(&at), relax_unit_loops_(relax_unit_loops) {}

  /// One more: `v` runs over [min, min + extent).
  void add(const ir::var& v, const ir::expr& min, const ir::expr& extent);
  /// The analyzer that knows them.
  const arith::analyzer& analyzer();

 private:
  void bind(const ir::var& v, const ir::range& r);

  const path* above_;  // null when they are bound
  arith::loop_domains pending_;
  arith::analyzer bound_;
  bool relax_unit_loops_;
};

/// `body` with variables replaced by `values`, which are simplified, changed bindings simplified,
/// and `guard` (null for none) required for everything that runs: it joins the predicates of the
/// outermost realizes; statements outside blocks get an `if`.
/// @param known the loops around `body`; those inside of constant extent are added on the way
ir::stmt rebind(const ir::stmt& body, const ir::var_map& values, const ir::expr& guard,
                known_loops& known);

}  // namespace tilewright::primitive
