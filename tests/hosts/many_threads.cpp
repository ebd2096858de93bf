// A program that asks for more threads than any machine has use for.
#include <tilewright/backend/pool.hpp>

#include "host.hpp"

using namespace host;

namespace {

int threads_now() {
  int out = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++out;
  return out;
}

}  // namespace

int main() {
  const errors said;
  tuned_options o = quick(mode::off);
  o.threads = 100000;
  const tuned op{scale, o};
  call(op, 1 << 20, "on many threads");
  expect(threads_now() <= backend::most_threads() + 8, "a bounded number of threads");
  const std::string text = report(op, 1 << 20);
  expect(has(text, "100000 threads are asked for, and " + std::to_string(backend::most_threads()) +
                       " are used"),
         "the report says so: " + text);
  expect(!said.lines().empty() && has(said.lines()[0], "100000 threads are asked for"),
         "a line on stderr says so");
}
