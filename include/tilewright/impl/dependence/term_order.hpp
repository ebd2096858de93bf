// In which order the loops around a reduction bring its terms.
//
// Of the instances that add to one element, one stands before another where its reduce variables are smaller,
// the first of them counting most. Loops keep that order where each variable, or all of them as digits of one
// number, rises from iteration to iteration of those loops that it is bound to.
#pragma once

#include <string>

#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::dependence {

/// Why terms of some reduction of floats may come in another order than by its reduce variables, the first one
/// outermost: a sentence that names the block. Empty where they do not. Where it cannot be told, they may.
std::string term_disorder(const ir::function& f);

/// Whether a value of the block's reduce variables never falls from one term of a result to the next one that the loops
/// bring. Where it cannot be told, it may.
/// @param nest the loops that the block's variables are bound to
bool rises_with_terms(const ir::expr& value, const ir::block_realize_node& realize,
                      const loop_nest& nest);

}  // namespace tilewright::dependence
