// A block among the others of its scope, as primitives ask about it.
#pragma once

#include <cstdint>
#include <utility>

#include <tilewright/impl/schedule/analysis/enclosing_definitions.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/legality/stage_order.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Valid as long as the function's body lives.
struct scoped_block {
  path at;
  const ir::block_realize_node* holder;  // of the scope
  block_scope scope;
  std::size_t child;  // its position in the scope

  /// The block at the end of a path, which is not the root.
  explicit scoped_block(path to_block)
      : at(std::move(to_block)),
        holder(at.scope()),
        scope(*holder->block),
        child(scope.position(ir::as_realize(at.target())->block->id)) {}
  /// A block of the function.
  scoped_block(const ir::function& f, std::uint64_t id) : scoped_block(find_block(f, id)) {}

  const child_block& operator*() const { return scope[child]; }
  const ir::block_node& block() const { return scope[child].block(); }
};

inline phrase quoted(const child_block& c) { return quoted(c.block()); }

/// The block is complete, or a reduction.
inline void check_complete(const refusal& refuse, int requirement, const block_scope& scope,
                           std::size_t child) {
  if (const int reason = complete_violation(scope, child))
    refuse(requirement, {quoted(scope[child]), " is not complete: ", complete_reason(reason)});
}
inline void check_reduction(const refusal& refuse, int requirement, const block_scope& scope,
                            std::size_t child, guards may = guards::none) {
  if (const int reason = reduction_violation(scope, child, may))
    refuse(requirement, {quoted(scope[child]), " is no reduction: ", reduction_reason(reason)});
}

/// No block before it uses what the block writes.
inline void check_no_earlier_user(const refusal& refuse, int requirement, const block_scope& scope,
                                  std::size_t child) {
  if (const int user = earlier_user(scope, child); user >= 0)
    refuse(requirement,
           {quoted(scope[user]), " uses the result of ", quoted(scope[child]), " before it"});
}

/// A block that gets other loops sees those around it, and lets, through its variables alone.
inline void check_sight(const refusal& refuse, int requirement, const path& at) {
  if (const ir::var used = detail::used_from_outside(at))
    refuse(requirement, {quoted(*ir::as_realize(at.target())->block), " uses \"", used->name,
                         "\" without an iteration variable that stands for it"});
}

}  // namespace tilewright::primitive
