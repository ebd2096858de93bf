#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "kernel.hpp"

outcome use_in_other();
outcome use_in_library();
#ifdef WITH_NETWORK
bool use_network();
#else
bool use_network() { return true; }
#endif

int main() {
  char folder[] = "/tmp/tilewright-odr-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  setenv("TILEWRIGHT_DB", (std::string(folder) + "/t.db").c_str(), 1);
  const outcome here = use_kernel(), there = use_in_other(), library = use_in_library();
  std::filesystem::remove_all(folder);
  const auto stored = [](const outcome& o) {
    return o.right && o.report.find("stored code") != std::string::npos;
  };
  const bool good = here.right && here.report.find("tuned by this process") != std::string::npos &&
                    stored(there) && stored(library) && use_network();
  if (!good)
    std::printf("%s\n%s\n%s\n", here.report.c_str(), there.report.c_str(), library.report.c_str());
  return good ? 0 : 1;
}
