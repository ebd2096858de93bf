// What lowering begins with: a function on scalars, without lets in expressions.
#pragma once

#include <string>

#include <tilewright/ir/interpret/scalarize.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail {

/// Expressions with the values of their lets in the place of the variables.
class let_inliner : public ir::mutator {
 public:
  using ir::mutator::mutate;
  ir::expr mutate(const ir::expr& e) override {
    if (e->op == ir::op::let) {
      values_[e->args[0]] = mutate(e->args[1]);
      return mutate(e->args[2]);
    }
    const auto found = e->op == ir::op::var ? values_.find(e) : values_.end();
    return found == values_.end() ? ir::mutator::mutate(e) : found->second;
  }

 private:
  ir::var_map values_;
};

/// @throws build_error for a parameter of vectors
inline ir::function scalar_function(const ir::function& f) {
  for (const ir::param& p : f.params)
    if (p.buffer && is_vector(p.buffer->type))
      throw build_error(
          "parameter " + p.buffer->name + " has elements of type " +
          std::string(name(p.buffer->type)) +
          "; compile ir::scalarize of the function, in which the lanes are one more dimension");
  ir::function out = ir::scalarize(f);
  out.body = let_inliner{}.mutate(out.body);
  return out;
}

}  // namespace tilewright::pass::detail
