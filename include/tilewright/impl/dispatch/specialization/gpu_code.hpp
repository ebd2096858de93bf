// Code of a kernel for a GPU without a session: stored, or made by the schedule that was chosen, or by the first
// one that can be used where nothing was measured.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/compile.hpp>
#include <tilewright/impl/search/session/unmeasured_schedules.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::dispatch::detail {

/// Looks for code, and stores what it makes.
/// @tparam Use gets an artifact, and throws a tilewright::error where it cannot use it
template <class Use>
class gpu_code {
 public:
  gpu_code(const search::workload& w, search::database& db, Use use)
      : w_(w), db_(db), use_(std::move(use)) {}

  /// By the schedule that the database has as chosen. False where there is none, or it cannot be used any more.
  bool take_chosen() {
    const auto hit = db_.chosen(w_.key);
    measured = hit && take(hit->trace, "measured " + hit->from.date + " on " + hit->from.cpu);
    return measured;
  }

  /// By the default schedule, or the first sketch of the space that can be used.
  /// @param where the code shall run, for the message
  /// @throws build_error when there is none
  void take_unmeasured(std::uint64_t seed, const std::string& where) {
    std::string from = "the default schedule", refused;
    const bool found = search::detail::take_unmeasured(w_, seed, [&](const schedule& s) {
      if (take(search::by_position(s.trace(), w_.function).print(), from)) return true;
      if (refused.empty()) refused = why_;
      from = "a schedule with fewer loops written out, since the default one cannot be used: " +
             refused;
      return false;
    });
    if (!found)
      throw build_error("the default schedule of " + w_.function.name + " cannot be used on " +
                        where + ": " + refused);
  }

  std::string trace;      // of what was taken
  std::string origin;     // "stored code, measured ...", "the default schedule", ...
  bool measured = false;  // measuring chose the schedule

 private:
  /// The schedule with its stored code, or with code that is stored from now on. False, with a reason in `why_`,
  /// where it cannot be used.
  bool take(const std::string& text, const std::string& from) {
    try {
      if (const auto bytes = db_.code(w_.key, text, backend::lowering_revision)) {
        use_(backend::deserialize(bytes->data(), bytes->size()));
        return done(text, "stored code, " + from);
      }
    } catch (const build_error&) {  // made by another version: it is made anew
    }
    try {
      const auto c = search::replay(tilewright::trace::parse(text), w_.function, 1, &why_);
      if (!c) return false;
      const search::built b = search::build(c->scheduled.function(), w_.machine);
      if (!b) {
        why_ = b.error;
        return false;
      }
      use_(b.artifact);
      db_.add_code(w_.key, text, search::made_on(w_.machine), backend::serialize(b.artifact));
      return done(text, from);
    } catch (const error& e) {
      why_ = e.what();
      return false;
    }
  }

  bool done(const std::string& text, const std::string& from) {
    trace = text;
    origin = from;
    return true;
  }

  const search::workload& w_;
  search::database& db_;
  Use use_;
  std::string why_;
};

}  // namespace tilewright::dispatch::detail
