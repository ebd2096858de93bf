// The sparse iteration that a primitive changes, in the program that the function was lowered from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive::detail {

/// Requires: 1. the function carries its sparse iterations, and is what lowering has made of them; 2. the block
/// is the innermost one of an iteration.
class scheduled_iteration {
 public:
  scheduled_iteration(const ir::function& f, std::uint64_t block, const char* primitive)
      : function_(f), refuse_(primitive) {
    const path at = need_block(f, block, primitive);
    name_ = ir::as_realize(at.target())->block->name;
    std::optional<ir::sparse_function> program = sparse::iterations_of(f);
    if (!program)
      refuse_(
          1,
          "the function carries no sparse iterations, or is no longer what lowering made of them");
    program_ = std::move(*program);
    for (auto& part : program_.body)
      if (auto* it = std::get_if<ir::sparse_iteration>(&part))
        if (it->name == name_) iteration_ = it;
    if (!iteration_)
      refuse_(2, {phrase::named("block", name_), " is the innermost one of no iteration"});
  }
  scheduled_iteration(const scheduled_iteration&) = delete;
  scheduled_iteration& operator=(const scheduled_iteration&) = delete;

  ir::sparse_iteration& get() { return *iteration_; }
  const refusal& refuse() const { return refuse_; }

  /// The function with the iteration as it now is, and its block.
  /// @param requirement what is broken where lowering does not take it
  new_block lowered(int requirement) const {
    try {
      ir::verify(program_);
      ir::function out = sparse::with_iterations(program_);
      out.name = function_.name;
      for (const auto& [key, value] : function_.attrs) out.attrs.emplace(key, value);
      const std::uint64_t block = get_block(out, name_);
      return {std::move(out), block};
    } catch (const argument_error& e) {
      const std::string_view said =
          e.what();  // its own requirement's number is none of this primitive
      refuse_(requirement, {said.substr(0, said.rfind(" (requirement "))});
    }
  }

 private:
  const ir::function& function_;
  refusal refuse_;
  std::string name_;
  ir::sparse_function program_;
  ir::sparse_iteration* iteration_ = nullptr;
};

}  // namespace tilewright::primitive::detail
