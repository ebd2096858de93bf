// Programs that nobody wrote, through every engine.
//
// A program is a seed, two that are spliced, or three, with up to four mutations. Its schedule comes out of
// the default space, or from random steps. The interpreter on the scheduled program (in exact arithmetic),
// machine code, and for every few programs the CUDA emulator have to compute what the interpreter makes of
// the program as it is. A failure is written as NAME.py and NAME.trace, for `tilewright run`.
//
//     test_campaign --programs N --seed FIRST --emulate EACH --seconds MOST
//     test_campaign --seeds-of NETWORK.onnx ...
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <laws/random_programs.hpp>
#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/support/error.hpp>

#include "engines.hpp"
#include "seeds.hpp"
#include "splice.hpp"

using namespace campaign;

namespace {

/// Set by a signal: the campaign ends after the program that runs, with its counts.
volatile std::sig_atomic_t stopped = 0;

using clock_type = std::chrono::steady_clock;

struct counts {
  std::map<std::string, long> all;
  long operator[](const std::string& what) const {
    const auto at = all.find(what);
    return at == all.end() ? 0 : at->second;
  }
};

/// Families are as likely as each other, however many seeds they have.
const seed& any_seed(const std::vector<seed>& seeds, support::random& draw) {
  static const std::map<std::string, std::vector<const seed*>> families = [&] {
    std::map<std::string, std::vector<const seed*>> out;
    for (const seed& s : seeds) out[s.family].push_back(&s);
    return out;
  }();
  auto at = families.begin();
  std::advance(at, laws::pick(draw, static_cast<std::int64_t>(families.size())));
  return *laws::any(draw, at->second);
}

/// A program.
ir::function program_of(const std::vector<seed>& seeds, support::random& draw, counts& n) {
  constexpr double most_stores = 20000;
  const seed& first = any_seed(seeds, draw);
  ir::function f = first.function;
  const std::int64_t more = laws::pick(draw, 3);
  for (std::int64_t k = 0; k < more; ++k) {
    const seed& next = any_seed(seeds, draw);
    const auto both =
        laws::chance(draw, 50) ? spliced(f, next.function, draw) : spliced(next.function, f, draw);
    if (both && search::work_of(*both) <= most_stores) {
      f = *both;
      ++n.all["splices"];
    }
  }
  for (std::int64_t k = laws::pick(draw, 5); k > 0; --k) {
    f = mutated(f, draw);
    ++n.all["mutations"];
  }
  ir::verify(f);
  ++n.all["from " + first.family];
  return f;
}

/// Whether a program cancels so much that its own code without a schedule, which computes the same in the
/// same order, differs from the interpreter by more than the comparison allows: by the last bit of an erf,
/// from which a mutation takes 1.
bool cancels(const ir::function& f, reference& is) {
  try {
    return !wrong_by_machine_code(f, is, f, codegen::usual).empty();
  } catch (const std::exception&) {
    return false;
  }
}

/// One program in so many goes the whole way of a session: all sketches of the space are made, and the code
/// generator works as there. The others take a member that is drawn as one, and quick code.
constexpr std::int64_t in_full = 4;

/// What is wrong with one program; empty: nothing.
std::string run_one(const std::vector<seed>& seeds, std::uint64_t number, std::uint64_t each,
                    counts& n) {
  support::random draw(number);
  const ir::function f = program_of(seeds, draw, n);
  std::optional<reference> is = interpreted(f, number);
  if (!is) {
    ++n.all["not run by the interpreter"];
    return {};
  }
  ++n.all["programs"];
  const auto failing = [&](const std::string& wrong, const schedule& s) {
    if (wrong.empty()) return wrong;
    const std::string name = "campaign_" + std::to_string(number);
    std::ofstream(name + ".py") << ir::print(f);
    std::ofstream(name + ".trace") << s.trace().print();
    return wrong + " (" + name + ".py, .trace)";
  };
  std::string wrong;
  const bool from_space = laws::chance(draw, 60);
  const drawn how = laws::pick(draw, in_full) == 0 ? drawn::from_sketches : drawn::as_a_member;
  const codegen made = laws::pick(draw, in_full) == 0 ? codegen::usual : codegen::quick;
  const std::optional<schedule> s =
      from_space ? scheduled(f, number, how) : std::optional(random_schedule(f, number));
  if (s) {
    ++n.all[!from_space                 ? "schedules of random steps"
            : how == drawn::as_a_member ? "schedules of the space, members"
                                        : "schedules of the space, sketches"];
    bool compared = true;
    wrong = from_space ? wrong_when_interpreted(f, s->function(), number, compared)
                       : wrong_in_floats(f, *is, s->function());
    if (compared) ++n.all[from_space ? "interpreted in exact arithmetic" : "interpreted in floats"];
    // sums of float32 in another order, of which a mutation takes what is left in float64
    if (bool exact = false; !wrong.empty() && !from_space &&
                            wrong_when_interpreted(f, s->function(), number, exact).empty() &&
                            exact) {
      ++n.all["left out, since rounding decides"];
      return {};
    }
    if (!wrong.empty()) return failing(wrong, *s);
    if (backend::compiler_available() && !binds_threads(s->function())) {
      try {
        wrong = wrong_by_machine_code(f, *is, s->function(), made);
      } catch (const std::exception& e) {
        wrong = std::string("machine code: ") + e.what();
      }
      ++n.all[made == codegen::usual ? "by machine code, as in sessions"
                                     : "by machine code, quick"];
      if (!wrong.empty() && cancels(f, *is)) {
        ++n.all["left out, since rounding decides"];
        return {};
      }
      if (!wrong.empty()) return failing(wrong, *s);
    }
  }
  if (each == 0 || number % each != 0 || !backend::cuda::why_no_emulator().empty()) return {};
  const auto kernels = scheduled_for_gpu(f, number);
  if (!kernels) return {};
  try {
    bool compared = true;
    wrong = wrong_when_emulated(f, *is, kernels->function(), number, compared);
    ++n.all[compared ? "emulated" : "not emulated, since of too many threads"];
    if (!wrong.empty() && cancels(f, *is)) {
      ++n.all["left out, since rounding decides"];
      return {};
    }
  } catch (const build_error&) {  // what the GPU has no room for
    ++n.all["not built for the GPU"];
  } catch (const std::exception& e) {
    wrong = std::string("emulator: ") + e.what();
  }
  return failing(wrong, *kernels);
}

}  // namespace

int main(int count, char** words) {
  std::uint64_t programs = 100, first = 1, each = 20, failures = 0;
  double seconds = 1e9;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = words[i], value = words[i + 1];
    if (option == "--seeds-of") {
      std::fputs(seeds_of_networks({words + i + 1, words + count}).c_str(), stdout);
      return 0;
    }
    if (option == "--seconds")
      seconds = std::strtod(value.c_str(), nullptr);
    else
      (option == "--programs"  ? programs
       : option == "--emulate" ? each
                               : first) = std::strtoull(value.c_str(), nullptr, 10);
  }
  const std::vector<seed> seeds = read_seeds("tests");
  counts n;
  for (const seed& s : seeds) ++n.all["seeds, " + s.family];
  const auto start = clock_type::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(clock_type::now() - start).count();
  };
  std::uint64_t tried = 0;
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { stopped = 1; });
  for (; tried < programs && failures < 20 && elapsed() < seconds && !stopped; ++tried) {
    if (tried > 0 && tried % 1000 == 0) {
      std::printf("%llu programs, %llu failures, %.0f s\n", static_cast<unsigned long long>(tried),
                  static_cast<unsigned long long>(failures), elapsed());
      std::fflush(stdout);
    }
    std::string wrong;
    try {
      wrong = run_one(seeds, first + tried, each, n);
    } catch (const std::exception& e) {
      wrong = std::string("thrown: ") + e.what();
    }
    if (wrong.empty()) continue;
    ++failures;
    std::printf("FAILED program %llu: %s\n", static_cast<unsigned long long>(first + tried),
                wrong.c_str());
    std::fflush(stdout);
  }
  for (const auto& [what, number] : n.all) std::printf("%-40s %8ld\n", what.c_str(), number);
  std::printf("%llu programs tried in %.0f s, %llu failures\n",
              static_cast<unsigned long long>(tried), elapsed(),
              static_cast<unsigned long long>(failures));
  const bool enough = n["programs"] * 2 >= static_cast<long>(tried) &&
                      (!backend::compiler_available() || n["by machine code, quick"] > 0);
  if (!enough) std::printf("FAILED: too few programs could be compared\n");
  return failures > 0 || !enough ? 1 : 0;
}
