// Random steps on a schedule, for every kind of the instruction table.
//
// Arguments follow from the types of a kind's parameters. A parameter whose name says more than its
// type (a scope, an index of a buffer, a permutation) has a line in a table of hints, and a kind that
// few blocks suit one in a table of what a block must be (focus.cpp) and one in a table of themes; a
// kind that is new needs none to be tried, only to be accepted more often.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <laws/random_programs.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace laws {

/// An instruction that is to be applied; its random variables are those of a schedule.
struct proposal {
  const instruction_kind* kind = nullptr;
  std::vector<argument> args;
};

/// Draws arguments for a kind. Queries that find blocks and loops are applied to `s`.
proposal propose(schedule& s, const instruction_kind& kind, support::random& draw);

/// Kinds that may be drawn, those of loops and movement more often than others.
const instruction_kind& random_kind(support::random& draw);

/// False for kinds whose contract leaves the meaning of the program to their caller.
bool keeps_meaning(const instruction_kind& kind);

/// The theme of programs in which a kind often finds what it needs; empty: any program will do.
std::string_view theme_of(const instruction_kind& kind);

/// Applies one random step that keeps the meaning; what it refuses is dropped.
void random_step(schedule& s, support::random& draw);

}  // namespace laws
