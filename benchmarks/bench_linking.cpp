// What putting code into memory costs a candidate: by ORC, which links what is compiled in this process, and
// by the library's own loader, which maps what is stored.
//
//     bench_linking [KERNELS]     memory over as many kernels; 100000
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/linker.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;

namespace {

struct program {
  const char* name;
  const char* script;
};

constexpr program programs[] = {
    {"product 128", R"(
@T.prim_func
def main(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
    for i, j, k in T.grid(128, 128, 128):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"},
    {"scaled row", R"(
@T.prim_func
def main(X: T.Buffer((4096,), "float32"), Y: T.Buffer((4096,), "float32")):
    for i in range(4096):
        with T.block("Y"):
            vi = T.axis.spatial(4096, i)
            Y[vi] = X[vi] * T.float32(2)
)"},
    {"functions, C library", R"(
@T.prim_func
def main(X: T.Buffer((64, 100), "float32"), Y: T.Buffer((64, 100), "float32")):
    for i, j in T.grid(64, 100):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.exp(X[vi, vj]) + T.tanh(X[vi, vj]) * T.asin(X[vi, vj])
)"},
};

/// Of this thread, which no other program takes time from. // us
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

template <class Work>
double microseconds(Work work) {
  const double start = now();
  work();
  return now() - start;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

long resident_kib() {
  std::ifstream file("/proc/self/statm");
  long pages = 0, set = 0;
  file >> pages >> set;
  return set * 4;
}

void compare(const program& p) {
  const ir::function f = ir::parse(p.script);
  const target::cpu& cpu = target::host();
  const schedule s = search::default_schedule(f, space::default_cpu(), {cpu, 1}, 42);
  std::vector<double> making, linking, loading;
  for (int i = 0; i < 60; ++i) {
    backend::artifact a;
    making.push_back(
        microseconds([&] { a = backend::compile(pass::lower(s.function(), cpu), cpu); }));
    linking.push_back(microseconds([&] { backend::link(a); }));
    loading.push_back(microseconds([&] { backend::load(a); }));
  }
  const double made = median(making), linked = median(linking), loaded = median(loading);
  std::printf("%-22s %10.0f %10.1f %10.1f %12.2f\n", p.name, made, linked, loaded,
              100 * (linked - loaded) / (made + loaded));
}

}  // namespace

int main(int count, char** words) {
  const int kernels = count > 1 ? std::atoi(words[1]) : 100000;
  std::printf("us of processor time, medians of 60\n%-22s %10s %10s %10s %12s\n", "", "compile",
              "ORC", "loader", "slower, %");
  for (const program& p : programs) compare(p);
  const ir::function f = ir::parse(programs[1].script);
  const backend::artifact a = backend::compile(pass::lower(f, target::host()), target::host());
  for (int i = 0; i < 100; ++i) backend::link(a);
  const long before = resident_kib();
  for (int i = 1; i <= kernels; ++i) {
    backend::link(a);
    if (i % std::max(kernels / 5, 1) == 0)
      std::printf("resident after %d kernels: %+ld KiB of %ld\n", i, resident_kib() - before,
                  before);
  }
}
