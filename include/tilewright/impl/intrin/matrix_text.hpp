// Text of descriptions of matrix products: parameters, types, statements for every element.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/text/parse.hpp>

namespace tilewright::intrin::detail::matrix_text {

/// f16 for float16, s8 for int8: as TVM's names have them.
inline std::string short_name(dtype t) {
  switch (t) {
    case dtype::f16: return "f16";
    case dtype::bf16: return "bf16";
    case dtype::f32: return "f32";
    case dtype::i8: return "s8";
    default: return "s32";
  }
}

/// Of an operand: f32 is multiplied as tf32.
inline std::string operand_name(dtype t) { return t == dtype::f32 ? "tf32" : short_name(t); }

inline std::string typed(dtype t) { return "\"" + std::string(name(t)) + "\""; }

inline std::string parameter(const char* of, dtype t, const std::string& scope,
                             const std::string& shape = "16, 16") {
  return std::string(of) + ": T.Buffer((" + shape + "), " + typed(t) +
         ", align=64, offset_factor=16, scope=\"" + scope + "\")";
}

inline std::string head(const std::string& parameters, const std::string& reads,
                        const std::string& writes) {
  return "@T.prim_func\ndef main(" + parameters +
         "):\n    with T.block(\"root\"):\n        T.reads(" + reads + ")\n        T.writes(" +
         writes + ")\n";
}

/// A statement for every element, as a block with variables or without.
inline std::string elements(const std::string& statement, bool blocks) {
  if (!blocks) return "        for vi, vj in T.grid(16, 16):\n            " + statement + "\n";
  return "        for i, j in T.grid(16, 16):\n            with T.block(\"element\"):\n"
         "                vi, vj = T.axis.remap(\"SS\", [i, j])\n                " +
         statement + "\n";
}

inline intrinsic element_wise(std::string name, const std::string& begin,
                              const std::string& statement) {
  intrinsic out;
  out.name = std::move(name);
  out.description = ir::parse(begin + elements(statement, true));
  out.implementation = ir::parse(begin + elements(statement, false));
  return out;
}

/// shared_dyn for shared.dyn
inline std::string spelled(std::string scope) {
  std::replace(scope.begin(), scope.end(), '.', '_');
  return scope;
}

}  // namespace tilewright::intrin::detail::matrix_text
