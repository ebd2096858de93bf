// What a session writes into the database.
#pragma once

#include <cstddef>
#include <string>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/impl/support/stage_clock.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search::detail {

/// The trace of a candidate without what nothing uses.
inline std::string text_of(const candidate& c) { return c.scheduled.trace().simplified().print(); }

/// Records of one workload, written as they are made.
class session_records {
 public:
  /// Workload, options and database outlive this.
  session_records(const workload& w, const session_options& o, database& db)
      : w_(w), o_(o), db_(db) {}

  provenance from;  // of what is measured

  record of(const std::string& trace, const measurement& m) const {
    return {w_.key,    w_.family, w_.extents, trace_by_position(trace, w_.function),
            m.seconds, from,      false};
  }
  void keep(const std::string& trace, const measurement& m) {
    const support::stage at("database");
    db_.add(of(trace, m));
  }
  /// What fails in a builder or a runner of the user's own may go well the next time: it is only
  /// counted.
  void keep_failed(const candidate& c, const measurement& m) {
    const support::stage at("database");
    constexpr std::size_t most_text = 1000;
    const std::string detail = m.detail.substr(0, most_text);
    if (o_.measuring.build || o_.measuring.runner)
      db_.add_failures(w_.key, {name(m.failed), 1, detail});
    else
      db_.add_failed({w_.key, trace_by_position(text_of(c), w_.function), name(m.failed), detail,
                      made_on(w_.machine)});
  }
  void keep_refused(int traces, const std::string& last_refusal) {
    db_.add_failures(w_.key, {name(failure::schedule), traces, last_refusal});
  }
  /// The winner, timed by `m`, with its code.
  void choose(const tuning_result& won, const measurement& m) {
    const support::stage at("database");
    record best = of(won.trace, m);
    best.chosen = true;
    best.checked = won.checked;
    // in this order: who finds the record finds its code
    db_.add_code(w_.key, best.trace, from, backend::serialize(won.code));
    db_.add(best);
  }

 private:
  const workload& w_;
  const session_options& o_;
  database& db_;
};

}  // namespace tilewright::search::detail
