// Which part of a block's iteration domain is needed at another place: the region inference of
// compute_at and reverse_compute_at.
//
// Given the boxes that one iteration of the target loop touches (`required`) and what one instance
// of the block touches in terms of its iteration variables, this solves for the values of the
// variables. A result may hold more instances than needed, never fewer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/impl/dependence/cover/footprint.hpp>

namespace tilewright::dependence {

/// What is required of a buffer, united over all accesses to it.
struct requirement {
  ir::buffer buffer;
  footprint box;  // in terms of the target loop and the loops around it
};

/// Unites `box` into the requirement of the same buffer, or appends it. `loops` are those the sums
/// use.
void add_requirement(std::vector<requirement>& list, const ir::buffer& buffer, footprint box,
                     const loop_nest& loops);

/// Values of one iteration variable.
struct iter_domain {
  std::optional<arith::linear> lo, hi;  // inclusive; none: the whole domain
  std::optional<std::int64_t>
      widest;  // bound of the number of values where hi - lo does not say it
};

/// Solves `provided`, regions of the block in terms of its iteration variables, for the values
/// whose region meets the required box of the same buffer.
///
/// Handled dimensions, e being constant: v * e + c, also with other variables added, which are then
/// widened over (p * 2 + r); v // e and v % e, alone or as the digits of one variable. Others give
/// no constraint.
std::vector<iter_domain> infer_domains(const ir::block_node& block,
                                       const std::vector<ir::buffer_region>& provided,
                                       const std::vector<requirement>& required,
                                       const loop_nest& loops);

/// Fits a solved domain to what the variable may be at all (`clip`, or the symbolic domain):
/// provable sides need no guard; a constant domain is cut; a domain that holds the whole clip
/// becomes the clip. The value is start + loop variable, and the guards are about it.
struct fitted_iter {
  std::optional<arith::linear> start;  // none: the symbolic start of the variable's own domain
  std::int64_t extent = 1;             // of the loop, where constant
  ir::expr symbolic_extent;            // else
  std::optional<std::int64_t> at_least, at_most;  // guards that remain
  ir::expr below;                                 // symbolic guard: value < below
  bool exact = true;                              // no value beyond the solved domain is visited
};
fitted_iter fit(const iter_domain& solved, const ir::range& domain, const arith::bounds& clip,
                const loop_nest& loops);

/// The same for all iteration variables of the block, up to the first one of which nothing is left.
std::vector<fitted_iter> fit(const ir::block_node& block, const std::vector<iter_domain>& solved,
                             const std::vector<arith::bounds>& clip, const loop_nest& loops);

/// The realize of `block` below loops `ax0, ax1, ...` over the domains, in the order of the
/// iteration variables; null when not all are there. Loops of extent 1 are left out unless
/// `keep_unit_loops`. Instances run where `jointly`, a condition of the iteration variables, holds.
ir::stmt make_nest(const ir::block& block, const std::vector<fitted_iter>& domains,
                   bool keep_unit_loops, const ir::expr& jointly = ir::boolean(true));

}  // namespace tilewright::dependence
