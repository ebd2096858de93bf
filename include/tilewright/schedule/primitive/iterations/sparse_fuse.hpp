// sparse_fuse: one loop over the elements of a sparse tensor, whatever rows they are in.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Makes one loop of neighbouring axes of a sparse iteration, over the elements of the last one, before anything
/// else is scheduled, and lowers the program again. A nest before lists which row each element is in. The
/// block that comes back is the one of the iteration, which has the old one's name.
/// ```
/// iteration S [rows: S, columns: S, depth: R]   ->  (axes [0, 1])   iteration S [fuse(rows, columns): SS, depth: R]
/// for i in range(m):                                for k in range(nnz):
///   for k in range(indptr[i + 1] - indptr[i]):        row of element k: columns_parent[k]
/// ```
/// Requires: 1. the function carries its sparse iterations, and is what lowering has made of them; 2. the
/// block is the innermost one of an iteration; 3. `axes` are numbers of two or more axes that follow each other
/// in the iteration; 4. the first of `axes` has no parent, and each further one is of variable extent, below the
/// one before; 5. no patterns meet in the iteration, and a result that is initialized apart has
/// with each of its axes the one above.
/// @param axes numbers of axes of the iteration
/// @throws schedule_error
new_block sparse_fuse(const ir::function& f, std::uint64_t block,
                      const std::vector<std::int64_t>& axes);

}  // namespace tilewright::primitive
