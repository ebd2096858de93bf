// Accesses that go elsewhere: to another buffer, to other elements, or both.
#pragma once

#include <vector>

#include <tilewright/ir/visit.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::ir {

/// An element of a buffer.
struct buffer_element {
  buffer of;
  std::vector<expr> indices;
};

/// Rewrites where loads and stores of some buffers go, and what blocks declare of it. Who derives
/// from it says which buffers those are and where their elements are now. Allocations and addresses
/// stay.
class rerouting : public mutator {
 public:
  using mutator::mutate;
  expr mutate(const expr& e) override;
  stmt mutate(const stmt& s) override;
  block mutate(const block& b) override;

 protected:
  virtual bool reroutes(const buffer& b) const = 0;
  /// Where the element of such a buffer is now; the indices are rewritten already.
  virtual buffer_element rerouted(const buffer& b, std::vector<expr> indices) = 0;
  /// Where the elements of a region of such a buffer are now. Unless overridden, the first of them is
  /// rerouted and the lengths stay: right for whatever keeps boxes in shape.
  virtual buffer_region rerouted_region(buffer_region r);

 private:
  std::vector<expr> all_mutated(const std::vector<expr>& list);
};

/// `s` with accesses of `from` sent to `to`: `indices` makes the new ones from the old.
stmt reroute(const stmt& s, const buffer& from, const buffer& to,
             support::function_ref<std::vector<expr>(std::vector<expr>)> indices);

}  // namespace tilewright::ir
