// Programs that take the place of a worker, for the tests of what asks one.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include <tilewright/backend/compile.hpp>
#include <tilewright/search/measurement/worker.hpp>

#include "search/faulty_code.hpp"

namespace fake_worker {

/// The program of the command-line tool is built beside the tests.
inline bool worker_there() {
  return faulty::handlers_usable && !tilewright::search::find_worker().empty();
}

struct environment {
  std::string name;
  environment(const char* n, const std::string& value) : name(n) { setenv(n, value.c_str(), 1); }
  ~environment() { unsetenv(name.c_str()); }
};

inline std::string words(std::initializer_list<std::uint64_t> values) {
  std::string out;
  for (const std::uint64_t v : values) out.append(reinterpret_cast<const char*>(&v), sizeof v);
  return out;
}

/// For printf.
inline std::string octal(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    char text[8];
    std::snprintf(text, sizeof text, "\\%03o",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += text;
  }
  return out;
}

/// A program of one line of shell.
struct script {
  std::string path;
  explicit script(const std::string& line) {
    char name[] = "/tmp/tilewright-worker-XXXXXX";
    ::close(mkstemp(name));
    path = name;
    std::ofstream(path) << "#!/bin/sh\n" << line << "\n";
    chmod(path.c_str(), 0700);
  }
  ~script() { std::filesystem::remove(path); }
};

/// What a worker says first.
inline std::string worker_greeting() {
  return "TIWWORK1" +
         words({16, 7, static_cast<std::uint64_t>(tilewright::backend::lowering_revision)});
}

}  // namespace fake_worker
