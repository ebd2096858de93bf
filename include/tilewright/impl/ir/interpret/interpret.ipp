#pragma once

#include <tilewright/impl/ir/interpret/interpret_compile.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/interpret/scalarize.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::ir::detail::interp {

/// Gives a value to every extent that is a plain variable, from the options.
inline void bind_dims(compiler& c, const expr& e, const interpret_options& options) {
  for (const var& v : free_vars(e)) {
    if (c.defined(v)) continue;
    const auto found = options.dims.find(v->name);
    if (found == options.dims.end())
      throw argument_error("extent " + v->name +
                           " has no value; give it in interpret_options::dims");
    c.define(v);
    c.state().slots[static_cast<std::size_t>(c.slot_of(v))].i = wrap_to(v.type(), found->second);
  }
}

inline void bind_scalar(compiler& c, const var& v, const tensor_view& view) {
  if (!view.data) throw argument_error("scalar " + v->name + " needs a pointer to its value");
  c.define(v);
  expr_code raw;
  raw.run = &run_constant;
  raw.constant = with_type(stored_as(v.type()), [&](auto d) {
    return read_element<decltype(d)::value>(static_cast<const std::byte*>(view.data));
  });
  expr_code step;
  step.run = pick_from_stored(v.type());
  step.a = &raw;
  step.constant = of_int(static_cast<std::int64_t>(v.type()));
  c.state().slots[static_cast<std::size_t>(c.slot_of(v))] =
      eval(step.run ? &step : &raw, c.state());
}

/// Strides of a parameter: the caller's, else the declared literals, else contiguous ones. A
/// declared stride that is a variable takes the value.
inline void bind_strides(compiler& c, const buffer& p, const tensor_view& view, bound_buffer& b) {
  const std::vector<std::int64_t> dense = contiguous(b.shape);
  if (!view.strides.empty() && view.strides.size() != b.shape.size())
    throw argument_error(p->name + " of rank " + std::to_string(b.shape.size()) +
                         " needs as many strides, not " + std::to_string(view.strides.size()));
  b.strides.clear();
  for (std::size_t d = 0; d < b.shape.size(); ++d) {
    const expr declared = p->strides.empty() ? expr() : p->strides[d];
    std::int64_t stride = view.strides.empty() ? dense[d] : view.strides[d];
    if (is_int(declared) && view.strides.empty()) stride = declared->integer;
    if (is_int(declared) && declared->integer != stride)
      throw argument_error("stride " + std::to_string(d) + " of " + p->name + " is declared as " +
                           std::to_string(declared->integer) + ", not " + std::to_string(stride));
    if (is_var(declared)) {
      c.define(declared);
      c.state().slots[static_cast<std::size_t>(c.slot_of(declared))].i = stride;
    }
    b.strides.push_back(stride);
  }
}

/// Strides in vectors become strides in scalars.
inline void add_lanes(dtype type, tensor_view& view) {
  if (!is_vector(type) || view.strides.empty()) return;
  for (std::int64_t& stride : view.strides) stride *= lanes(type);
  view.strides.push_back(1);
}

inline void bind_buffer(compiler& c, const buffer& p, const tensor_view& view,
                        const interpret_options& options) {
  for (const expr& e : p->shape) bind_dims(c, e, options);
  const int slot = c.buffer_slot(p);
  c.define(p);
  std::vector<const expr_code*> shape;
  for (const expr& e : p->shape) shape.push_back(c.compile(e));
  bound_buffer& b = c.state().buffers[static_cast<std::size_t>(slot)];
  b.node = p.get();
  b.shape = values_of(shape, c.state());
  bind_strides(c, p, view, b);
  const std::int64_t count = measure(b);
  if (!view.data && count > 0) throw argument_error("parameter " + p->name + " is null");
  b.data = static_cast<std::byte*>(view.data);
  if (p->elem_offset) {
    bind_dims(c, p->elem_offset, options);
    b.data += eval_int(c.compile(p->elem_offset), c.state()) * bytes(p->type);
  }
  if (options.check_races) {
    b.shadow_storage.assign(static_cast<std::size_t>(count), shadow{});
    b.shadows = b.shadow_storage.data();
  }
}

}  // namespace tilewright::ir::detail::interp

namespace tilewright::ir {

TILEWRIGHT_INLINE void interpret(const function& f, std::vector<tensor_view> args,
                                 interpret_options options) {
  using namespace detail::interp;
  if (args.size() != f.params.size())
    throw argument_error("function " + f.name + " takes " + std::to_string(f.params.size()) +
                         " arguments, not " + std::to_string(args.size()));
  if (has_vectors(f)) {
    for (std::size_t k = 0; k < args.size(); ++k)
      if (f.params[k].buffer) add_lanes(f.params[k].buffer->type, args[k]);
    return interpret(scalarize(f), std::move(args), std::move(options));
  }
  compiler c(f, options);
  for (std::size_t k = 0; k < args.size(); ++k)
    if (!f.params[k].buffer) bind_scalar(c, f.params[k].scalar, args[k]);
  for (std::size_t k = 0; k < args.size(); ++k)
    if (f.params[k].buffer) bind_buffer(c, f.params[k].buffer, args[k], options);
  execute(c.compile(f.body), c.state());
}

}  // namespace tilewright::ir
