#include "field_problem.hpp"

namespace bench::fields {

std::string nest_text(const std::vector<field_argument>& arguments, const std::string& body) {
  // Arguments are parameters, since clang reads `restrict` nowhere else.
  std::string declared, passed, extents;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const field_argument& a = arguments[i];
    const std::string comma = i ? ", " : "";
    std::string inner;
    for (std::size_t d = 0; d < a.extents.size(); ++d) {
      const std::string extent = std::to_string(a.extents[d]);
      extents += "enum { " + a.name + "_" + std::to_string(d) + " = " + extent + " };\n";
      if (d > 0) inner += "[" + extent + "]";
    }
    declared +=
        comma + (a.written ? "" : "const ") + a.type + " (*restrict " + a.name + ")" + inner;
    passed += comma + "arguments[" + std::to_string(i) + "]";
  }
  return "#include <stdint.h>\n#include <tgmath.h>\n#undef I\n"
         "#ifdef REFERENCE\ntypedef double f32;\n#else\ntypedef float f32;\n#endif\n"
         "typedef double f64; typedef uint8_t u8; typedef int8_t i8; typedef uint16_t u16; typedef "
         "uint64_t u64; typedef "
         "int32_t i32;\n" +
         extents + "static void kernel(" + declared + ") {\n" + body +
         "}\nvoid nest(void* const* arguments) { kernel(" + passed + "); }\n";
}

}  // namespace bench::fields
