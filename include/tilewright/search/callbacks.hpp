// What a user's own functions may say of every candidate of a session.
#pragma once

#include <functional>

#include <tilewright/config.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/measurement/measurement.hpp>

namespace tilewright::search {

enum class verdict {
  go_on,
  veto,  // this candidate is dropped: it is neither timed further, nor stored, nor learned from
  stop   // the session ends; what was found before counts
};

/// Each may be null. They are called by the thread of the session, a candidate at a time and in this
/// order, and measuring waits for them; not for the default schedule. What they throw ends the
/// session.
struct measure_callbacks {
  std::function<verdict(const candidate&)> before_build = {};
  std::function<verdict(const candidate&, const built&)> before_run = {};
  std::function<verdict(const candidate&, const built&, const measurement&)> after_run = {};
};

}  // namespace tilewright::search
