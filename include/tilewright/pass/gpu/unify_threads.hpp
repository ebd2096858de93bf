// One nest of thread loops for each kernel, instead of loops bound wherever a schedule bound them.
//
//   for i in thread(4, "blockIdx.x"):              for bx in thread(4, "blockIdx.x"):
//     for a in thread(8, "threadIdx.x"):     ->      for tx in thread(8, "threadIdx.x"):
//       S[a] = A[i * 8 + a]                            S[tx] = A[bx * 8 + tx]
//     for b in thread(6, "threadIdx.x"):               if tx < 6:
//       B[i * 6 + b] = S[b + 2]                          B[bx * 6 + tx] = S[tx + 2]
//
// Each statement directly below the function's allocations becomes one kernel: the loops over blocks
// outermost, from z to x, then those over threads, then the body. Loops on one axis become the same
// variable, guarded where they are shorter than the longest; a loop inside another one on its axis is
// that thread's own iteration, so that threads share what each would have done alone. What stands
// outside of every loop on an axis is done where that axis is 0. A kernel without loops on blocks has
// one block, without loops on threads one thread in each.
//
// Memory that a block of the IR allocated in scope "global" inside of loops on threads is each thread's
// own and becomes "local"; inside of loops on blocks only it becomes "shared".
#pragma once

#include <functional>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on a function without blocks. Meaning is kept up to barriers, which `place_barriers` adds.
/// @throws build_error for a loop bound to threads whose start or extent is no constant, or that is
///         longer than a loop around it on the same axis, and for a serial loop around loops on blocks
ir::function unify_threads(const ir::function& f);

/// Loops on threads around the body of a kernel in the form that `unify_threads` makes.
struct kernel_nest {
  std::vector<const ir::loop_node*> blocks;   // outermost first
  std::vector<const ir::loop_node*> threads;  // outermost first
  ir::stmt body;                              // inside of them and of shared allocations
  std::vector<ir::buffer> shared;             // allocated between blocks and threads
};

/// The nest of one kernel; no loops when the statement is none.
kernel_nest nest_of(const ir::stmt& kernel);
/// Calls `f` on each kernel of a function in that form, and puts what it returns in its place.
ir::stmt rewrite_kernels(const ir::stmt& s, const std::function<ir::stmt(const ir::stmt&)>& f);
/// The kernel with another body and other shared allocations.
ir::stmt with_kernel_body(const kernel_nest& nest, std::vector<ir::buffer> shared, ir::stmt body);

}  // namespace tilewright::pass
