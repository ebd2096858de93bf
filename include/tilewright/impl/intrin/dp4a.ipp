#pragma once

#include <string>
#include <utility>

#include <tilewright/intrin/dp4a.hpp>
#include <tilewright/ir/text/parse.hpp>

namespace tilewright::intrin {
namespace detail::dp4a {

inline intrinsic make(std::string name, dtype a, dtype b, dtype c) {
  const auto text = [](dtype t) { return "\"" + std::string(tilewright::name(t)) + "\""; };
  const std::string head =
      "@T.prim_func\n"
      "def main(A: T.Buffer((4,), " +
      text(a) +
      ", offset_factor=1, align=4, scope=\"shared\"), "
      "B: T.Buffer((4,), " +
      text(b) +
      ", offset_factor=1, align=4, scope=\"shared\"), "
      "C: T.Buffer((1,), " +
      text(c) +
      ", offset_factor=1, align=4, scope=\"local\")):\n"
      "    with T.block(\"root\"):\n"
      "        T.reads(C[0], A[0:4], B[0:4])\n"
      "        T.writes(C[0])\n";
  intrinsic out;
  out.name = std::move(name);
  out.description = ir::parse(head +
                              "        for i in range(4):\n"
                              "            with T.block(\"update\"):\n"
                              "                vi = T.axis.remap(\"R\", [i])\n"
                              "                C[0] = C[0] + T.cast(A[vi], " +
                              text(c) + ") * T.cast(B[vi], " + text(c) + ")\n");
  out.implementation = ir::parse(head + "        C[0] = T.call_extern(" + text(c) +
                                 ", \"dot4\", C[0], A[0], A[1], A[2], A[3], "
                                 "B[0], B[1], B[2], B[3])\n");
  return out;
}

}  // namespace detail::dp4a

TILEWRIGHT_INLINE intrinsic dp4a_s8s8s32() {
  return detail::dp4a::make("dp4a_s8s8s32", dtype::i8, dtype::i8, dtype::i32);
}
TILEWRIGHT_INLINE intrinsic dp4a_u8s8s32() {
  return detail::dp4a::make("dp4a_u8s8s32", dtype::u8, dtype::i8, dtype::i32);
}
TILEWRIGHT_INLINE intrinsic dp4a_s8u8s32() {
  return detail::dp4a::make("dp4a_s8u8s32", dtype::i8, dtype::u8, dtype::i32);
}
TILEWRIGHT_INLINE intrinsic dp4a_u8u8u32() {
  return detail::dp4a::make("dp4a_u8u8u32", dtype::u8, dtype::u8, dtype::u32);
}

}  // namespace tilewright::intrin
