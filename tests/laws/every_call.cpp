// Every call on small programs, under the law of primitives.
//
// Random programs seldom hold what a wrong answer needs; the programs of this law are written for
// it, and every call that somebody might make is made on each of them. TILEWRIGHT_LAWS_CALLS sets
// how many calls follow each other (1), TILEWRIGHT_LAWS_SHARE how many percent of them are made (100,
// which takes hours for pairs), TILEWRIGHT_LAWS_SEED which ones, TILEWRIGHT_LAWS_CODE whether
// machine code is asked, too, TILEWRIGHT_LAWS_FILE the only program, TILEWRIGHT_LAWS_FAILURES how
// many failures end the run.
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "calls.hpp"
#include "law.hpp"
#include "program_files.hpp"
#include "tally.hpp"

using namespace tilewright;

namespace {

struct run {
  laws::tally tally;
  std::uint64_t failures = 0, most = laws::setting("TILEWRIGHT_LAWS_FAILURES", 5);
  std::int64_t share = static_cast<std::int64_t>(laws::setting("TILEWRIGHT_LAWS_SHARE", 100));
  support::random draw{laws::setting("TILEWRIGHT_LAWS_SEED", 1)};

  /// Calls on the schedule of `start`, and `more` further ones on what each of them makes.
  void calls(const std::string& name, laws::trial start, std::uint64_t more) {
    long number = -1;
    for (const laws::proposal& call : laws::every_call(start.schedule())) {
      if (failures >= most) return;
      ++number;
      if (!laws::chance(draw, share)) continue;
      laws::trial next = start;
      const ir::stmt before = next.schedule().function().body;
      laws::verdict v = next.apply(call);
      const bool accepted = v == laws::verdict::accepted;
      if (accepted) v = next.judge();
      const std::string place = name + "_" + std::to_string(number);
      if (v == laws::verdict::broken) {
        ++failures;
        FAIL_CHECK(call.kind->name << ": " << next.report("broken_law_" + place));
        continue;
      }
      tally.add(*call.kind, accepted ? laws::verdict::accepted : laws::verdict::refused);
      if (more > 0 && accepted && !(next.schedule().function().body == before))
        calls(place, std::move(next), more - 1);
    }
  }
};

/// For kinds that take any block and any loop of any function.
bool never_refused(const instruction_kind& kind) {
  static const std::set<std::string_view> names{
      "work_on",       "get_loops",         "get_child_blocks", "get_producers",
      "get_consumers", "get_output_blocks", "add_unit_loop",    "sample_compute_location",
      "unroll",        "enter_postproc"};
  return names.count(kind.name) != 0;
}

}  // namespace

TEST_CASE("every call keeps the meaning of small programs") {
  const char* only = std::getenv("TILEWRIGHT_LAWS_FILE");
  const std::uint64_t length = laws::setting("TILEWRIGHT_LAWS_CALLS", 1);
  const bool by_code = laws::setting("TILEWRIGHT_LAWS_CODE", 0) != 0;
  run all;
  for (const laws::program_file& p : laws::read_programs("tests/laws/programs")) {
    if (only && p.name != only) continue;
    INFO(p.name);
    all.calls(p.name, laws::trial(p.content, 1, by_code), length - 1);
  }
  all.tally.print();
  if (only || all.share < 100) return;
  for (const instruction_kind& kind : instruction_kinds()) {
    INFO(kind.name);
    CHECK(all.tally[kind].accepted >= 3);
    if (!never_refused(kind)) CHECK(all.tally[kind].refused >= 3);
  }
}
