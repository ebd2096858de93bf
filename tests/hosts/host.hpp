// What the hosts share: a kernel, its result, and a way to end.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/tilewright.hpp>

namespace host {

using namespace tw;

/// Ends the program where something promised does not hold.
inline void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what.c_str());
  std::fflush(stdout);
  _exit(1);
}

inline constexpr auto scale = kernel<"scale">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
  using axes::i;
  return Y(i) = X(i) * 2.0f + 1.0f;
});

inline constexpr auto product = kernel<"product">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

/// Options of a short session that keeps nothing.
inline tuned_options quick(mode m = mode::now) {
  tuned_options o;
  o.seconds = 0.5;
  o.trials = 4;
  o.database = ":memory:";
  o.mode = m;
  return o;
}

/// Calls an op of `scale` with `n` elements and looks at what it gives.
template <class Op>
void call(const Op& op, std::size_t n, const std::string& when) {
  std::vector<float> x(n, 3.0f), y(n, 0.0f);
  op(x, y);
  for (const float v : y) expect(v == 7.0f, "a wrong result " + when);
}

template <class Op>
std::string report(const Op& op, std::size_t n) {
  std::vector<float> x(n, 3.0f), y(n, 0.0f);
  return op.report(x, y);
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder that ends with this object.
struct folder {
  std::string path;
  folder() {
    char name[] = "/tmp/tilewright-host-XXXXXX";
    path = mkdtemp(name);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What is written to stderr while one lives.
class errors {
 public:
  errors() : before_(dup(2)) {
    const int to = open(path().c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    dup2(to, 2);
    close(to);
  }
  ~errors() {
    dup2(before_, 2);
    close(before_);
  }
  std::vector<std::string> lines() const {
    std::ifstream in(path());
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }

 private:
  std::string path() const { return in_.path + "/stderr"; }
  folder in_;
  int before_;
};

}  // namespace host
