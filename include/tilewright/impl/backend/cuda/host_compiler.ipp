#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tilewright/impl/backend/cuda/host_compiler.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend::cuda::detail {

/// A folder of its own for one compilation, gone with it.
class scratch_folder {
 public:
  scratch_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilewright-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw build_error("no folder can be made in the temporary folder: " +
                        std::string(std::strerror(errno)));
    path_ = pattern;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TILEWRIGHT_INLINE std::string host_compiler() {
  if (const char* chosen = std::getenv("TILEWRIGHT_CXX"); chosen && *chosen) return chosen;
  const char* const path = std::getenv("PATH");
  std::string rest = path ? path : "/usr/bin:/bin";
  std::vector<std::string> folders;
  for (std::size_t colon; !rest.empty(); rest.erase(0, colon == rest.npos ? colon : colon + 1)) {
    colon = rest.find(':');
    folders.push_back(rest.substr(0, colon));
  }
  for (const char* name : {"/c++", "/g++", "/clang++"})
    for (const std::string& folder : folders)
      if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return {};
}

/// Runs a program; what it prints goes to a file.
/// @returns its exit status, -1 when it could not be started or was killed
inline int run_program(std::vector<std::string> words, const std::string& output) {
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int started =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TILEWRIGHT_INLINE void* compile_on_host(const std::string& text) {
  const support::fork_pass inside;
  const std::string compiler = host_compiler();
  if (compiler.empty())
    throw build_error(
        "kernels cannot be emulated: there is no c++, g++ or clang++ on PATH; install one, or set "
        "TILEWRIGHT_CXX to the path of a C++ compiler");
  const scratch_folder folder;
  const std::string source = folder.file("kernels.cpp"), library = folder.file("kernels.so"),
                    messages = folder.file("messages");
  std::ofstream(source) << text;
  // a text is compiled to run once or twice: -O1 takes twice the time of -Og, and its code 0.9 of it. All that is called of
  // the C++ library is what C has, so that nothing else is linked.
  const int status =
      run_program({compiler, "-std=c++17", "-Og", "-shared", "-fPIC", "-w", "-nostdlib",
                   "-ffp-contract=off", source, "-o", library, "-lm", "-lc"},
                  messages);
  if (status != 0) {
    std::ifstream in(messages);
    std::string said{std::istreambuf_iterator<char>(in), {}};
    throw build_error(compiler + " refuses the text of kernels for the emulator (status " +
                      std::to_string(status) + "):\n" + said.substr(0, 4000));
  }
  void* const out = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!out) throw build_error("emulated kernels cannot be loaded: " + std::string(::dlerror()));
  return out;
}

}  // namespace tilewright::backend::cuda::detail
