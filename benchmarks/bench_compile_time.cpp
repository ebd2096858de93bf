// What including and using the library costs the user's compiler.
//
// Each benchmark runs the compiler once an iteration on a generated program. `parse` only checks
// syntax, `build` compiles with -O2. Kernels and spaces are added in numbers, so that the cost of
// one more is the slope, reported as the counter `ms_each`. `kernel` and `expression` are about the
// three compilers of reference, those that are installed: `kernel` builds a file with one kernel at
// three levels of optimization, and `ms_more` of `expression` is what the program costs beside the
// bare include. All times are the compiler's processor time, since other work of the machine makes
// its runs longer by the clock.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "problems/compile_programs.hpp"

namespace {

const std::string scratch = std::string(BENCH_SCRATCH) + "/unit.cpp";
const std::string umbrella = "#include <tilewright/tilewright.hpp>\n";

std::string kernels(int count) {
  std::string out;
  for (int n = 0; n < count; ++n) {
    const std::string id = std::to_string(n);
    out += "constexpr auto kernel" + id + " = tw::kernel<\"kernel" + id +
           "\">([](tw::in<\"A\", float, \"M\", \"K\"> A, tw::in<\"B\", float, \"K\", \"N\"> B, "
           "tw::out<\"C\", float, \"M\", \"N\"> C) {\n"
           "  using tw::axes::i, tw::axes::j, tw::axes::k;\n"
           "  return C(i, j) = max(tw::sum<k>(A(i, k) * B(k, j)) * " +
           id +
           ".5f, 0.0f); });\n"
           "void call" +
           id +
           "(const float* a, const float* b, float* c) {\n"
           "  tw::tuned op{kernel" +
           id +
           "};\n"
           "  op(tw::view(a, {8, 8}), tw::view(b, {8, 8}), tw::view(c, {8, 8}));\n}\n";
  }
  return out;
}

std::string spaces(int count) {
  std::string out;
  for (int n = 0; n < count; ++n) {
    const std::string id = std::to_string(n);
    out += "void space" + id +
           "(tw::schedule& s) {\n"
           "  const auto [i, j, k] = s.loops<3>(s.get_block(\"C\"));\n"
           "  const auto [i0, i1] = s.split(i, {tw::infer, s.sample_categorical({4, 8, " +
           id +
           "}, {1, 1, 1})});\n  s.reorder(i0, k, i1);\n  s.vectorize(j);\n}\n"
           "tw::space::design_space held" +
           id + "{space" + id + "};\n";
  }
  return out;
}

/// Processor time of the programs that this one has run and waited for. // s
double children_seconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Processor time of one run of the compiler, in seconds; negative when it fails.
double compile(const std::string& body, const std::string& flags,
               const std::string& include = umbrella,
               const std::string& compiler = BENCH_COMPILER) {
  std::ofstream(scratch) << include << body << "int main() {}\n";
  const std::string command = compiler + " -std=c++20 -I" BENCH_INCLUDE " " + flags + " " +
                              scratch + " -o " + scratch + ".o > " + scratch + ".log 2>&1";
  const double before = children_seconds();
  const int status = std::system(command.c_str());
  return status == 0 ? children_seconds() - before : -1;
}

void measure(benchmark::State& state, const std::string& body, const std::string& flags,
             const std::string& compiler = BENCH_COMPILER) {
  for (auto _ : state) {
    const double seconds = compile(body, flags, umbrella, compiler);
    if (seconds < 0)
      return state.SkipWithError(("does not compile, see " + scratch + ".log").c_str());
    state.SetIterationTime(seconds);
  }
}

/// The cost of one more: (time with many - time with one) / (many - 1).
void slope(benchmark::State& state, std::string (*make)(int), const std::string& flags) {
  constexpr int many = 9;
  for (auto _ : state) {
    const double one = compile(make(1), flags), all = compile(make(many), flags);
    if (one < 0 || all < 0)
      return state.SkipWithError(("does not compile, see " + scratch + ".log").c_str());
    state.SetIterationTime(all);
    state.counters["ms_each"] = (all - one) / (many - 1) * 1e3;
  }
}

/// Processor time of the fastest of a few runs: other work of the machine only ever adds.
double fastest(const std::string& body, const std::string& include, const std::string& compiler) {
  constexpr int runs = 3;
  double out = -1;
  for (int r = 0; r < runs; ++r) {
    const double now = compile(body, "-DTILEWRIGHT_DECLARE_ONLY -fsyntax-only", include, compiler);
    if (now < 0) return -1;
    out = out < 0 ? now : std::min(out, now);
  }
  return out;
}

/// `body` beside what it needs included alone; `count` equal parts of it.
void beside(benchmark::State& state, const std::string& body, const std::string& include,
            const std::string& compiler, const std::string& less = {}, int count = 1) {
  for (auto _ : state) {
    const double bare = fastest(less, include, compiler), all = fastest(body, include, compiler);
    if (bare < 0 || all < 0)
      return state.SkipWithError(("does not compile, see " + scratch + ".log").c_str());
    state.SetIterationTime(all);
    state.counters["ms_more"] = (all - bare) / count * 1e3;
  }
}

void add(const std::string& name, auto function) {
  benchmark::RegisterBenchmark(name.c_str(), function)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const std::string declare = "-DTILEWRIGHT_DECLARE_ONLY ";
  using benchmark::State;
  add("empty_program", [](State& s) {
    for (auto _ : s) {
      std::ofstream(scratch) << "int main() {}\n";
      const double before = children_seconds();
      if (std::system(
              (std::string(BENCH_COMPILER) + " -std=c++20 -fsyntax-only " + scratch).c_str()) != 0)
        return s.SkipWithError("the compiler does not run");
      s.SetIterationTime(children_seconds() - before);
    }
  });
  add("parse/header_only", [](State& s) { measure(s, "", "-fsyntax-only"); });
  add("parse/compiled", [=](State& s) { measure(s, "", declare + "-fsyntax-only"); });
  add("build/header_only/kernels:1", [](State& s) { measure(s, kernels(1), "-O2 -c"); });
  add("build/compiled/kernels:1", [=](State& s) { measure(s, kernels(1), declare + "-O2 -c"); });
  add("further_kernel/compiled/parse",
      [=](State& s) { slope(s, kernels, declare + "-fsyntax-only"); });
  add("further_kernel/compiled/build", [=](State& s) { slope(s, kernels, declare + "-O2 -c"); });
  add("further_space/compiled/build", [=](State& s) { slope(s, spaces, declare + "-O2 -c"); });
  const std::string steps =
      "#include <tilewright/fwd.hpp>\n#include <tilewright/space/steps.hpp>\n";
  for (const char* compiler : {"g++-12", "clang++-14", "clang++-19"}) {
    const std::string is_there = std::string(compiler) + " --version > /dev/null 2>&1";
    if (std::system(is_there.c_str()) != 0) continue;
    const std::string name = "expression/" + std::string(compiler), which = compiler;
    for (const std::string level : {"-O0", "-O1", "-O2"}) {
      add("kernel/compiled/" + which + "/" + level,
          [=](State& s) { measure(s, kernels(1), declare + level + " -c", which); });
      add("kernel/header_only/" + which + "/" + level,
          [=](State& s) { measure(s, kernels(1), level + " -c", which); });
    }
    for (const int n : {5, 20, 40})
      add(name + "/steps:" + std::to_string(n),
          [=](State& s) { beside(s, programs::space_expressions(n, 1), steps, which); });
    for (const int n : {5, 20, 40})
      add(name + "/sequence/hana_tuple/" + std::to_string(n),
          [=](State& s) { beside(s, programs::hana_sequence(n), steps, which); });
    add(name + "/further/steps:40", [=](State& s) {
      beside(s, programs::space_expressions(40, 5), steps, which,
             programs::space_expressions(40, 1), 4);
    });
    for (const int n : {5, 20, 40}) {
      add(name + "/names/hana_map/" + std::to_string(n),
          [=](State& s) { beside(s, programs::hana_names(n), "", which); });
      add(name + "/names/array/" + std::to_string(n), [=](State& s) {
        beside(s, programs::array_names(n), "#include <tilewright/space/operand.hpp>\n", which);
      });
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
