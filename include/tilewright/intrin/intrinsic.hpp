// Tensor intrinsics: a piece of computation as a description, and how a machine does it.
//
// `tensorize` puts the implementation where the program computes what the description says. Both
// are functions of the same parameters, so a user's intrinsic is a value like those of the library:
// nothing here has to be edited for it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::intrin {

/// What `tensorize` needs to know.
///
/// Both bodies are a root block that lists what it reads and writes. The description's regions are
/// in the order in which the regions of a matching block stand; the implementation names the part
/// of each parameter that becomes its view of the matched memory.
struct intrinsic {
  std::string name;
  ir::function description;
  ir::function implementation;
  /// Whether the machine does this well; null: any does. An implementation computes the same
  /// everywhere, so this only guides the choice.
  bool (*suits)(const target::machine& where) = nullptr;
};

/// The intrinsic of that name: one of the library, or a registered one; null when there is none.
std::shared_ptr<const intrinsic> find(std::string_view name);

/// Names that `find` knows, those of the library first.
std::vector<std::string> names();

/// Makes an intrinsic known to this process, from any thread; a later one of the same name replaces
/// it.
///
/// Requires:
/// 1. the name is not empty;
/// 2. both functions are well formed, and their body is the realize of a root block;
/// 3. the parameters of both are buffers, pairwise equal in type, shape and scope;
/// 4. each parameter occurs in the reads or writes of the implementation's root block;
/// 5. on three sets of random data both functions leave the same in all parameters (small integers,
///    so that floats are exact too). A wrong intrinsic is refused with the first element that
///    differs.
/// @throws argument_error with the number of the requirement
void add(intrinsic i);

/// The same without requirement 5, for implementations that call what the interpreter does not
/// know. Then whoever uses it has to compare results.
void add_unchecked(intrinsic i);

/// `add` where the interpreter can run both functions, else `add_unchecked`.
/// @returns whether it was checked
bool add_where_checkable(intrinsic i);

/// Forgets a registered intrinsic; those of the library stay.
void remove(std::string_view name);

}  // namespace tilewright::intrin
