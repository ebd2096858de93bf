// Where a network's arguments lie, as its plan says it.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/impl/model/device/constant_pool.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/model/executable.hpp>

namespace tilewright::network::detail {

/// @param pool where constants come to lie
inline saved_argument argument_of(const launch::slot& s, std::int64_t bytes, constant_pool& pool) {
  switch (s.where) {
    case launch::slot::input:
      return {saved_argument::input, static_cast<std::int64_t>(s.number), s.offset, bytes};
    case launch::slot::output:
      return {saved_argument::output, static_cast<std::int64_t>(s.number), s.offset, bytes};
    case launch::slot::arena: return {saved_argument::arena, 0, s.offset, bytes};
    case launch::slot::fixed: break;
  }
  return {saved_argument::constant, 0, pool.add(s.data, bytes), bytes};
}

/// A plan without kernels.
/// @param names has names and types of the arguments
inline saved_plan empty_plan(const executable& program, const graph& names, std::string isa) {
  saved_plan out;
  out.isa = std::move(isa);
  out.name = names.name;
  for (const value_id v : names.inputs) out.inputs.push_back({names.at(v).name, names.type_of(v)});
  for (const value_id v : names.outputs)
    out.outputs.push_back({names.at(v).name, names.type_of(v)});
  out.arena_bytes = program.arena_bytes();
  return out;
}

/// The plan of a network for a GPU, without code.
inline saved_plan device_plan(const executable& program, const graph& names, constant_pool& pool) {
  if (!program.gpu() || !program.copies().empty())
    throw internal_error("a plan for a device needs kernels for one, which write every output");
  saved_plan out = empty_plan(program, names, "nvidia:" + program.gpu()->architecture);
  for (const launch& l : program.launches()) {
    saved_kernel& k = out.kernels.emplace_back();
    k.name = text_of(l.what);
    for (std::size_t p = 0; p < l.slots.size(); ++p) {
      k.arguments.push_back(
          argument_of(l.slots[p], elements_of(l.extents[p]) * bytes(l.types[p]), pool));
      k.strides.insert(k.strides.end(), l.strides[p].begin(), l.strides[p].end());
    }
    k.checks = l.checks;
  }
  return out;
}

}  // namespace tilewright::network::detail
