#pragma once

#include <tilewright/impl/ir/verify/verifier.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>

namespace tilewright::ir::detail {

TILEWRIGHT_INLINE void verifier::fail(const std::string& what) const {
  std::string text = "function " + function_->name + ": ";
  if (block_) text += "block \"" + block_->name + "\": ";
  throw verify_error(text + what);
}

/// Number of arguments of an operator; -1 when any number will do.
inline int argument_count(op o) {
  switch (o) {
    case op::var:
    case op::integer:
    case op::real:
    case op::text:
    case op::data: return 0;
    case op::logical_not:
    case op::cast: return 1;
    case op::select:
    case op::if_then_else:
    case op::let: return 3;
    case op::load:
    case op::call: return -1;
    default: return 2;
  }
}

TILEWRIGHT_INLINE void verifier::check(const expr& e, const char* what) {
  if (!e) fail(std::string(what) + " is missing");
  const int count = argument_count(e->op);
  if (count >= 0 && e->args.size() != static_cast<std::size_t>(count))
    fail(std::string(what) + " holds an operator with " + std::to_string(e->args.size()) +
         " operands that takes " + std::to_string(count));
  if (e->op == op::let) return check_let(e, what);
  for (const expr& arg : e->args) check(arg, what);
  if (e->op == op::var) return check_variable(e);
  if (e->op == op::load) return check_load(e);
  if (e->op == op::data)
    return e->buffer ? need_visible(e->buffer) : fail("a pointer to no buffer");
  check_operands(e);
}

TILEWRIGHT_INLINE void verifier::check_let(const expr& e, const char* what) {
  check(e->args[1], what);
  const std::size_t mark = bindings_.size();
  bind(e->args[0], binder::let, "what a let defines");
  check(e->args[2], what);
  if (e->args[0].type() != e->args[1].type() || e.type() != e->args[2].type())
    fail("in " + print(e) + " a let and its parts differ in type");
  leave(mark, buffer_scope_.size());
}

TILEWRIGHT_INLINE void verifier::check_variable(const expr& e) const {
  const std::size_t* found = bound_.find(e.get());
  if (!found) fail("variable " + e->name + " is used where it is not defined");
  const binding& b = bindings_[*found];
  const bool outer = b.by == binder::loop || b.by == binder::let;
  if (outer && *found < visible_from_)
    fail("the body uses " + e->name + " of " + (b.by == binder::loop ? "a loop" : "a let") +
         " outside of the block; bind it to an iteration variable");
}

TILEWRIGHT_INLINE void verifier::check_operands(const expr& e) const {
  const auto type = [&](std::size_t i) { return e->args[i].type(); };
  const auto need = [&](bool holds, const char* rule) {
    if (!holds) fail("in " + print(e) + " " + rule);
  };
  switch (e->op) {
    case op::integer: return need(!is_float(e.type()), "an integer literal has a float type");
    case op::real: return need(is_float(e.type()), "a float literal has an integer type");
    case op::add:
    case op::sub:
    case op::mul:
    case op::div:
    case op::mod:
    case op::floordiv:
    case op::floormod:
    case op::min:
    case op::max:
      return need(type(0) == type(1) && e.type() == type(0), "operands and result differ in type");
    case op::eq:
    case op::ne:
    case op::lt:
    case op::le:
    case op::gt:
    case op::ge:
      need(type(0) == type(1), "the operands differ in type");
      return need(e.type() == with_lanes(dtype::boolean, type(0)), "a comparison is not boolean");
    case op::logical_and:
    case op::logical_or:
      return need(is_boolean(type(0)) && type(1) == type(0) && e.type() == type(0),
                  "an operand of logic is not boolean");
    case op::logical_not:
      return need(is_boolean(type(0)) && e.type() == type(0), "an operand of logic is not boolean");
    case op::select:
    case op::if_then_else:
      need(type(0) == dtype::boolean ||
               (e->op == op::select && type(0) == with_lanes(dtype::boolean, e.type())),
           "the condition is not boolean");
      return need(type(1) == type(2) && e.type() == type(1), "the branches differ in type");
    case op::call: return need(!e->name.empty(), "a call has no name");
    default: return;
  }
}

TILEWRIGHT_INLINE void verifier::check_load(const expr& e) {
  const buffer& b = e->buffer;
  if (!b) fail("a load has no buffer");
  need_visible(b);
  need_readable(b);
  if (e.type() != access_type(b, e->args))
    fail("a load of " + b->name + " has another type than the buffer");
  if (e->args.size() != b->shape.size())
    fail("a load of " + b->name + " has " + std::to_string(e->args.size()) + " indices for " +
         std::to_string(b->shape.size()) + " dimensions");
  for (const expr& index : e->args)
    if (!is_integer(index.type()))
      fail("index " + print(index) + " of " + b->name + " is no integer");
}

TILEWRIGHT_INLINE void verifier::check_integer(const expr& e, const char* what) {
  check(e, what);
  if (!is_integer(e.type()) || is_vector(e.type()))
    fail(std::string(what) + " " + print(e) + " is no integer");
}

TILEWRIGHT_INLINE void verifier::check_boolean(const expr& e, const char* what) {
  check(e, what);
  if (e.type() != dtype::boolean) fail(std::string(what) + " " + print(e) + " is not boolean");
}

TILEWRIGHT_INLINE void verifier::check_range(const range& r, const char* what) {
  check_integer(r.min, what);
  check_integer(r.extent, what);
  if (r.min.type() != r.extent.type())
    fail(std::string(what) + " starts at " + print(r.min) + " of " +
         std::string(name(r.min.type())) + " and has an extent of " +
         std::string(name(r.extent.type())));
}

TILEWRIGHT_INLINE void verifier::check_region(const buffer_region& r) {
  if (!r.buffer) fail("a region has no buffer");
  need_visible(r.buffer);
  if (r.box.size() != r.buffer->shape.size())
    fail("a region of " + r.buffer->name + " has " + std::to_string(r.box.size()) + " ranges for " +
         std::to_string(r.buffer->shape.size()) + " dimensions");
  for (const range& dim : r.box) check_range(dim, "a region");
}

TILEWRIGHT_INLINE void verifier::check_layout(const buffer& b) {
  for (const expr& extent : b->shape) check_integer(extent, "an extent");
  for (const expr& stride : b->strides) check_integer(stride, "a stride");
  if (b->elem_offset) check_integer(b->elem_offset, "an offset");
  if (!b->strides.empty() && b->strides.size() != b->shape.size())
    fail("buffer " + b->name + " has " + std::to_string(b->strides.size()) + " strides for " +
         std::to_string(b->shape.size()) + " dimensions");
}

TILEWRIGHT_INLINE void verifier::need_visible(const buffer& b) const {
  if (!buffers_.contains(b.get()))
    fail("buffer " + b->name + " is neither a parameter nor allocated around its use");
}

TILEWRIGHT_INLINE void verifier::need_readable(const buffer& b) const {
  if (frame_.block && !frame_.may_read(b))
    fail("buffer " + b->name + " is read but not listed in the reads");
}

TILEWRIGHT_INLINE void verifier::need_writable(const buffer& b) const {
  if (frame_.block && !frame_.may_write(b))
    fail("buffer " + b->name + " is written but not listed in the writes");
}

}  // namespace tilewright::ir::detail
