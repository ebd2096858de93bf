// A visitor that knows what holds where it stands.
#pragma once

#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith {

/// Keeps `known` true as scoped_mutator does: loops bind their variables and blocks theirs,
/// conditions are assumed in their branch.
class scoped_visitor : public ir::visitor {
 public:
  using ir::visitor::visit;
  void visit(const ir::stmt& s) override;
  void visit(const ir::block& b) final;

 protected:
  scoped_visitor() = default;
  explicit scoped_visitor(analyzer outside) : known(std::move(outside)) {}

  /// A block where the ranges of its variables are known; override this one.
  virtual void visit_bound(const ir::block& b) { ir::visitor::visit(b); }

  analyzer known;
};

}  // namespace tilewright::arith
