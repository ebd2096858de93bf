#include "call_cost.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include <tilewright/cuda.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/dynamic_library.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/tuned.hpp>

#include "../peers/primary_context.hpp"
#include "../result_file.hpp"

namespace gpu_calls {
namespace {

using namespace tilewright;
using clock = std::chrono::steady_clock;
using gpu_results::number;
using gpu_time::device_clock;

constexpr int elements = 1024;

constexpr auto doubled = kernel<"doubled">([](in<"X", float, "N"> X, out<"Y", float, "N"> Y) {
  using axes::i;
  return Y(i) = X(i) * 2.0f;
});

ir::function doubled_function() { return reify(doubled, {{"N", elements}}); }

/// X and Y on a device, and what Y shall be.
class arrays {
 public:
  explicit arrays(const cu::device& on)
      : on_(on), x_(on, sizeof(float) * elements), y_(on, sizeof(float) * elements) {
    std::vector<float> values(elements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97) - 48;
    on.copy_in(x_.get(), values.data(), sizeof(float) * elements);
    poison();
  }

  float* x() const { return static_cast<float*>(x_.data()); }
  float* y() const { return static_cast<float*>(y_.data()); }
  void poison() const { on_.fill(y_.get(), 0xff, sizeof(float) * elements); }
  bool right() const {
    std::vector<float> in(elements), out(elements);
    on_.copy_out(in.data(), x_.get(), sizeof(float) * elements);
    on_.copy_out(out.data(), y_.get(), sizeof(float) * elements);
    for (std::size_t i = 0; i < in.size(); ++i)
      if (out[i] != 2 * in[i]) return false;
    return true;
  }

 private:
  const cu::device& on_;
  cu::device_memory x_, y_;
};

auto untuned() {
  return tuned{doubled,
               {.own_database = std::make_shared<search::database>(":memory:"), .mode = mode::off}};
}

/// The same kernel through the driver alone, in the context of the calling thread.
class bare_kernel {
 public:
  explicit bare_kernel(const target::gpu& where) {
    const schedule s =
        search::default_schedule(doubled_function(), space::default_gpu(), {&where, 1}, 42);
    const search::built b = search::build(s.function(), where);
    if (!b) throw build_error(b.error);
    if (b.artifact.launches.size() != 1 || b.artifact.workspace_bytes != 0)
      throw internal_error("a product with 2 is no single launch");
    launch_ = b.artifact.launches[0];
    gpu_peers::enter_primary_context("a bare launch");
    check(cu::driver().ModuleLoadData(&module_, b.artifact.object.data()), "cuModuleLoadData");
    check(cu::driver().ModuleGetFunction(&function_, module_, launch_.symbol.c_str()),
          "cuModuleGetFunction");
  }
  ~bare_kernel() { cu::driver().ModuleUnload(module_); }
  bare_kernel(const bare_kernel&) = delete;
  bare_kernel& operator=(const bare_kernel&) = delete;

  /// @param arguments of the kernel, in the order of its parameters
  void start(void** arguments) const {
    check(cu::driver().LaunchKernel(function_, launch_.grid[0], launch_.grid[1], launch_.grid[2],
                                    launch_.block[0], launch_.block[1], launch_.block[2],
                                    static_cast<unsigned>(launch_.shared_bytes), nullptr, arguments,
                                    nullptr),
          "cuLaunchKernel");
  }
  const backend::launch& launch() const { return launch_; }

 private:
  static void check(int result, const char* what) {
    if (result != cu::driver_success)
      throw build_error(std::string(what) + " failed with error " + std::to_string(result));
  }

  backend::launch launch_;
  cu::module_ref module_ = nullptr;
  cu::function_ref function_ = nullptr;
};

/// Seconds of the calling thread for one of so many starts.
double host_seconds(const device_clock& on, const std::function<void()>& start) {
  constexpr int starts = 500;  // fewer than the driver queues
  const auto begin = clock::now();
  for (int i = 0; i < starts; ++i) start();
  const std::chrono::duration<double> took = clock::now() - begin;
  on.settle();
  return took.count() / starts;
}

/// What the library itself does not ask the driver.
struct memory_api {
  int (*get_info)(std::size_t*, std::size_t*) = nullptr;

  template <class F>
  void visit(F&& f) {
    f("MemGetInfo_v2", get_info);
  }
};

/// Bytes of the device that nobody has.
double free_bytes() {
  static const memory_api driver = [] {
    support::dynamic_library opened(
        {"the CUDA driver", "TILEWRIGHT_CUDA_DRIVER", {"libcuda.so.1"}, ""});
    memory_api out;
    opened.fill(out, "cu");
    opened.keep_open();
    return out;
  }();
  gpu_peers::enter_primary_context("free memory");
  std::size_t free = 0, all = 0;
  if (driver.get_info(&free, &all) != cu::driver_success)
    throw build_error("the driver does not say how much memory is free");
  return static_cast<double>(free);
}

/// Bytes of this process that are in memory.
double resident_bytes() {
  long pages = 0, resident = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

result against_launches(const cu::device& on, const device_clock& clock_of_device) {
  constexpr int rounds = 21;
  const arrays a(on);
  const bare_kernel bare(on.description());
  float *x = a.x(), *y = a.y();
  void* places[] = {&x, &y};
  std::vector<void*> arguments;
  for (const backend::launch_argument& l : bare.launch().arguments)
    arguments.push_back(places[static_cast<std::size_t>(l.index)]);
  const auto op = untuned();
  dispatch::device_options o;
  o.own_database = std::make_shared<search::database>(":memory:");
  const cuda::device_kernel same(doubled_function(), o);
  void* const pointers[] = {x, y};
  const std::vector<std::function<void()>> all = {
      [&] { bare.start(arguments.data()); },
      [&] { op(on_device(x, {elements}), on_device(y, {elements})); }, [&] { same(pointers); }};
  result out{true, {}};
  for (const auto& start : all) {  // the first one of each prepares
    a.poison();
    start();
    clock_of_device.settle();
    out.fine = out.fine && a.right();
  }
  std::vector<std::vector<double>> seconds(all.size());
  for (int r = 0; r < rounds; ++r)
    for (std::size_t i = 0; i < all.size(); ++i)
      seconds[i].push_back(host_seconds(clock_of_device, all[i]));
  std::vector<double> beyond, beyond_function;
  for (std::size_t r = 0; r < rounds; ++r) {
    beyond.push_back(seconds[1][r] - seconds[0][r]);
    beyond_function.push_back(seconds[2][r] - seconds[0][r]);
  }
  using gpu_time::median;
  out.fields = number("launch_seconds", median(seconds[0])) + ", " +
               number("call_seconds", median(seconds[1])) + ", " +
               number("device_kernel_seconds", median(seconds[2])) + ", " +
               number("call_beyond_launch_seconds", median(beyond)) + ", " +
               number("device_kernel_beyond_launch_seconds", median(beyond_function));
  return out;
}

result in_graph(const cu::device& on, const device_clock& clock_of_device) {
  constexpr int calls = 10;
  const arrays a(on);
  const auto op = untuned();
  op.warm(on_device(a.x(), {elements}), on_device(a.y(), {elements}));
  const cu::device_graph graph(on, [&](cu::stream_ref stream) {
    for (int i = 0; i < calls; ++i)
      op.on(stream)(on_device(a.x(), {elements}), on_device(a.y(), {elements}));
  });
  result out{true, {}};
  std::vector<double> seconds;
  for (int i = 0; i < 9; ++i) {
    a.poison();
    cu::device_event begin(on), end(on);
    begin.record();
    graph.start();
    end.record();
    clock_of_device.settle();
    seconds.push_back(end.seconds_since(begin) / calls);
    out.fine = out.fine && a.right();
  }
  out.fields = number("calls", calls) + ", " + number("device_seconds", gpu_time::median(seconds));
  return out;
}

result memory_after(const cu::device& on, const device_clock& clock_of_device, int calls) {
  constexpr int warm = 1000;
  const arrays a(on);
  const auto op = untuned();
  const auto call = [&](int count) {
    for (int i = 0; i < count; ++i) {
      op(on_device(a.x(), {elements}), on_device(a.y(), {elements}));
      if (i % 500 == 0) clock_of_device.settle();
    }
    clock_of_device.settle();
  };
  call(warm);
  const double before = free_bytes(), resident = resident_bytes();
  a.poison();
  call(calls);
  const double less = before - free_bytes(), more = resident_bytes() - resident;
  result out;
  out.fine = a.right() && less <= 0;
  out.fields = number("calls", calls) + ", " + number("free_before_bytes", before) + ", " +
               number("lost_bytes", less) + ", " + number("resident_growth_bytes", more);
  return out;
}

}  // namespace gpu_calls
