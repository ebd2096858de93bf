// A process that ends while another thread is in the first call of an op: the thread is told to stop and
// is waited for, so that it meets nothing that has ended, neither of the op nor of the code generator.
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "host.hpp"

using namespace host;

extern char** environ;

namespace {

/// Made before all others, so that it ends last: threads that went on would run while it does.
struct last_to_end {
  ~last_to_end() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
} last;

/// When the process ends.
enum class moment { miss, measured };

using op_type = tuned<std::remove_const_t<decltype(product)>>;

/// Ends while a thread tunes `op` in its first call.
int end_while_tuning(op_type& op, const std::atomic<bool>& reached, bool tunes) {
  std::thread([&op] {
    std::vector<float> a(96 * 96, 1.0f), b(96 * 96, 2.0f), c(96 * 96);
    const auto square = [](std::vector<float>& of) { return view(of.data(), {96, 96}); };
    op(square(a), square(b), square(c));
  }).detach();
  while (tunes && !reached) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return 0;
}

int end_process(const std::string& owner, moment when) {
  static std::atomic<bool> reached{false};
  tuned_options o;
  o.seconds = 30;
  o.database = ":memory:";
  o.events = [when](const search::event& e) {
    const bool here = when == moment::miss ? e.what == search::event::kind::miss
                                           : e.what == search::event::kind::progress;
    if (here) reached = true;
  };
  const bool tunes = when == moment::miss || backend::compiler_available();
  if (owner == "static") {
    static op_type op{product, o};
    return end_while_tuning(op, reached, tunes);
  }
  static auto* kept = new op_type{product, o};  // nobody ends it
  return end_while_tuning(*kept, reached, tunes);
}

/// The exit status of this program, run with `owner` and `when`.
int status_of(const char* program, const char* owner, const char* when) {
  char* const arguments[] = {const_cast<char*>(program), const_cast<char*>(owner),
                             const_cast<char*>(when), nullptr};
  pid_t other = 0;
  expect(posix_spawn(&other, program, nullptr, nullptr, arguments, environ) == 0,
         "the program starts itself");
  int status = 0;
  expect(waitpid(other, &status, 0) == other, "the program ends");
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3)
    return end_process(arguments[1],
                       arguments[2] == std::string("miss") ? moment::miss : moment::measured);
  for (const char* owner : {"static", "kept"})
    for (const char* when : {"miss", "measured"}) {
      const int status = status_of(arguments[0], owner, when);
      expect(status == 0, std::string("a process with a ") + owner + " op that ends " + when +
                              " ends with " + std::to_string(status));
    }
}
