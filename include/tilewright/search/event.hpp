// What tuning tells a host program.
#pragma once

#include <functional>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search {

/// Something that happened to one kernel at one set of extents.
struct event {
  enum class kind {
    progress,  // a candidate was measured: `state`
    miss,      // nothing is stored for a call's arguments: `text` says what comes nearest
    swap,      // calls run other code from now on: `text` says from where
    failure,   // tuning ended with an error, and what ran before goes on: `text`
    remark     // something is missing or less than was asked for, and calls go on: `text`
  };
  kind what = kind::progress;
  std::string kernel;
  std::string text;
  progress state{};
};

/// Called by the thread that tunes; the next measurement waits for it. Must not throw.
using event_handler = std::function<void(const event&)>;

}  // namespace tilewright::search
