// The order in which reductions of floats take their terms, where a function says that it is to stay.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Attribute of functions, `{"tilewright.reductions": "in_order"}`: each reduction of floats takes its terms
/// one after the other, as the function's loops have them, and no product is contracted with a sum. What
/// schedules and lowering then leave alone is said in schedule/term_order.hpp.
inline constexpr const char* reductions_attribute = "tilewright.reductions";
inline constexpr const char* in_order_value = "in_order";

/// Whether the function asks for that order.
inline bool keeps_term_order(const function& f) {
  const auto found = f.attrs.find(reductions_attribute);
  return found != f.attrs.end() && found->second == attr(in_order_value);
}

/// The function, asking for it, and its alternatives with it.
function with_term_order(const function& f);

/// Whether the block reduces floats: it has a reduce variable of several values, or of an extent that is no
/// literal, and stores floats.
bool reduces_floats(const block_node& b);
/// Whether a block of the function does.
bool reduces_floats(const function& f);
/// Whether one block hands floats narrower than float32 to another: they are rounded in between, and are not
/// where the blocks become one.
bool has_narrow_results(const function& f);

}  // namespace tilewright::ir
