#include "compiled_nest.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace bench {

compiled_nest::compiled_nest(const std::string& text) {
  const std::filesystem::path base =
      std::filesystem::temp_directory_path() / ("bench_nest_" + std::to_string(getpid()));
  const std::string source = base.string() + ".c";
  std::ofstream(source) << text;
  for (const bool reference : {false, true}) {
    const std::string library = base.string() + (reference ? "_reference.so" : "_plain.so");
    const std::string command = "clang -std=gnu11 -O3 -march=native -ffast-math -shared -fPIC " +
                                std::string(reference ? "-DREFERENCE " : "") + source + " -o " +
                                library + " -lm";
    if (std::system(command.c_str()) == 0)
      if (void* handle = dlopen(library.c_str(), RTLD_NOW)) {
        handles_.push_back(handle);
        (reference ? in_double : plain) = reinterpret_cast<function>(dlsym(handle, "nest"));
      }
    std::filesystem::remove(library);
  }
  std::filesystem::remove(source);
}

// A library left open would be found again where a new file gets its inode.
compiled_nest::~compiled_nest() {
  for (void* handle : handles_) dlclose(handle);
}

}  // namespace bench
