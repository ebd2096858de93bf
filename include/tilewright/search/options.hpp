// What a user may choose about tuning.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright {

/// What a call does when no schedule is stored for its arguments.
enum class mode {
  now,         // tune, then run
  background,  // run the fallback, tune on another thread, swap when done
  off,         // run the fallback: the nearest stored schedule, else the default one
  miss_error   // throw
};

/// Options of a tuned kernel. The environment variable TILEWRIGHT_TUNE (now, background, off,
/// miss_error) overrides `mode`, TILEWRIGHT_DB the default of `database`, TILEWRIGHT_NUM_THREADS
/// that of `threads`.
struct tuned_options {
  double seconds = 10;  // budget of one tuning session
  int trials = std::numeric_limits<int>::max();
  std::string database = {};  // file; empty: the user's one, ":memory:": none
  tilewright::mode mode = tilewright::mode::now;
  space::design_space space = {};  // empty: the default space of the target
  int threads = 0;                 // of a call; 0: all of the process's pool
  std::uint64_t seed = 42;
  bool verbose = false;  // progress on stderr also when that is no terminal; TILEWRIGHT_LOG=1 too
  std::function<void(const search::progress&)> events = {};
  search::scorer model = {};
};

}  // namespace tilewright
