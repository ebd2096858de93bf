// Programs whose compilation is timed: space expressions of so many steps, and the two ways to keep
// the names that their steps make.
#pragma once

#include <string>

namespace programs {

/// `count` spaces of `steps` steps each, which `list` puts together: samplings, splits and
/// annotations that name what was made before.
inline std::string space_expressions(int steps, int count,
                                     const std::string& list = "tw::space::steps") {
  std::string out = "namespace expressions {\nusing namespace tw::space;\n";
  for (int c = 0; c < count; ++c) {
    out += "const design_space s" + std::to_string(c) + " = on<\"C\">(" + list + "(";
    for (int n = 0; n < steps; ++n) {
      const std::string id = std::to_string(c) + "_" + std::to_string(n);
      const std::string last = std::to_string(c) + "_" + std::to_string(n - 1);
      out += n == 0 ? "\n  " : ",\n  ";
      switch (n % 4) {
        case 0: out += "let<\"v" + id + "\"> = sample_perfect_tile<tw::axes::i[0], 2>"; break;
        case 1:
          out += "let<\"v" + id + "\"> = split<tw::axes::i[0], variable<\"v" + last + "\">{}>";
          break;
        case 2: out += "unroll<variable<\"v" + last + "\">{}[1]>"; break;
        case 3: out += "annotate<here, \"k" + id + "\", " + std::to_string(n) + ">"; break;
      }
    }
    out += "));\n";
  }
  return out + "}\n";
}

/// One space of `steps` steps that are kept in a tuple of Hana and folded over by it: to run them, to
/// write them, and to check the names in them.
inline std::string hana_sequence(int steps) {
  return R"(#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
namespace sequences {
template <class... Steps>
struct folded {
  using tilewright_space = void;
  boost::hana::tuple<Steps...> steps;
  void operator()(tw::schedule& s, tw::space::scope& in) const {
    boost::hana::for_each(steps, [&](const auto& step) { step(s, in); });
  }
  void write(tw::space::detail::expression_text& out) const {
    boost::hana::for_each(steps, [&](const auto& step) { step.write(out); });
  }
  static constexpr void walk(tw::space::detail::environment& e) {
    (tw::space::detail::variables_of<Steps>::walk(e), ...);
  }
};
template <class... Steps>
folded<Steps...> tuple_of(const Steps&... each) {
  return {boost::hana::make_tuple(each...)};
}
}  // namespace sequences
)" + space_expressions(steps, 1, "sequences::tuple_of");
}

/// `count` names put into a map of Hana one after the other, and looked up.
inline std::string hana_names(int count) {
  std::string out =
      "#include <boost/hana/contains.hpp>\n#include <boost/hana/insert.hpp>\n"
      "#include <boost/hana/map.hpp>\n#include <boost/hana/pair.hpp>\n"
      "#include <boost/hana/string.hpp>\n#include <boost/hana/type.hpp>\n"
      "namespace hana = boost::hana;\nconstexpr auto m0 = hana::make_map();\n";
  for (int n = 0; n < count; ++n) {
    const std::string key = "hana::string_c<'v', '" +
                            std::string(1, static_cast<char>('0' + n / 10)) + "', '" +
                            std::string(1, static_cast<char>('0' + n % 10)) + "'>",
                      m = "m" + std::to_string(n), next = "m" + std::to_string(n + 1);
    out += "static_assert(!decltype(hana::contains(" + m + ", " + key + "))::value);\n" +
           "constexpr auto " + next + " = hana::insert(" + m + ", hana::make_pair(" + key +
           ", hana::int_c<" + std::to_string(n) + ">));\n";
  }
  return out;
}

/// The same with the constexpr array of names that space expressions keep.
inline std::string array_names(int count) {
  std::string out =
      "#include <tilewright/space/operand.hpp>\n"
      "using environment = tilewright::space::detail::environment;\n"
      "template <int N> constexpr environment made = [] { environment e = made<N - 1>; "
      "const char* names[] = {";
  for (int n = 0; n < count; ++n)
    out += std::string(n ? ", " : "") + "\"v" + std::to_string(100 + n) + "\"";
  out +=
      "}; e.make(names[N - 1]); return e; }();\n"
      "template <> inline constexpr environment made<0>{};\n";
  for (int n = 0; n < count; ++n)
    out += "static_assert(!made<" + std::to_string(n) + ">.knows(\"v" + std::to_string(100 + n) +
           "\"));\nstatic_assert(made<" + std::to_string(n + 1) + ">.knows(\"v" +
           std::to_string(100 + n) + "\"));\n";
  return out;
}

}  // namespace programs
