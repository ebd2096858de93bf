// Runs code in another process, `tilewright worker`, on memory that both share.
//
// What happens to that process (it dies, it hangs, it answers nonsense) is a failure of the code
// that it ran; it is ended and started again for the next one.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/config.hpp>
#include <tilewright/search/check/comparison_kernel.hpp>
#include <tilewright/search/measurement/argument_memory.hpp>
#include <tilewright/search/measurement/measurement.hpp>

namespace tilewright::search {

/// The program that serves as worker: TILEWRIGHT_WORKER, else `tilewright` beside this program, else
/// the one on PATH; empty when there is none.
std::string find_worker();

/// What a worker's code runs on. For a GPU it takes hold of the first device, with its arguments, while nobody
/// asks it for anything yet; what goes wrong then is said when there is code to run.
enum class worker_code : std::uint8_t { of_cpu, of_gpu };

/// A worker process and the connection to it. Not thread-safe. The process ends with this object,
/// and with the process that made it. A forked child cannot use its parent's worker.
class worker {
 public:
  /// Starts it. The memory was made to be shared, is sealed, and outlives the worker.
  /// @param threads of a call
  /// @throws build_error when no program is found, or when it is none or one of another version
  worker(const argument_memory& arguments, int threads, worker_code code = worker_code::of_cpu);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// As the members of `timer`; outputs are those that `reset` gave.
  /// @throws build_error when a worker that was ended cannot be started again
  measurement measure(const backend::artifact& code, const measure_options& options);
  measurement run(const backend::artifact& code, double deadline);

  /// As those of `device_timer`, of code for a GPU. A process that is started again expects nothing.
  /// @returns why outputs are not compared there; empty: they are
  /// @{
  std::string expect(const std::vector<output_comparison>& all,
                     const std::vector<argument_piece>& shown);
  measurement run_compared(const backend::artifact& code, double deadline, bool& as_expected);
  /// @}

  /// From now on a call ends when `cancelled` is true, and the process with it; it is looked at every
  /// 10 ms. Null: never.
  void watch(const std::atomic<bool>* cancelled);

  /// Of the process; 0 while none runs.
  pid_t pid() const noexcept;
  /// How often it had to be started again.
  int restarts() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The worker's side: serves requests until the other side hangs up.
/// @param connection a connected stream socket
/// @param memory what the other side shares
/// @returns false when the other side sent what is no request
bool serve_worker(int connection, int memory);

/// Descriptors that a worker is started with.
inline constexpr int worker_connection = 3, worker_memory = 4;

}  // namespace tilewright::search
