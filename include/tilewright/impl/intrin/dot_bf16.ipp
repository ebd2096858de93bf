#pragma once

#include <string>

#include <tilewright/intrin/dot_bf16.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::intrin {
namespace detail::dot_bf16 {

inline constexpr const char* head = R"(@T.prim_func
def main(A: T.Buffer((2,), "bfloat16", offset_factor=1), B: T.Buffer((16, 2), "bfloat16", offset_factor=1), C: T.Buffer((16,), "float32", offset_factor=1)):
    with T.block("root"):
        T.reads(C[0:16], A[0:2], B[0:16, 0:2])
        T.writes(C[0:16])
)";

inline constexpr const char* description = R"(        for i in range(16):
            for k in range(2):
                with T.block("update"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    C[vi] = C[vi] + T.cast(A[vk], "float32") * T.cast(B[vi, vk], "float32")
)";

inline constexpr const char* implementation = R"(        for i in T.vectorized(16):
            C[i] = T.call_extern("float32", "dot2", C[i], A[0], A[1], B[i, 0], B[i, 1])
)";

}  // namespace detail::dot_bf16

TILEWRIGHT_INLINE intrinsic dot_16x2_bf16() {
  using namespace detail::dot_bf16;
  intrinsic out;
  out.name = "dot_16x2_bf16";
  out.description = ir::parse(std::string(head) + description);
  out.implementation = ir::parse(std::string(head) + implementation);
  out.suits = [](const target::machine& where) {
    return where.cpu && where.cpu->has("avx512bf16");
  };
  return out;
}

}  // namespace tilewright::intrin
