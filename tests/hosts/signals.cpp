// A program with a timer of 1 kHz, as profilers have: its handler runs on its own threads alone, and
// calls that are interrupted go on.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>

#include "host.hpp"

using namespace host;

namespace {

pthread_t main_thread;
std::atomic<int> here{0}, elsewhere{0};
void tick(int) { ++(pthread_equal(pthread_self(), main_thread) ? here : elsewhere); }

}  // namespace

int main() {
  main_thread = pthread_self();
  struct sigaction a {};
  a.sa_handler = tick;  // without SA_RESTART: system calls fail with EINTR
  sigaction(SIGALRM, &a, nullptr);
  const itimerval often{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  const folder f;
  tuned_options o = quick();
  o.threads = 2;
  o.trials = 12;
  o.database = f.path + "/t.db";
  {
    const tuned op{scale, o};
    for (std::size_t n = 1; n < 5; ++n) call(op, n << 12, "between signals");
  }
  const auto db = search::database::shared(o.database);
  expect(db->status().empty(), "the database works: " + db->status());
  expect(here > 0, "signals came");
  expect(elsewhere == 0, "no thread of the library ran the handler");
}
