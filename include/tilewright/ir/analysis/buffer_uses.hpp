// Every place where a program touches a buffer.
#pragma once

#include <vector>

#include <tilewright/ir/visit.hpp>

namespace tilewright::ir {

/// A walk that meets every use of a buffer: loads and addresses, stores, and views of it. What blocks
/// declare is none.
class buffer_uses : public visitor {
 public:
  using visitor::visit;
  void visit(const expr& e) override;
  void visit(const stmt& s) override;
  void visit(const block& b) override;

 protected:
  virtual void use(const buffer& b) = 0;
};

/// What a walk meets in a block that only stores, each buffer once; null for one with loops or blocks inside. Found once for
/// a block: most blocks of a program are the same after a primitive.
const std::vector<buffer>* buffers_of_stores(const block& b);

}  // namespace tilewright::ir
