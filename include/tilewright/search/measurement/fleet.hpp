// Workers on other machines, or several on this one, that time the candidates of a session.
//
// Candidates are compiled here, and the code goes to whichever worker is free, while the next ones
// are compiled; or workers compile, too, where they are many. Results are checked on what this process
// computes where its processor runs the code. For another one (fleet_options::code_for) the arguments go
// to the workers, and calls whose results are checked are made there, too: a worker then needs nothing
// but what runs objects (tools/worker/object_worker.cpp). A worker that is lost costs the candidate that it ran; it is connected again for the
// next one, and given up after a few attempts. Where all are given up, candidates fail and the
// session keeps what it has.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/measurement/measuring.hpp>
#include <tilewright/search/measurement/worker_server.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search {

struct fleet_options {
  double patience = 10;  // s for a connection to be made and greeted
  double grace = 5;      // s beyond the deadline of a measurement, which the worker itself keeps
  int attempts = 3;      // to connect in a row, before a worker is given up
  double pause = 0.2;    // s before the second attempt, twice as long before each further one
  bool build_there = false;                  // workers compile what they time
  double build_deadline = 30;                // s for a program that a worker compiles
  std::optional<target::cpu> code_for = {};  // what candidates are compiled for; none: this machine
};

class fleet {
 public:
  /// Connects to every worker. One that cannot be reached, speaks another version, does not know the
  /// token or cannot run the code is left out, and `problems` says why.
  /// @throws build_error when none is left; the text is that of `problems`
  fleet(const std::vector<worker_address>& workers, std::string token,
        const fleet_options& options = {});
  ~fleet();
  fleet(const fleet&) = delete;
  fleet& operator=(const fleet&) = delete;

  /// The parts `build` and `runner` of a session's options, and `call` for a machine that this one is
  /// not; the fleet outlives the session. One session at a time. A workload for a GPU is refused with
  /// argument_error, and so is one with given values where they stay here, which is where this machine
  /// runs the code.
  void use_in(measuring_options& options);

  /// Workers that have not been given up.
  std::size_t size() const;
  /// What was wrong with workers, one text each, also with those that were lost later.
  std::vector<std::string> problems() const;
  /// What the workers say of their machines, in the order of the list.
  const std::vector<target::cpu>& processors() const noexcept;
  /// Measurements that each worker made, in the order of the list.
  std::vector<std::size_t> measured() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tilewright::search
