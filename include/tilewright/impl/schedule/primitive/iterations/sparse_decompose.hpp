// sparse_decompose: the results of a sparse iteration are initialized by a nest of its own.
#pragma once

#include <string>

#include <tilewright/impl/schedule/primitive/iterations/scheduled_iteration.hpp>

namespace tilewright::primitive {

/// Initializes the results of a sparse iteration in a nest before it, before anything else is scheduled, and lowers
/// the program again. The block that comes back is the one of the iteration, which has the old one's name.
/// ```
/// for i in range(m):                        for i in range(m): C[i] = 0
///   C[i] = 0                          ->    for i in range(m):
///   for k in range(n[i]): C[i] += a[k]        for k in range(n[i]): C[i] += a[k]
/// ```
/// Rows without elements are not visited by the iteration any more. What is left may add atomically (add_atomically),
/// beside other parts of a matrix.
///
/// Requires:
/// 1. the function carries its sparse iterations, and is what lowering has made of them;
/// 2. the block is the innermost one of an iteration;
/// 3. the iteration initializes its results, and no patterns meet in it.
/// @throws schedule_error
inline new_block sparse_decompose(const ir::function& f, std::uint64_t block) {
  detail::scheduled_iteration at(f, block, "sparse_decompose");
  ir::sparse_iteration& it = at.get();
  const refusal& refuse = at.refuse();
  if (!it.init) refuse(3, {"iteration \"", it.name, "\" adds to what is there"});
  it.annotations[ir::initialized_apart_annotation] = 1;
  const std::string name = it.name;
  new_block out = at.lowered(3);
  if (ir::as_realize(find_block(out.function, out.block).target())->block->init)
    refuse(3, {"patterns meet in iteration \"", name, "\""});
  return out;
}

}  // namespace tilewright::primitive
