// Additions of one thread to one element of memory are added up in a register first.
//
//   for k in range(n):                      sum[0] = 0
//     C[i] = C[i] + A[k]  (atomic)    ->    for k in range(n):
//                                             sum[0] = sum[0] + A[k]
//                                           C[i] = C[i] + sum[0]  (atomic)
//
// Where the element follows what is loaded, as the row of a sparse matrix's element does, a thread sums as long as it
// stays the same.
//
// An addition that memory makes by itself costs a trip to the cache that all threads share. Where conditions inside of
// the loop decide which terms there are, memory is added to only if there was one.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels without barriers (pass/gpu/unify_threads.hpp). A loop that does anything besides one addition stays,
/// and so does one along which the element changes with the loop's own variable. Meaning is kept up to the order of terms.
ir::function gather_additions(const ir::function& f);

}  // namespace tilewright::pass
