// A program that does not know the library loads a plugin with ops in it, closes it while they tune in
// the background, goes on, and loads it again.
//
//     host_plugin PLUGIN [unloads]       // the second word: nothing of it may be mapped then
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what.c_str());
  std::fflush(stdout);
  _exit(1);
}

int threads_now() {
  int out = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++out;
  return out;
}

/// True when a part of the file is in this process's memory.
bool is_mapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(path) != std::string::npos) return true;
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  const bool unloads = count > 2;
  char folder[] = "/tmp/tilewright-host-XXXXXX";
  expect(mkdtemp(folder) != nullptr, "a folder");
  const std::string database = std::string(folder) + "/t.db";
  for (int mode = 0; mode < 3; ++mode)
    for (int again = 0; again < 2; ++again) {
      void* plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
      expect(plugin != nullptr, "the plugin loads: " + std::string(plugin ? "" : dlerror()));
      const auto run = reinterpret_cast<int (*)(int, const char*)>(dlsym(plugin, "run_plugin"));
      const auto calls = [&] {
        expect(run && run(mode, database.c_str()) == 7, "the plugin runs");
      };
      if (again)  // a thread that ends before the plugin goes, and one that does not
        calls();
      else
        std::thread(calls).join();
      expect(is_mapped(arguments[1]), "a loaded plugin is found");
      expect(dlclose(plugin) == 0, "the plugin closes");
      // a shared object that has no unique symbols is gone now, and nothing of it may go on
      void* still = dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD);
      if (still)
        dlclose(still);
      else
        expect(threads_now() == 1, "no thread of the plugin is left");
      std::printf("closed, %s\n", still ? "and stays loaded" : "and unloaded");
      expect(!unloads || (!still && !is_mapped(arguments[1])), "nothing of the plugin is left");
      struct sigaction fault {};
      sigaction(SIGSEGV, nullptr, &fault);
      expect(fault.sa_handler == SIG_DFL, "the host's signals are as before");
      std::thread([] {}).join();  // with what threads run when they end
    }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}
