// A program of bench_cliffs in the making, as a script and as a nest of loops in C++.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cliff_problems.hpp"

namespace bench {

struct axis {
  std::string name;
  int extent;
  bool reduce = false;
};
using axes = std::vector<axis>;

inline std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : between) + p;
  return out;
}

/// Builds both texts from one. Values are written in the script's language, of which the nest takes
/// `T.` as `T_`, brackets as calls, and // as division.
class program {
 public:
  explicit program(std::string type) : type_(std::move(type)) {}

  const std::string& type() const { return type_; }
  /// What products are summed in.
  std::string wide() const { return type_ == "int8" ? "int32" : type_; }
  std::string number(const std::string& value) const { return "T." + wide() + "(" + value + ")"; }
  /// An element as a term of sums.
  std::string wide(const std::string& element) const {
    return type_ == "int8" ? "T.cast(" + element + ", \"int32\")" : element;
  }

  void input(const std::string& name, const std::vector<int>& extents) {
    arguments.push_back({name, type_, extents, false});
    declare(name, type_, extents);
  }
  void output(const std::string& name, const std::vector<int>& extents) {
    arguments.push_back({name, wide(), extents, true});
    declare(name, wide(), extents);
  }
  void temporary(const std::string& name, const std::vector<int>& extents, bool narrow = false) {
    const std::string type = narrow ? type_ : wide();
    script_body_ += "    " + name + " = T.alloc_buffer(" + tuple(extents) + ", \"" + type + "\")\n";
    declare(name, type, extents);
    long size = 1;
    for (const int e : extents) size *= e;
    nest_setup_ += "  static " + c_type(type) + " " + name + "_[" + std::to_string(size) + "];\n";
  }

  /// target = value for all axes; with `start` (a value) a reduction that combines by `+` or by the
  /// call `combine`.
  void block(const std::string& name, const axes& all, const std::string& target,
             const std::string& value, const std::string& start = {},
             const std::string& combine = "+") {
    std::vector<std::string> loops, extents, variables;
    std::string kinds;
    for (const axis& a : all) {
      loops.push_back(a.name);
      extents.push_back(std::to_string(a.extent));
      variables.push_back("v" + a.name);
      kinds += a.reduce ? 'R' : 'S';
    }
    const auto combined = [&](const std::string& sum) {
      return combine == "+" ? sum + " + " + value : combine + "(" + sum + ", " + value + ")";
    };
    script_body_ += "    for " + joined(loops) + " in T.grid(" + joined(extents) + "):\n" +
                    "        with T.block(\"" + name + "\"):\n            " + joined(variables) +
                    " = T.axis.remap(\"" + kinds + "\", [" + joined(loops) + "])\n";
    if (!start.empty())
      script_body_ +=
          "            with T.init():\n                " + target + " = " + start + "\n";
    script_body_ +=
        "            " + target + " = " + (start.empty() ? value : combined(target)) + "\n";
    nest_loops(all, false);
    if (start.empty()) {
      nest_body_ += in_c(target + " = " + value) + ";\n";
      return;
    }
    nest_body_ += "{ real_sum sum = " + in_c(start) + ";\n";
    nest_loops(all, true);
    nest_body_ += "sum = " + in_c(combined("sum")) + ";\n" + in_c(target) + " = sum; }\n";
  }

  /// The parameter at this position keeps its contents from call to call.
  void bind(int position) { bound_ = position; }

  std::string script() const {
    std::vector<std::string> parameters;
    for (const cliff_argument& a : arguments)
      parameters.push_back(a.name + ": T.Buffer(" + tuple(a.extents) + ", \"" + a.type + "\")");
    return "@T.prim_func\ndef main(" + joined(parameters) + "):\n" +
           (bound_ < 0 ? ""
                       : "    T.func_attr({\"layout_free_buffers\": [" + std::to_string(bound_) +
                             "]})\n") +
           script_body_;
  }
  std::string nest() const {
    std::string out =
        "#include <iso646.h>\n#include <tgmath.h>\n#ifdef REFERENCE\n"
        "typedef double float32, float64, int8, int32;\n#else\n"
        "typedef float float32; typedef double float64; typedef signed char int8; typedef int "
        "int32;\n#endif\ntypedef " +
        c_type(wide()) +
        " real_sum;\n#define T_float32(x) ((float32)(x))\n#define T_float64(x) ((float64)(x))\n"
        "#define T_int32(x) ((int32)(x))\n#define T_int8(x) ((int8)(x))\n"
        "#define T_cast(x, t) ((real_sum)(x))\n#define T_max(a, b) ((a) > (b) ? (a) : (b))\n"
        "#define T_if_then_else(c, a, b) ((c) ? (a) : (b))\n"
        "#define T_Select(c, a, b) ((c) ? (a) : (b))\n#define T_exp exp\n#define T_sqrt sqrt\n" +
        nest_macros_ + "void nest(void* const* arguments) {\n";
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const cliff_argument& a = arguments[i];
      out += "  " + c_type(a.type) + "* restrict " + a.name + "_ = (" + c_type(a.type) +
             "*)arguments[" + std::to_string(i) + "];\n";
    }
    return out + nest_setup_ + nest_body_ + "}\n";
  }

  std::vector<cliff_argument> arguments;

 private:
  static std::string tuple(const std::vector<int>& extents) {
    std::string out;
    for (const int e : extents) out += std::to_string(e) + ", ";
    return "(" + out + ")";
  }
  static std::string c_type(const std::string& type) { return type; }

  static std::string in_c(std::string text) {
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    };
    replace("T.", "T_");
    replace("[", "(");
    replace("]", ")");
    replace("//", "/");
    replace("\"int32\"", "int32");
    return text;
  }

  void declare(const std::string& name, const std::string&, const std::vector<int>& extents) {
    std::vector<std::string> parameters;
    std::string index = "0";
    for (std::size_t d = 0; d < extents.size(); ++d) {
      parameters.push_back("i" + std::to_string(d));
      index =
          "(" + index + ") * " + std::to_string(extents[d]) + "L + (i" + std::to_string(d) + ")";
    }
    nest_macros_ +=
        "#define " + name + "(" + joined(parameters) + ") " + name + "_[" + index + "]\n";
  }

  void nest_loops(const axes& all, bool reduce) {
    for (const axis& a : all)
      if (a.reduce == reduce)
        nest_body_ += "for (long v" + a.name + " = 0; v" + a.name + " < " +
                      std::to_string(a.extent) + "; ++v" + a.name + ") ";
  }

  std::string type_, script_body_, nest_setup_, nest_body_, nest_macros_;
  int bound_ = -1;
};

}  // namespace bench
