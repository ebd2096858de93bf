// docs/primitives.md has a section for every kind of the instruction table, whose signature is that
// of the table and whose trace takes the program before to the program after.
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/parse.hpp>
#include <tilewright/ir/print.hpp>
#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

/// A section: its lines outside of code blocks, and its code blocks.
struct section {
  std::string name, text;
  std::vector<std::string> code;
};

/// Sections under headings of the third level.
std::vector<section> sections_of(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in, path, " cannot be read");
  std::vector<section> out;
  bool in_code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = !in_code;
      if (in_code && !out.empty()) out.back().code.emplace_back();
    } else if (in_code) {
      if (!out.empty()) out.back().code.back() += line + "\n";
    } else if (line.rfind("### ", 0) == 0) {
      out.push_back({line.substr(4), "", {}});
    } else if (!out.empty()) {
      out.back().text += line + "\n";
    }
  }
  return out;
}

/// `split(loop, factors, preserve_unit_iters=True)`, as the head of a section shows it.
std::string signature(const instruction_kind& kind) {
  std::string out(kind.name);
  out += "(";
  for (const parameter& p : kind.parameters) {
    if (out.back() != '(') out += ", ";
    if (p.positional && (p.type == argument_type::loops || p.type == argument_type::blocks))
      out += "*";
    out += p.name;
    if (!p.fallback) continue;
    out += "=";
    if (p.type == argument_type::boolean)
      out += *p.fallback == "1" || *p.fallback == "True" ? "True" : "False";
    else if (p.type == argument_type::string)
      out += "\"" + std::string(*p.fallback) + "\"";
    else
      out += *p.fallback;
  }
  return out + ")";
}

std::map<std::string, section> documented() {
  std::map<std::string, section> out;
  for (section& s : sections_of("docs/primitives.md")) out[s.name] = std::move(s);
  return out;
}

}  // namespace

TEST_CASE("every primitive has its section, with the signature of the table") {
  const std::map<std::string, section> sections = documented();
  for (const instruction_kind& kind : instruction_kinds()) {
    const std::string name(kind.name);
    const auto found = sections.find(name);
    if (found == sections.end()) {
      FAIL_CHECK("docs/primitives.md lacks the section ### ", name, ", `", signature(kind), "`");
      continue;
    }
    INFO(name);
    CHECK_MESSAGE(found->second.text.find("`" + signature(kind) + "`") != std::string::npos,
                  "the section should say `", signature(kind), "`");
  }
  for (const auto& [name, s] : sections)
    CHECK_MESSAGE(find_instruction_kind(name), name, " is no primitive");
}

TEST_CASE("the traces in the documentation give the programs in the documentation") {
  for (const auto& [name, s] : documented()) {
    INFO(name);
    const instruction_kind* kind = find_instruction_kind(name);
    if (!kind) continue;
    // a query leaves the program as it is
    const bool two = s.code.size() == 2 && kind->pure;
    CHECK_MESSAGE((s.code.size() == 3 || two), "the section needs program, trace, program");
    if (s.code.size() < 2) continue;
    try {
      const ir::function before = ir::parse(s.code[0]);
      const trace steps = trace::parse(s.code[1]);
      bool shown = false;
      for (const trace::step& step : steps.steps()) shown = shown || step.what->kind == kind;
      CHECK_MESSAGE(shown, "the trace does not show the primitive");
      schedule result(before);
      steps.apply_to(result);
      const ir::function after = s.code.size() == 3 ? ir::parse(s.code[2]) : before;
      if (!ir::equal(result.function(), after))
        FAIL_CHECK("the program after should be\n", ir::print(result.function()));
    } catch (const error& e) {
      FAIL_CHECK(e.what());
    }
  }
}
