#include "mpi_ranks.hpp"

#include <dlfcn.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

#include "command.hpp"

namespace tool {
namespace {

using namespace tilewright;

/// Ranks that a launcher has started, by the variables that it sets; 1 where there is none.
int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* value = std::getenv(name))
      if (const auto n = support::read_number<int>(value)) return *n;
  return 1;
}

/// A line of a fixed size, which all ranks exchange: a host, an address, why there is none.
using mpi_line = std::array<char, 256>;

mpi_line line_of(const std::string& text) {
  mpi_line out{};
  std::memcpy(out.data(), text.data(), std::min(text.size(), out.size() - 1));
  return out;
}
std::string text_of(const mpi_line& line) { return {line.data(), ::strnlen(line.data(), 255)}; }

/// The few functions of MPI that are needed. Handles are pointers in Open MPI and numbers in MPICH's
/// binary interface; both fit where a pointer does.
class mpi_library {
 public:
  mpi_library() {
    for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpi.so"})
      if ((library_ = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL))) break;
    if (!library_)
      throw build_error(
          "a launcher started several ranks, and no library of MPI is found to introduce them; "
          "install one, as libopenmpi3, or name workers with --worker-at");
    // MPICH's handles, from its mpi.h
    constexpr std::uintptr_t mpich_world = 0x44000000, mpich_byte = 0x4c00010d;
    world_ = ::dlsym(library_, "ompi_mpi_comm_world");
    byte_ = ::dlsym(library_, "ompi_mpi_byte");
    if (!world_ || !byte_) {
      world_ = reinterpret_cast<void*>(mpich_world);
      byte_ = reinterpret_cast<void*>(mpich_byte);
    }
    check(function<int(int*, char***)>("MPI_Init")(nullptr, nullptr), "MPI_Init");
    check(function<int(void*, int*)>("MPI_Comm_rank")(world_, &rank), "MPI_Comm_rank");
    check(function<int(void*, int*)>("MPI_Comm_size")(world_, &size), "MPI_Comm_size");
  }
  /// Afterwards nothing of MPI is used any more.
  void end() { check(function<int()>("MPI_Finalize")(), "MPI_Finalize"); }

  /// The first rank's line, for all.
  mpi_line from_first(mpi_line line) {
    using broadcast = int(void*, int, void*, int, void*);
    check(function<broadcast>("MPI_Bcast")(line.data(), static_cast<int>(line.size()), byte_, 0,
                                           world_),
          "MPI_Bcast");
    return line;
  }
  /// The lines of all, for the first rank.
  std::vector<mpi_line> at_first(const mpi_line& line) {
    using gather = int(const void*, int, void*, void*, int, void*, int, void*);
    std::vector<mpi_line> out(static_cast<std::size_t>(size));
    const int bytes = static_cast<int>(line.size());
    check(function<gather>("MPI_Gather")(line.data(), bytes, byte_, out.data(), bytes, byte_, 0,
                                         world_),
          "MPI_Gather");
    return out;
  }

  int rank = 0, size = 1;

 private:
  template <class F>
  F* function(const char* name) const {
    void* const found = ::dlsym(library_, name);
    if (!found) throw build_error(std::string("the library of MPI has no ") + name);
    return reinterpret_cast<F*>(found);
  }
  static void check(int failed, const char* who) {
    if (failed != 0)
      throw build_error(std::string(who) + " failed with code " + std::to_string(failed));
  }

  void* library_ = nullptr;
  void *world_ = nullptr, *byte_ = nullptr;
};

std::string own_host() {
  mpi_line name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? text_of(name) : std::string();
}

/// Nobody who is not told it guesses it.
std::string fresh_token() {
  constexpr char digits[] = "0123456789abcdef";
  std::array<unsigned char, 24> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw build_error("there are no random bytes for a token");
  std::string out;
  for (const unsigned char b : bytes) {
    out += digits[b / 16];
    out += digits[b % 16];
  }
  return out;
}

}  // namespace

mpi_ranks join_mpi_ranks() {
  mpi_ranks out;
  if (launched_ranks() <= 1) return out;
  mpi_library mpi;
  out.rank = mpi.rank;
  out.size = mpi.size;
  out.token = text_of(mpi.from_first(line_of(mpi.rank == 0 ? fresh_token() : std::string())));
  const std::string host = own_host(), first = text_of(mpi.from_first(line_of(host)));
  std::string where;  // "at HOST:PORT", or why this rank does not listen
  if (mpi.rank > 0) {
    try {
      // on the first rank's own machine nobody else needs to reach it
      const std::string listens = host == first ? "127.0.0.1" : host;
      out.server = std::make_shared<search::worker_server>(search::worker_address{listens, 0, {}},
                                                           out.token);
      where = "at " + out.server->address().text();
    } catch (const error& e) {
      where = e.what();
    }
  }
  const std::vector<mpi_line> all = mpi.at_first(line_of(where));
  mpi.end();
  if (out.rank > 0) return out;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::string text = text_of(all[i]);
    if (text.substr(0, 3) == "at ")
      out.workers.push_back(search::worker_address::parse(text.substr(3)));
    else
      complain("rank " + std::to_string(i) + ": " + text);
  }
  return out;
}

int serve_rank(const mpi_ranks& ranks) {
  if (!ranks.server) return failed;
  // a client that hangs up is the first rank at its end; one that dies is code that killed its
  // process, and the first rank comes back
  while (ranks.server->serve_one() != search::worker_server::hung_up) {
  }
  return fine;
}

}  // namespace tool
