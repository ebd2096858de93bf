// The oracle: runs any function of the IR, scheduled or lowered, one element at a time.
//
// It exists to decide what a program means, so it computes every type at its own width and
// rounding, in program order, and refuses what compiled code would do silently: an access out of
// bounds, a read of memory that nothing wrote, two iterations of a parallel loop that meet. It is
// not meant to be fast; a tree is flattened once so that some 10^8 node visits per second are
// possible.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Memory of one parameter. A scalar parameter's `data` points to its value.
struct tensor_view {
  void* data = nullptr;
  std::vector<std::int64_t> strides;  // [rank], elements; empty means as declared, else contiguous
};

struct interpret_options {
  /// Values of variables that occur in shapes and are no scalar parameter, by name.
  std::map<std::string, std::int64_t> dims;
  /// Refuse reads of elements of allocated buffers that were never written.
  bool check_unwritten = true;
  /// Refuse two iterations of one parallel, vectorized or thread-bound loop that touch an element,
  /// one writing it. What blocks allocate is lowered around all accesses: where such a loop holds
  /// these, its iterations have their own, and are refused only where one finds what another one
  /// wrote. A function with barriers says thereby what threads share.
  bool check_races = false;
  /// Give every block of threads its own memory of scope "shared" and every thread its own of scope
  /// "local", as a device does, and refuse reads of what another one wrote.
  bool check_scopes = true;
};

/// Runs `f` on `args`, one per parameter in their order.
/// Threads run one after another; where a loop bound to threads holds barriers
/// (`T.tvm_storage_sync("shared")`), the threads of a block run from barrier to barrier, and a loop
/// bound to an axis that is bound already is one iteration of each thread; without barriers each
/// thread runs all of it. A copy that threads make jointly (ir/analysis/joint_copy.hpp) is made once, between
/// two barriers.
/// Evaluation follows the semantics at the head of ir/expr.hpp: f32 in float, f16 and bf16 computed
/// in float and rounded when stored or cast, integers wrapped to their width. Casts from a float to
/// an integer truncate and saturate. `select` evaluates both branches, so both are checked.
/// @throws argument_error when arguments are missing or an extent has no value
/// @throws error naming block, buffer and index for an access out of bounds, a read of unwritten
///         memory, a race, memory of another thread, a barrier that not all threads reach, a block
///         iteration variable outside its domain, or an integer division by zero
void interpret(const function& f, std::vector<tensor_view> args, interpret_options options = {});

}  // namespace tilewright::ir
