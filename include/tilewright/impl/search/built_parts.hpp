// From what lowering gives to loaded code.
#pragma once

#include <exception>

#include <tilewright/backend/compile.hpp>
#include <tilewright/pass/prepare_weights.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::search::detail {

/// Code of what `lowered` gives; what it throws is an error of the build.
inline built built_of(support::function_ref<pass::prepared()> lowered, const target::cpu& cpu) {
  built out;
  try {
    const pass::prepared parts = lowered();
    out.artifact = backend::compile(parts.main, cpu);
    for (const ir::buffer& b : parts.packed)
      out.artifact.packed_bytes.push_back(pass::constant_size(b) * bytes(b->type));
    if (parts.preparation.body)
      out.artifact.preparation.push_back(backend::compile(parts.preparation, cpu));
    out.code = backend::load(out.artifact);
  } catch (const std::exception& e) {
    out.code = nullptr;
    out.error = e.what();
    if (out.error.empty()) out.error = "unknown";
  }
  return out;
}

}  // namespace tilewright::search::detail
