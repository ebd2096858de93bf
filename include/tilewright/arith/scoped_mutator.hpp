// A mutator that knows what holds where it stands.
#pragma once

#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith {

/// Keeps `known` true: loops bind their variables and blocks theirs, conditions are assumed in their
/// branch. Behind them, where a loop may have had no iterations, nothing of that is known.
class scoped_mutator : public ir::mutator {
 public:
  using ir::mutator::mutate;
  ir::stmt mutate(const ir::stmt& s) override;
  ir::block mutate(const ir::block& b) final;

 protected:
  scoped_mutator() = default;
  explicit scoped_mutator(analyzer outside) : known(std::move(outside)) {}

  /// A block where the ranges of its variables are known; override this one.
  virtual ir::block mutate_bound(const ir::block& b) { return ir::mutator::mutate(b); }

  analyzer known;

 private:
  ir::stmt mutate_loop(const ir::stmt& s, const ir::loop_node& loop);
  ir::stmt mutate_if(const ir::stmt& s, const ir::if_node& n);
};

}  // namespace tilewright::arith
