// tilewright apply: what does a trace make of a function?
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>

#include <tilewright/arith/normalize.hpp>
#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

#include "../command.hpp"
#include "../display/marked_program.hpp"
#include "../option_values.hpp"

namespace tool {
namespace {

struct apply_options {
  std::string file, function, trace, expected;
  std::vector<std::string> intrinsics;
  bool json = false, as_tvm = false;
  std::uint64_t seed = 42;
};

/// "NAME=DESCRIPTION,IMPLEMENTATION": an intrinsic from two files. One that the interpreter cannot
/// check is taken as it is.
void add_intrinsic(const std::string& text) {
  const std::size_t equals = text.find('='), comma = text.find(',', equals);
  if (equals == text.npos || comma == text.npos)
    throw tilewright::argument_error("--intrin takes NAME=DESCRIPTION,IMPLEMENTATION, not " + text);
  tilewright::intrin::intrinsic made{text.substr(0, equals),
                                     load_function(text.substr(equals + 1, comma - equals - 1)),
                                     load_function(text.substr(comma + 1)), nullptr};
  tilewright::intrin::add_where_checkable(std::move(made));
}

/// The printed form of one instruction.
std::string instruction_text(const tilewright::trace& t, std::size_t index) {
  const std::string all = t.print();
  std::size_t start = 0;
  for (; index > 0 && start < all.size(); --index) start = all.find('\n', start) + 1;
  return all.substr(start, all.find('\n', start) - start);
}

/// Where the instruction stands, and how it reads.
std::string located(const apply_options& o, const tilewright::trace& t, std::size_t index) {
  return o.trace + ": instruction " + std::to_string(index) + ", " + instruction_text(t, index);
}

/// `before` is the program that the refused instruction was to change.
int report_refusal(const apply_options& o, const tilewright::trace& t,
                   const tilewright::replay_error& e, const tilewright::ir::function& before) {
  const std::string text = instruction_text(t, e.instruction());
  if (o.json) {
    say("{\"status\": \"refused\", \"instruction\": " + std::to_string(e.instruction()) +
        ", \"text\": " + json(text) + ", \"primitive\": " + json(e.primitive()) +
        ", \"requirement\": " + std::to_string(e.requirement()) +
        ", \"message\": " + json(e.what()) + "}\n");
  } else {
    complain(located(o, t, e.instruction()) + "\n" + e.what() + "\n\n" +
             marked_program(before, e.what()));
  }
  return refused;
}

int compare(const apply_options& o, const tilewright::ir::function& result,
            const tilewright::ir::function& expected) {
  tilewright::ir::function wanted = tilewright::arith::normalize(expected);
  wanted.name = result.name;
  const tilewright::ir::function found = tilewright::arith::normalize(result);
  const bool same = tilewright::ir::equal(found, wanted);
  std::string difference;
  if (!same)
    difference = first_difference(tilewright::ir::print(wanted), tilewright::ir::print(found));
  if (o.json) {
    say(std::string("{\"status\": ") +
        (same ? "\"same\"" : "\"different\", \"difference\": " + json(difference)) +
        ", \"function\": " + json(tilewright::ir::print(result)) + "}\n");
  } else if (!same) {
    complain("the result differs from " + o.expected + " (- expected, + result) at " + difference);
  }
  return same ? fine : different;
}

/// The function that the user names, or else the one whose blocks the trace gets, where the script
/// has several; empty: `main`, or the first.
/// @throws argument_error when the trace gets blocks of functions that are not there, or of two
std::string chosen_function(const apply_options& o, const tilewright::trace& t) {
  const std::vector<std::string> there = parse_file(o.file, &tilewright::ir::function_names);
  if (!o.function.empty() || there.size() == 1) return o.function;
  std::set<std::string> named;
  for (const tilewright::trace::step& step : t.steps())
    if (step.what->kind->name == "get_block")
      named.insert(std::get<std::string>(step.what->args.at(1)));
  if (named.empty() || (named.size() == 1 && *named.begin() == "main")) return {};
  if (named.size() > 1)
    throw tilewright::argument_error(o.trace + ": gets blocks of functions \"" + *named.begin() +
                                     "\" and \"" + *named.rbegin() +
                                     "\"; a schedule is one of one function, give each its trace");
  return *named.begin();
}

/// Refuses the last instruction, which was applied to `before`, where TVM would have; and leaves what it
/// has made as TVM does: that a block reads what cache_index computes for it is not declared.
/// @throws schedule_error
void follow_tvm(const tilewright::schedule_state& before, tilewright::schedule& s) {
  const tilewright::support::ref<const tilewright::instruction> last =
      s.trace().steps().back().what;
  if (const auto refusal = tilewright::primitive::tvm_refusal(before, *last)) throw *refusal;
  if (last->kind->name != "cache_index") return;
  const tilewright::block_rv user{std::get<tilewright::rv>(last->args[0]).number};
  const auto& reads = s.get(user).block->reads;
  std::vector<std::int64_t> undeclared;
  for (const tilewright::rv& made : last->outputs)
    for (std::size_t i = 0; i < reads.size(); ++i)
      if (reads[i].buffer == s.get(tilewright::block_rv{made.number}).block->writes[0].buffer)
        undeclared.push_back(static_cast<std::int64_t>(i));
  if (!undeclared.empty()) s.unsafe_hide_buffer_access(user, "read", undeclared);
}

int apply(const apply_options& o) {
  for (const std::string& i : o.intrinsics) add_intrinsic(i);
  const tilewright::trace t = parse_file(o.trace, &tilewright::trace::parse);
  const tilewright::ir::function f = load_function(o.file, chosen_function(o, t));
  tilewright::ir::function expected;
  if (!o.expected.empty()) expected = load_function(o.expected);
  tilewright::schedule s(f, o.seed);
  tilewright::schedule_state before = s.state();
  std::size_t steps = 0;
  try {
    t.apply_to(s, {}, [&](const tilewright::trace::step&) {
      if (o.as_tvm) follow_tvm(before, s);
      before = s.state();
      ++steps;
    });
  } catch (const tilewright::replay_error& e) {
    return report_refusal(o, t, e, before.function);
  } catch (const tilewright::argument_error& e) {
    throw tilewright::argument_error(located(o, t, steps) + "\n" + e.what());
  }
  if (!o.expected.empty()) return compare(o, s.function(), expected);
  const std::string text = tilewright::ir::print(s.function());
  say(o.json ? "{\"status\": \"fine\", \"function\": " + json(text) +
                   ", \"trace\": " + json(s.trace().print()) + "}\n"
             : text);
  return fine;
}

int apply_or_report(const apply_options& o) {
  if (!o.json) return apply(o);
  try {
    return apply(o);
  } catch (const input_error& e) {
    say("{\"status\": \"bad input\", \"file\": " + json(e.file()) +
        ", \"line\": " + std::to_string(e.line()) + ", \"column\": " + std::to_string(e.column()) +
        ", \"expected\": " + json(e.expected()) + ", \"message\": " + json(e.what()) + "}\n");
  } catch (const tilewright::argument_error& e) {
    say("{\"status\": \"bad input\", \"message\": " + json(e.what()) + "}\n");
  }
  return bad_input;
}

}  // namespace

std::function<int()> declare_apply(CLI::App& app) {
  const auto o = std::make_shared<apply_options>();
  app.add_option("FILE", o->file, "a function in script form")->required();
  app.add_option("--function", o->function,
                 "the function of that name; otherwise the one that the trace names, main, or the "
                 "first");
  app.add_option("TRACE", o->trace, "a trace in printed form")->required();
  app.add_option("--expect", o->expected, "compare the result with this function, names aside");
  app.add_flag("--json", o->json, "one line of JSON on stdout");
  app.add_flag("--tvm", o->as_tvm, "also refuse what TVM refuses and Tilewright does not");
  app.add_option(
      "--intrin", o->intrinsics,
      "NAME=DESCRIPTION,IMPLEMENTATION: a tensor intrinsic from two files; may be repeated");
  app.add_option("--seed", o->seed, "for decisions that the trace leaves open")
      ->check(whole<std::uint64_t>())
      ->capture_default_str();
  return [o] { return apply_or_report(*o); };
}

}  // namespace tool
