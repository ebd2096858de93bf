// How often each kind of instruction was accepted and refused, and the settings of a run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include <laws/law.hpp>
#include <tilewright/schedule/instruction.hpp>

namespace laws {

/// The number in an environment variable, or the usual one.
inline std::uint64_t setting(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

struct counts {
  long accepted = 0, refused = 0;
};

/// Every kind has a count, those that were never tried as well.
class tally {
 public:
  tally() {
    for (const instruction_kind& kind : instruction_kinds()) counts_[kind.name];
  }
  const counts& operator[](const instruction_kind& kind) const { return counts_.at(kind.name); }
  /// Of a call that kept the law.
  void add(const instruction_kind& kind, verdict v) {
    counts& of = counts_[kind.name];
    ++(v == verdict::accepted ? of.accepted : of.refused);
  }
  void print() const {
    std::printf("%-28s %9s %9s\n", "primitive", "accepted", "refused");
    for (const auto& [name, n] : counts_)
      std::printf("%-28.*s %9ld %9ld\n", static_cast<int>(name.size()), name.data(), n.accepted,
                  n.refused);
  }

 private:
  std::map<std::string_view, counts> counts_;
};

}  // namespace laws
