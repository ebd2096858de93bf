// Every place where a program touches a buffer.
#pragma once

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

}  // namespace tilewright::ir
