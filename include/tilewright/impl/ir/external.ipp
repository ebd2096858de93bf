#pragma once

#include <map>
#include <mutex>

#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/fork_mutex.hpp>

namespace tilewright::ir {
namespace detail::externals {

struct registry {
  support::fork_mutex mutex;
  std::map<std::string, std::shared_ptr<const external_function>, std::less<>> functions;
};

inline registry& known() {
  const support::fork_pass inside;
  static registry& r = *new registry;  // outlives static destruction
  return r;
}

/// Row by row without gaps, as far as extents and strides are numbers.
inline bool is_contiguous(const buffer& b) {
  if (b->strides.empty()) return true;
  std::int64_t stride = 1;
  for (std::size_t d = b->shape.size(); d-- > 0;) {
    if (!is_int(b->strides[d]) || !is_int(b->shape[d])) return false;
    if (b->strides[d]->integer != stride && b->shape[d]->integer != 1) return false;
    stride *= b->shape[d]->integer;
  }
  return true;
}

}  // namespace detail::externals

TILEWRIGHT_INLINE void add_external(external_function f) {
  const bool taken = f.name == "dot4" || f.name == "dot2" || f.name == "sad8" ||
                     detail::is_script_intrinsic(f.name) || f.name.rfind("tilewright_", 0) == 0 ||
                     f.name.rfind("tir.", 0) == 0;
  if (f.name.empty() || taken)
    throw argument_error("external function \"" + f.name +
                         "\": the name is empty or means something else in programs; choose "
                         "another (requirement 1)");
  if (!f.address || (!f.packed && !f.invoke))
    throw argument_error("external function \"" + f.name + "\" has no address (requirement 2)");
  detail::externals::registry& r = detail::externals::known();
  const std::lock_guard lock(r.mutex);
  const std::string name = f.name;
  r.functions[name] = std::make_shared<const external_function>(std::move(f));
}

TILEWRIGHT_INLINE std::shared_ptr<const external_function> find_external(std::string_view name) {
  detail::externals::registry& r = detail::externals::known();
  const std::lock_guard lock(r.mutex);
  const auto found = r.functions.find(name);
  return found == r.functions.end() ? nullptr : found->second;
}

TILEWRIGHT_INLINE void remove_external(std::string_view name) {
  detail::externals::registry& r = detail::externals::known();
  const std::lock_guard lock(r.mutex);
  if (const auto found = r.functions.find(name); found != r.functions.end())
    r.functions.erase(found);
}

TILEWRIGHT_INLINE void add_packed(std::string name, packed_function f) {
  external_function out;
  out.name = std::move(name);
  out.packed = true;
  out.returns = false;
  out.address = reinterpret_cast<void*>(f);
  add_external(std::move(out));
}

TILEWRIGHT_INLINE bool is_packed_call(const expr& call) {
  return call->op == op::call && call->name == "tir.call_packed" && !call->args.empty() &&
         call->args[0]->op == op::text;
}

TILEWRIGHT_INLINE std::shared_ptr<const external_function> called_external(const expr& call) {
  if (call->op != op::call) return nullptr;
  const bool packed = is_packed_call(call);
  auto found = find_external(packed ? call->args[0]->name : call->name);
  return found && found->packed == packed ? found : nullptr;
}

TILEWRIGHT_INLINE std::string unknown_external(const expr& call) {
  if (is_packed_call(call))
    return "function " + call->args[0]->name +
           " of a packed call is not known; ir::add_packed makes it known";
  for (const expr& a : call->args)
    if (a.type() == dtype::handle || a->op == op::text)
      return "function " + call->name + " is not known; ir::add_external makes it known";
  return {};
}

TILEWRIGHT_INLINE std::vector<expr> external_arguments(const expr& call) {
  return {call->args.begin() + (is_packed_call(call) ? 1 : 0), call->args.end()};
}

TILEWRIGHT_INLINE pointed pointed_by(const expr& argument) {
  if (argument->op == op::data) return {argument->buffer, expr(0)};
  if (argument->op == op::call && argument->name == "tir.tvm_access_ptr" &&
      argument->args.size() == 5 && argument->args[1]->op == op::data)
    return {argument->args[1]->buffer, argument->args[2]};
  return {};
}

TILEWRIGHT_INLINE std::string misfit(const external_function& f, const expr& call) {
  const std::vector<expr> arguments = external_arguments(call);
  if (!f.packed && arguments.size() != f.parameters.size())
    return "function " + f.name + " takes " + std::to_string(f.parameters.size()) +
           " arguments, not " + std::to_string(arguments.size());
  if (!f.packed && call.type() != f.result)
    return "function " + f.name + " gives " + std::string(name(f.result)) + ", not " +
           std::string(name(call.type()));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const dtype type = arguments[i].type();
    const std::string which = "argument " + std::to_string(i) + " of function " + f.name;
    if (type == dtype::handle) {
      const buffer b = pointed_by(arguments[i]).buffer;
      if (!b) return which + " is a pointer that is not made of the data of a buffer";
      if (!detail::externals::is_contiguous(b))
        return which + ": buffer " + b->name + " is not contiguous row by row";
    }
    if (f.packed) {
      if (type != dtype::handle && type != dtype::i32 && type != dtype::i64 && type != dtype::f32 &&
          type != dtype::f64)
        return which + " is neither a pointer nor an i32, i64, f32 or f64";
      continue;
    }
    const dtype wanted = f.parameters[i].type;
    if (wanted != type && !(is_integer(wanted) && is_integer(type) && bits(type) <= bits(wanted)))
      return which + " is a value of type " + std::string(name(type)) + ", not " +
             std::string(name(wanted));
  }
  return {};
}

}  // namespace tilewright::ir
