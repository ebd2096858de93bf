#include "law.hpp"

#include <algorithm>
#include <fstream>

#include <tilewright/backend/compile.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/support/error.hpp>

namespace laws {
namespace {

/// Everything that a refusal must leave alone.
struct snapshot {
  std::string program, trace;
  std::size_t symbols;
  std::vector<std::uint64_t> draws;

  explicit snapshot(const schedule& s)
      : program(ir::print(s.function())),
        trace(s.trace().print()),
        symbols(s.state().symbols.size()) {
    support::random stream = s.state().random;
    for (int i = 0; i < 10; ++i) draws.push_back(stream.next());
  }
  std::string difference(const snapshot& later) const {
    if (later.program != program) return "a refusal changed the program";
    if (later.trace != trace) return "a refusal changed the trace";
    if (later.symbols != symbols) return "a refusal changed the symbol table";
    if (later.draws != draws) return "a refusal changed the random stream";
    return "";
  }
};

/// False when a parameter got another type, shape or layout: its contents mean something else then.
bool same_signature(const ir::function& a, const ir::function& b) {
  return std::equal(a.params.begin(), a.params.end(), b.params.begin(), b.params.end(),
                    [](const ir::param& x, const ir::param& y) { return x.buffer == y.buffer; });
}

trace with_step(trace t, const proposal& what) {
  auto* made = new instruction;
  support::ref<const instruction> owner(made);
  made->kind = what.kind;
  made->args = what.args;
  t.append(owner);
  return t;
}

/// The trace without step `at` and without all that needs its outputs.
trace without(const trace& t, std::size_t at) {
  trace out;
  std::vector<rv> gone;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const instruction& what = *t[i].what;
    std::vector<rv> used;
    for (const argument& a : what.args) collect_rvs(a, used);
    const bool orphan = std::any_of(used.begin(), used.end(), [&](const rv& v) {
      return std::find(gone.begin(), gone.end(), v) != gone.end();
    });
    if (i == at || orphan)
      gone.insert(gone.end(), what.outputs.begin(), what.outputs.end());
    else
      out.append(t[i].what, t[i].choice);
  }
  return out;
}

}  // namespace

trial::trial(program p, std::uint64_t seed, bool by_machine_code)
    : program_(std::move(p)),
      schedule_(program_.function, seed),
      seed_(seed),
      by_machine_code_(by_machine_code) {
  ir::verify(program_.function);
  expected_ = interpreted(program_, program_.function);
}

verdict trial::broken(std::string why) {
  complaint_ = std::move(why);
  return verdict::broken;
}

verdict trial::apply(const proposal& what) {
  const snapshot before(schedule_);
  const tilewright::schedule earlier = schedule_;
  failing_ = with_step(schedule_.trace(), what);
  std::string wrong;
  try {
    schedule_.apply(*what.kind, what.args);
  } catch (const schedule_error&) {
    wrong = before.difference(snapshot(schedule_));
    return wrong.empty() ? verdict::refused : broken(wrong);
  } catch (const argument_error&) {
    wrong = before.difference(snapshot(schedule_));
    return wrong.empty() ? verdict::refused : broken(wrong);
  } catch (const std::exception& e) {
    return broken(std::string("thrown: ") + e.what());
  }
  failing_ = schedule_.trace();
  wrong = check_accepted(what);
  if (!wrong.empty()) return broken(wrong);
  if (changes_results(what)) schedule_ = earlier;
  return verdict::accepted;
}

bool trial::changes_results(const proposal& what) const {
  return !keeps_meaning(*what.kind) || !same_signature(program_.function, schedule_.function());
}

std::string trial::check_accepted(const proposal& what) const {
  try {
    if (changes_results(what)) {
      if (keeps_meaning(*what.kind)) ir::verify(schedule_.function());
      const std::string wrong = check_text();
      return wrong.empty() ? check_trace() : wrong;
    }
    ir::verify(schedule_.function());
    return difference(program_, program_.function, expected_,
                      interpreted(program_, schedule_.function()));
  } catch (const std::exception& e) {
    return e.what();
  }
}

verdict trial::judge() {
  failing_ = schedule_.trace();
  try {
    for (const auto check : {&trial::check_text, &trial::check_trace, &trial::check_code}) {
      const std::string wrong = (this->*check)();
      if (!wrong.empty()) return broken(wrong);
    }
  } catch (const std::exception& e) {
    return broken(e.what());
  }
  return verdict::accepted;
}

std::string trial::check_text() const {
  const std::string text = ir::print(schedule_.function());
  const ir::function again = ir::parse(text);
  if (ir::print(again) != text) return "the program prints differently after parsing";
  if (!ir::equal(again, schedule_.function())) return "the parsed program differs";
  return "";
}

std::string trial::check_trace() const {
  const std::string text = schedule_.trace().print();
  const trace parsed = trace::parse(text);
  if (!(parsed == schedule_.trace())) return "the parsed trace differs";
  tilewright::schedule replayed(program_.function, seed_ + 1);
  parsed.apply_to(replayed);
  if (!ir::equal(replayed.function(), schedule_.function()))
    return "the replayed trace gives another program";
  if (replayed.trace().print() != text) return "the replayed trace prints differently";
  const trace less = schedule_.trace().simplified();
  tilewright::schedule without_dead(program_.function, seed_ + 1);
  less.apply_to(without_dead);
  if (!ir::equal(without_dead.function(), schedule_.function()))
    return "the simplified trace gives another program";
  if (!(less.simplified() == less)) return "a simplified trace can be simplified further";
  return "";
}

std::string trial::check_code() const {
  if (!by_machine_code_ || !backend::compiler_available()) return "";
  static const target::cpu machine = target::host();
  ir::function lowered;
  try {
    lowered = pass::lower(concrete(program_, schedule_.function()), machine);
  } catch (const build_error&) {
    return "";  // loops bound to threads of a GPU
  }
  const std::string wrong =
      difference(program_, program_.function, expected_, compiled(program_, lowered, machine));
  return wrong.empty() ? "" : "machine code: " + wrong;
}

trace trial::shrunk() const {
  // what breaks the law at its last instruction, or as a whole
  const auto breaks = [&](const trace& t) {
    try {
      trial other(program_, seed_, by_machine_code_);
      trace all_but_last;
      for (std::size_t i = 0; i + 1 < t.size(); ++i) all_but_last.append(t[i].what, t[i].choice);
      try {
        t.apply_to(other.schedule_);
      } catch (const schedule_error&) {
        return false;
      } catch (const argument_error&) {
        return false;
      } catch (const std::exception&) {
        return true;
      }
      const instruction& last = *t[t.size() - 1].what;
      return !other.check_accepted({last.kind, last.args}).empty() ||
             other.judge() == verdict::broken;
    } catch (const std::exception&) {
      return false;
    }
  };
  trace best = failing_;
  if (best.empty() || !breaks(best)) return best;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = best.size(); i-- > 0;) {
      if (i >= best.size()) continue;
      const trace less = without(best, i);
      if (less.empty() || !breaks(less)) continue;
      best = less;
      smaller = true;
    }
  }
  return best;
}

std::string trial::report(const std::string& name) const {
  const std::string text = ir::print(program_.function), steps = shrunk().print();
  std::ofstream(name + ".py") << text;
  std::ofstream(name + ".trace") << steps;
  std::string dims;
  for (const auto& [extent, value] : program_.dims)
    dims += " --dim " + extent + "=" + std::to_string(value);
  return complaint_ + "\ntilewright run " + name + ".py --trace " + name + ".trace" + dims +
         "\nprogram:\n" + text + "\ntrace:\n" + steps + "\n";
}

}  // namespace laws
