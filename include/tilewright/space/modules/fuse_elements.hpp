// Module: results on a pattern in one loop over its elements, whatever rows they are in.
#pragma once

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// True for a function that carries its sparse iterations, of which those over rows and their elements all compute
/// results at each of them, and nothing else was done to it.
bool has_results_of_elements(const schedule& s);

/// Makes one loop of rows and elements in each such iteration (`sparse_fuse`), a drawn number of elements a task
/// where there are threads.
/// ```
/// for i, for k in range(n[i]), for d: S[i, k]    ->    for e in range(nnz), for d: S[e]
/// ```
/// Tasks have as many elements each, however rows differ, and short rows cost no loop of their own; which row an
/// element is in is listed before. Has to come before everything else that is done to the function.
/// @returns false, and changes nothing, where `has_results_of_elements` is false or a primitive refuses
bool fuse_elements(schedule& s, const context& where, chooser& choices);

/// Makes one loop of rows and elements in each such iteration, and leaves all loops to other rules. Each element
/// searches for its row, so that no step is left that has to run in order.
/// ```
/// for i, for k in range(n[i]), for d: S[i, k]    ->    for e in range(nnz): row[e] = (search in the offsets)
///                                                      for e in range(nnz), for d: S[e]
/// ```
/// @returns false, and changes nothing, where `has_results_of_elements` is false or a primitive refuses
bool fuse_searched_elements(schedule& s);

}  // namespace tilewright::space
