// Functions of floats, nanoseconds an element: in vectors of the target's width as kernels compute them, as loops
// that call glibc's functions one element at a time (gcc -O3), and by libmvec (gcc -Ofast), on 16,384 elements.
// Errors beside, in units of the last place, against the C library's long double.
//
//   bench_functions [--cpu=haswell] [name,name,...]
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

#include "turns.hpp"

namespace bench {
namespace {

using namespace tilewright;

constexpr std::int64_t elements = 16384;

using exact_function = std::function<long double(long double, long double)>;

struct measured_function {
  std::string name;
  double low, high;  // of what is drawn
  exact_function exact;
  bool two = false;
};

std::vector<measured_function> all() {
#define UNARY(name, low, high)                                                \
  {                                                                           \
#name, low, high, [](long double x, long double) { return std::name(x); } \
  }
#define BINARY(name, low, high)                                                          \
  {                                                                                      \
#name, low, high, [](long double x, long double y) { return std::name(x, y); }, true \
  }
  return {UNARY(exp, -20, 20),   UNARY(log, 0, 100),   UNARY(tanh, -5, 5),   UNARY(sin, -10, 10),
          UNARY(log1p, -0.9, 9), UNARY(expm1, -5, 5),  BINARY(atan2, -1, 1), UNARY(atan, -5, 5),
          BINARY(hypot, -9, 9),  UNARY(sinh, -5, 5),   UNARY(cosh, -5, 5),   UNARY(asinh, -9, 9),
          UNARY(acosh, 1, 20),   UNARY(atanh, -1, 1),  UNARY(asin, -1, 1),   UNARY(acos, -1, 1),
          UNARY(tan, -10, 10),   UNARY(cbrt, -99, 99), BINARY(fmod, -99, 99)};
#undef UNARY
#undef BINARY
}

using nest = void (*)(const void*, const void*, void*);

/// A loop over the C library's function, by gcc with `flags`; null where that fails.
nest compiled_loop(const measured_function& f, bool wide, const std::string& flags) {
  const std::filesystem::path base =
      std::filesystem::temp_directory_path() / ("bench_functions_" + std::to_string(getpid()));
  static int count = 0;
  const std::string source = base.string() + ".c",
                    library = base.string() + "_" + std::to_string(count++) + ".so";
  const std::string type = wide ? "double" : "float", call = f.name + (wide ? "" : "f");
  std::ofstream(source) << "#include <math.h>\n"
                        << "void nest(const " << type << "* restrict x, const " << type
                        << "* restrict y, " << type << "* restrict z) {\n  for (int i = 0; i < "
                        << elements << "; ++i) z[i] = " << call
                        << (f.two ? "(x[i], y[i]);\n}\n" : "(x[i]);\n}\n");
  // linked without the flags, by which gcc would switch subnormal numbers off in the whole process
  const std::string object = base.string() + ".o";
  const std::string command = "gcc -fPIC " + flags + " -c " + source + " -o " + object +
                              " && gcc -shared " + object + " -o " + library + " -lmvec -lm";
  const bool made = std::system(command.c_str()) == 0;
  void* handle = made ? dlopen(library.c_str(), RTLD_NOW) : nullptr;
  std::filesystem::remove(library);
  std::filesystem::remove(source);
  std::filesystem::remove(object);
  return handle ? reinterpret_cast<nest>(dlsym(handle, "nest")) : nullptr;
}

/// Z[i] = name(X[i]) or name(X[i], Y[i]) in vectors of the target's width.
ir::function kernel_of(const measured_function& f, dtype t, const target::cpu& cpu) {
  using namespace ir;
  const int lanes = cpu.lanes(t);
  const buffer x = make_buffer("X", t, {expr(elements)}), y = make_buffer("Y", t, {expr(elements)}),
               z = make_buffer("Z", t, {expr(elements)});
  const var o = make_var("o", dtype::i64), v = make_var("v");
  const expr i = o * lanes + v;
  std::vector<expr> arguments{load(x, {i})};
  if (f.two) arguments.push_back(load(y, {i}));
  function out;
  out.name = "values";
  for (const buffer& b : {x, y, z}) out.params.push_back({b, {}});
  out.body = make_loop(o, 0, expr(elements / lanes),
                       make_loop(v, 0, expr(lanes), make_store(z, {i}, call(t, f.name, arguments)),
                                 loop_kind::vectorized));
  return out;
}

template <class T>
double worst_error(const std::vector<T>& got, const std::vector<T>& x, const std::vector<T>& y,
                   const measured_function& f) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const long double exact =
        f.exact(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
    const T nearest = std::abs(static_cast<T>(exact));
    const long double unit = static_cast<long double>(
        std::nextafter(nearest, std::numeric_limits<T>::infinity()) - nearest);
    const auto error =
        static_cast<double>(std::abs(static_cast<long double>(got[i]) - exact) / unit);
    worst = std::max(worst, std::isnan(error) ? HUGE_VAL : error);
  }
  return worst;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class T>
void measure(const measured_function& f, const std::string& machine) {
  const dtype t = sizeof(T) == 8 ? dtype::f64 : dtype::f32;
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> draw(f.low, f.high);
  std::vector<T> x(elements), y(elements), z(elements);
  for (T& e : x) e = static_cast<T>(draw(generator));
  for (T& e : y) e = static_cast<T>(draw(generator));
  void* data[] = {x.data(), y.data(), z.data()};

  const target::cpu cpu = machine == "native" ? target::host() : target::named(machine);
  const auto code = backend::load(backend::compile(kernel_of(f, t, cpu), cpu));
  std::vector<engine> engines;
  std::vector<double> errors;
  const auto enter = [&](const char* name, const std::function<void()>& run) {
    std::fill(z.begin(), z.end(), std::numeric_limits<T>::quiet_NaN());
    run();
    errors.push_back(worst_error(z, x, y, f));
    engines.push_back({name, run, {}, [run] {
                         const double start = thread_seconds();
                         for (int i = 0; i < 4; ++i) run();
                         return (thread_seconds() - start) / 4;
                       }});
  };
  enter("tilewright", [&] { (*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}); });
  for (const auto& [name, flags] :
       {std::pair{"libm", "-O3 -fno-math-errno"}, std::pair{"libmvec", "-Ofast"}}) {
    const nest loop = compiled_loop(f, sizeof(T) == 8, "-march=" + machine + " " + flags);
    if (loop) enter(name, [&x, &y, &z, loop] { loop(x.data(), y.data(), z.data()); });
  }
  take_turns(engines);
  std::printf("%-6s %s", f.name.c_str(), sizeof(T) == 8 ? "f64" : "f32");
  for (std::size_t i = 0; i < engines.size(); ++i)
    std::printf("  %s %.2f ns (%.2g ulp)", engines[i].name.c_str(),
                engines[i].best() * 1e9 / static_cast<double>(elements), errors[i]);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::string machine = "native";
  std::vector<std::string> chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--cpu=", 0) == 0)
      machine = word.substr(6);
    else
      chosen = bench::words(word);
  }
  for (const bench::measured_function& f : bench::all()) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), f.name) == chosen.end())
      continue;
    bench::measure<float>(f, machine);
    bench::measure<double>(f, machine);
  }
}
