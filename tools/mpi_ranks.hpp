// The ranks that mpirun or srun started: the first one searches, the others compile and time.
//
// MPI introduces the ranks to each other and is ended again before anything is tuned; from then on
// they are a fleet (search/measurement/fleet.hpp), so that a rank that dies costs the candidate that
// it ran. The library of MPI is opened when a launcher's variables say that there are ranks; Open MPI
// and libraries of MPICH's binary interface are known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tilewright/search/measurement/worker_server.hpp>

namespace tool {

struct mpi_ranks {
  int rank = 0, size = 1;
  std::string token;  // that all of them share
  /// Of the first rank: where the others listen.
  std::vector<tilewright::search::worker_address> workers = {};
  /// Of the others: what listens.
  std::shared_ptr<tilewright::search::worker_server> server = {};
};

/// What this process is among the ranks of a launcher; alone where none started it.
/// @throws tilewright::build_error where there are ranks and no library of MPI, or where it fails
mpi_ranks join_mpi_ranks();

/// The work of a rank that is not the first one: serves that one until it hangs up.
/// @returns an exit code
int serve_rank(const mpi_ranks& ranks);

}  // namespace tool
