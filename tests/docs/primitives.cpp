// docs/primitives/ has a section for every kind of the instruction table, whose signature is that of
// the table, whose requirements are those of the headers, word for word, and whose trace takes the
// program before to the program after, which computes the same. docs/primitives.md leads to each of
// them.
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

#include <schedule/check_schedule.hpp>

#include "requirements.hpp"
#include "sections.hpp"

using namespace tilewright;
using namespace docs;

namespace {

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

/// Whether every content of the parameters is one that the program was written for: lists of places
/// have to be in order.
bool takes_any_data(const ir::function& f) { return !f.attrs.count(ir::iterations_attribute); }

}  // namespace

TEST_CASE("every primitive has its section, with the signature of the table") {
  const std::map<std::string, section> sections = documented();
  for (const instruction_kind& kind : instruction_kinds()) {
    const std::string name(kind.name);
    const auto found = sections.find(name);
    if (found == sections.end()) {
      FAIL_CHECK("no page of docs/primitives has the section ## ", name, ", `", signature(kind),
                 "`");
      continue;
    }
    INFO(name);
    CHECK_MESSAGE(found->second.text.find("`" + signature(kind) + "`") != std::string::npos,
                  "the section should say `", signature(kind), "`");
  }
  for (const auto& [name, s] : sections)
    CHECK_MESSAGE(find_instruction_kind(name), name, " is no primitive");
}

TEST_CASE("the requirements in the documentation are those of the headers, word for word") {
  const std::map<std::string, requirements> headers = required_by_headers();
  std::size_t compared = 0;
  for (const auto& [name, s] : documented()) {
    const auto found = headers.find(name);
    const requirements there = found == headers.end() ? requirements() : found->second;
    const requirements here = numbered(s.text);
    for (const std::string& one : here)
      CHECK_MESSAGE(there.count(one) == 1, name, ": the header does not say: ", one);
    for (const std::string& one : there)
      CHECK_MESSAGE(here.count(one) == 1, name, ": the documentation does not say: ", one);
    compared += here.size();
  }
  CHECK(compared > 200);
}

TEST_CASE("a requirement and each of its clauses name what they are about") {
  static const std::regex pronoun(
      "(^\\d+\\. |; )((and|as|but|for|if|nor|what|when|where) )?"
      "(it|its|none|their|them|these|they|this|those)\\b");
  const auto speaks_of_what_went_before = [](const std::string& one) {
    return std::regex_search(one, pronoun);
  };
  CHECK(speaks_of_what_went_before("1. it starts at 0"));
  CHECK(speaks_of_what_went_before("2. the loop starts at 0; where its extent is 1, it goes"));
  CHECK(!speaks_of_what_went_before("1. the loop starts at 0, and its extent is constant"));
  for (const auto& [name, s] : documented())
    for (const std::string& one : numbered(s.text))
      CHECK_MESSAGE(!speaks_of_what_went_before(one), name,
                    ": a clause begins with a pronoun: ", one);
}

TEST_CASE("the index leads to every primitive") {
  const std::string index = read_file("docs/primitives.md");
  for (const auto& [name, s] : documented())
    CHECK_MESSAGE(
        index.find("[" + name + "](primitives/" + s.page + "#" + name + ")") != std::string::npos,
        name, " is not in the index, or on another page");
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
      const bool hides = name == "unsafe_hide_buffer_access";  // so that no program is in order
      if (!hides && takes_any_data(before)) check_meaning(result, before);
    } catch (const error& e) {
      FAIL_CHECK(e.what());
    }
  }
}
