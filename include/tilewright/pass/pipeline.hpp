// The passes from a scheduled function to code, as a value: a program may look at the list, put passes
// of its own into it, replace or drop some.
//
//     pass::pipeline mine = pass::pipeline::standard();
//     mine.insert_after("simplify_loops", {"count_loops", &count_loops}).verify();
//     const ir::function lowered = mine.run(s.function(), target::host());
//
// Functions for GPUs take passes of their own: pass::pipeline::standard_gpu().
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/pass/prepare_weights.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::pass {

/// A function from a program to a program that computes the same.
struct named_pass {
  std::string name;
  std::function<ir::function(const ir::function& f, const target::machine& where)> run;
};

/// Passes in order. Names are unique; the second run of a pass is "simplify_loops.2".
class pipeline {
 public:
  /// What `lower` does for CPUs. Up to "prepare_weights" functions have no blocks from "lower_blocks" on;
  /// there the function is cut in two where parameters are bound, and the passes behind run on each part.
  static pipeline standard();
  /// What `lower` does for GPUs (pass/gpu/lower_gpu.hpp). From "unify_threads" on functions are kernels;
  /// nothing is known about the indices that "swizzle_shared" leaves, so it stands last.
  static pipeline standard_gpu();

  std::vector<std::string> names() const;
  /// @name Changes
  /// The pass that is named must be there; "prepare_weights" stays where it is.
  /// @throws argument_error for a name that is not there, with those that are; for one that would
  /// stand twice; for a pass without function; and for a change of "prepare_weights"
  /// @{
  pipeline& insert_before(std::string_view name, named_pass p);
  pipeline& insert_after(std::string_view name, named_pass p);
  pipeline& replace(std::string_view name, named_pass p);
  pipeline& drop(std::string_view name);
  /// @}
  /// Whether each pass is followed by ir::verify, which costs about as much as a pass.
  pipeline& verify(bool after_each_pass = true);

  /// Runs all passes, weights not apart.
  /// @throws argument_error when the passes are a CPU's and the target is a GPU, or the other way round; for a
  /// GPU, too, where the function keeps the order of its terms
  /// @throws build_error when a pass leaves what is no well-formed function, naming it; whatever a
  /// pass throws
  ir::function run(const ir::function& f, const target::machine& where) const;
  /// The same in two parts where parameters are bound; on a GPU nothing is bound.
  prepared run_prepared(const ir::function& f, const target::machine& where) const;

 private:
  std::size_t position(std::string_view name) const;
  std::size_t changeable(std::string_view name) const;
  void check_new(const named_pass& p, std::string_view instead_of) const;
  void check_target(const ir::function& f, const target::machine& where) const;
  std::size_t cut() const;
  ir::function run_range(const ir::function& f, const target::machine& where, std::size_t first,
                         std::size_t end) const;
  ir::function run_to_code(const ir::function& f, const target::machine& where) const;

  std::vector<named_pass> passes_;
  bool for_gpu_ = false;
  bool verify_ = false;
};

}  // namespace tilewright::pass
