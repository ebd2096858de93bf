// A shared object with ops inside, as a program loads and closes it.
#include <thread>

#include "../host.hpp"

using namespace host;

extern "C" int run_plugin(int mode_number, const char* database) {
  tuned_options o = quick(static_cast<mode>(mode_number));
  o.threads = 2;
  o.database = database;
  static const tuned kept{scale, quick()};  // ends when the shared object does
  call(kept, 1 << 17, "of a static op of the plugin");
  const tuned op{scale, o};
  for (const std::size_t n : {100u, 1u << 18}) call(op, n, "in a plugin");
  std::thread([&] { call(op, 200, "on a thread of the plugin"); }).join();
  return 7;
}
