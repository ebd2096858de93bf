// tilewright run: execute a function, scheduled or not, and compare it with the interpreter.
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/backend/linker.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/interpret/scalarize.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/support/hash.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/numbers/narrow_float.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "../arrays/matrix_input.hpp"
#include "../arrays/npy.hpp"
#include "../assignments.hpp"
#include "../command.hpp"
#include "../display/step_progress.hpp"
#include "../option_values.hpp"
#include "../records/workload.hpp"

namespace tool {
namespace {

using namespace tilewright;
using output_list = std::vector<std::vector<std::byte>>;  // one per written parameter, row-major

struct run_options {
  std::string file, function, trace, engine = "llvm", gpu = "sm_80";
  std::vector<std::string> dims, inputs, matrices, outputs;
  std::uint64_t seed = 0;
  int threads = 0;
  bool check = true;
  bool time = false;
};

template <class Number>
Number number(const std::string& name, const std::string& text) {
  Number value{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size())
    throw argument_error("--dim " + name + "=" + text + ": not a number of the right kind");
  return value;
}

/// The function with the extents of --dim and --matrix; every extent is literal then.
ir::function specialized(const std::string& file, const ir::function& f, const assignments& dims,
                         const matrix_inputs& matrices) {
  std::map<std::string, std::int64_t> integers;
  for (const auto& [name, text] : dims) {
    const auto is_float_scalar = [&, n = name](const ir::param& p) {
      return p.scalar && p.scalar->name == n && is_float(p.scalar.type());
    };
    if (std::none_of(f.params.begin(), f.params.end(), is_float_scalar))
      integers[name] = number<std::int64_t>(name, text);
  }
  matrices.bind(f, integers);
  return matrices.stored(with_extents(file, f, integers));
}

/// Arguments in memory, filled from the seed, --dim for scalars and --in.
class arguments {
 public:
  arguments(const ir::function& f, const backend::executor& threads, const run_options& o,
            const matrix_inputs& matrices)
      : arguments(f, threads, o, matrices, search::operands(f)) {}

  const std::vector<search::operand>& operands() const { return memory_.operands(); }
  const std::vector<void*>& data() const { return memory_.data(); }
  output_list outputs() const { return memory_.outputs(); }

  /// Makes the pages around the buffers accessible, or not.
  void open_guards(bool open) const { memory_.memory().open_guards(open); }

  /// Undoes what a run wrote.
  void reset() {
    memory_.reset_outputs();
    for (std::size_t i = 0; i < operands().size(); ++i)  // an output may have been read, too
      if (operands()[i].written && !read_[i].empty())
        search::unpack_elements(operands()[i], static_cast<std::byte*>(data()[i]),
                                memory_.layouts()[i].strides, read_[i]);
  }

  /// Strides of all buffers, flattened. // elements
  std::vector<std::int64_t> strides() const {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < operands().size(); ++i)
      if (!operands()[i].scalar)
        out.insert(out.end(), memory_.layouts()[i].strides.begin(),
                   memory_.layouts()[i].strides.end());
    return out;
  }

  std::vector<ir::tensor_view> views() const {
    std::vector<ir::tensor_view> out;
    for (std::size_t i = 0; i < operands().size(); ++i)
      out.push_back({data()[i], operands()[i].scalar ? std::vector<std::int64_t>{}
                                                     : memory_.layouts()[i].strides});
    return out;
  }

  /// Position of a buffer parameter.
  std::size_t find(const std::string& name, bool written, const char* option) const {
    return find(operands(), name, written, option);
  }

 private:
  arguments(const ir::function& f, const backend::executor& threads, const run_options& o,
            const matrix_inputs& matrices, std::vector<search::operand> all)
      : read_(given(all, o, matrices)), memory_(f, {}, threads, o.seed, read_) {
    reset();
  }

  /// The values of --in and of scalars, packed; what is empty is made up. Inputs cannot be written
  /// once the memory is made.
  static search::given_values given(const std::vector<search::operand>& all, const run_options& o,
                                    const matrix_inputs& matrices) {
    search::given_values out(all.size());
    matrices.fill(all, out);
    for (const auto& [name, path] : split_assignments(o.inputs, "--in")) {
      const std::size_t i = find(all, name, false, "--in");
      npy_array array = read_npy(path, all[i].type);
      if (array.shape != all[i].extents)
        throw input_error(path, "the shape differs from that of " + name);
      out[i] = std::move(array.bytes);
    }
    const assignments dims = split_assignments(o.dims, "--dim");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const auto at = dims.find(all[i].name); all[i].scalar && at != dims.end())
        out[i] = scalar(all[i], at->second);
    return out;
  }

  static std::vector<std::byte> scalar(const search::operand& o, const std::string& text) {
    std::vector<std::byte> out(static_cast<std::size_t>(bytes(o.type)));
    const auto store = [&](auto value) { std::memcpy(out.data(), &value, sizeof value); };
    if (!is_float(o.type)) {
      const auto value = number<std::int64_t>(o.name, text);
      std::memcpy(out.data(), &value, out.size());  // little-endian
      return out;
    }
    const auto value = number<double>(o.name, text);
    if (o.type == dtype::f64)
      store(value);
    else if (o.type == dtype::f32)
      store(static_cast<float>(value));
    else if (o.type == dtype::f16)
      store(float16(value));
    else if (o.type == dtype::bf16)
      store(bfloat16(value));
    else
      store(round_to_narrow(o.type, value));
    return out;
  }

  static std::size_t find(const std::vector<search::operand>& all, const std::string& name,
                          bool written, const char* option) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == name && !all[i].scalar && (!written || all[i].written)) return i;
    throw argument_error(std::string(option) + " " + name + ": no " +
                         (written ? "written" : "buffer") + " parameter has that name");
  }

  search::given_values read_;
  search::runner memory_;
};

struct engine_call {
  backend::entry entry;
  const backend::call* call;
  int result = 0;
};

/// Processor time that this thread has had. // s
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Processor time of a call that this thread alone runs, which other programs change less than the time
/// that passes: the least of nine samples of 2 ms and more.
/// @param one about how long a call takes // s
double processor_seconds(const engine_call& what, arguments& args, double one) {
  const int count = std::clamp(static_cast<int>(2e-3 / std::max(one, 1e-7)), 1, 20000);
  double best = INFINITY;
  for (int sample = 0; sample < 9; ++sample) {
    args.reset();
    const double start = thread_seconds();
    for (int i = 0; i < count; ++i) what.entry(what.call);
    best = std::min(best, (thread_seconds() - start) / count);
  }
  return best;
}

/// Compiles and runs `f`; a fault of the code ends in an error, not in the end of the program.
output_list run_llvm(const ir::function& f, arguments& args, const backend::executor& threads,
                     const run_options& o) {
  const target::cpu& machine = target::host();
  std::optional<step_progress> step(std::in_place, "compiling");
  const auto code = backend::link(backend::compile(pass::lower(f, machine), machine));
  step.emplace("running");
  search::guarded_buffer workspace(
      static_cast<std::size_t>(std::max<std::int64_t>(code->workspace_bytes(), 64)));
  const std::vector<std::int64_t> strides = args.strides();
  const backend::call call{args.data().data(), strides.data(), workspace.data(),
                           &threads,           nullptr,        nullptr};
  const search::fault_handlers handlers;
  engine_call what{code->entry(), &call};
  const auto body = [](void* p) {
    auto* c = static_cast<engine_call*>(p);
    c->result = c->entry(c->call);
  };
  args.reset();
  if (const int signal = search::run_guarded(body, &what))
    throw build_error(std::string("the compiled code ended with ") + search::fault_name(signal));
  output_list out = args.outputs();
  if (o.time) {
    step.emplace("timing");
    search::runner timer(f, {}, threads, o.seed);
    const search::measurement m = timer.measure(*code, {});
    if (!m.ok()) throw build_error("the code could not be timed: " + m.detail);
    std::string processor;
    if (threads.threads == 1) {
      // as for the time above: a masked vector that touches an inaccessible page is slow
      args.open_guards(true);
      workspace.open_guards(true);
      processor = "; " + support::general_text(processor_seconds(what, args, m.best()) * 1e6, 6) +
                  " us of processor time";
      args.open_guards(false);
      workspace.open_guards(false);
    }
    say("time " + support::general_text(m.best() * 1e6, 6) + " us per call, the best of " +
        std::to_string(m.seconds.size()) + processor + "\n");
  }
  return out;
}

/// Elements of each parameter from its first one to its last.
std::int64_t reach(const search::operand& o, const std::vector<std::int64_t>& strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < o.extents.size(); ++d) {
    if (o.extents[d] == 0) return 0;
    last += (o.extents[d] - 1) * strides[d];
  }
  return last + 1;
}

/// Kernels for a GPU, run thread by thread on the host.
output_list run_emulated(const ir::function& f, arguments& args, const run_options& o) {
  const target::gpu device = target::named_gpu(o.gpu);
  const backend::cuda::emulator kernels(backend::cuda::print(pass::lower(f, device), device));
  args.reset();
  std::vector<backend::cuda::emulated_argument> memory;
  const std::vector<ir::tensor_view> views = args.views();
  for (std::size_t i = 0; i < views.size(); ++i)
    memory.push_back({views[i].data,
                      args.operands()[i].scalar ? 1 : reach(args.operands()[i], views[i].strides)});
  kernels.run(memory, args.strides(), o.seed);
  return args.outputs();
}

/// Kernels on this machine's GPU, on copies of the arguments.
output_list run_cuda(const ir::function& f, arguments& args, const run_options& o) {
  namespace cu = backend::cuda;
  if (const cuda::availability& here = cuda::available(); !here)
    throw build_error("there is no GPU to run on: " + here.reason);
  const cu::device device;
  const target::gpu target = device.description();
  const cu::device_code code(
      device, cu::compile(cu::print(pass::lower(f, target), target), target).artifact);
  args.reset();
  const std::vector<ir::tensor_view> views = args.views();
  const auto bytes_of = [&](std::size_t i) {
    const search::operand& operand = args.operands()[i];
    return static_cast<std::size_t>(reach(operand, views[i].strides) * bytes(operand.type));
  };
  std::vector<cu::device_memory> memory;
  std::vector<void*> data;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (args.operands()[i].scalar) {
      data.push_back(views[i].data);
      memory.emplace_back(device, 0);
      continue;
    }
    memory.emplace_back(device, bytes_of(i));
    device.copy_in(memory[i].get(), views[i].data, bytes_of(i));
    data.push_back(reinterpret_cast<void*>(memory[i].get()));
  }
  const cu::device_memory workspace(device, static_cast<std::size_t>(code.workspace_bytes()));
  const std::vector<std::int64_t> strides = args.strides();
  code.start(data.data(), strides.data(), workspace.get());
  device.synchronize();
  for (std::size_t i = 0; i < views.size(); ++i)
    if (args.operands()[i].written) device.copy_out(views[i].data, memory[i].get(), bytes_of(i));
  output_list out = args.outputs();
  if (o.time) {
    double best = INFINITY;
    for (int round = 0; round < 20; ++round)
      best = std::min(best, code.time(data.data(), strides.data(), workspace.get(), 10) / 10);
    say("time " + support::general_text(best * 1e6, 6) + " us per call on " + device.name() +
        ", the best of 20\n");
  }
  return out;
}

/// Races are looked for where the interpreter is what the user asked for, not where it is the
/// reference.
output_list run_interpreter(const ir::function& f, arguments& args, bool check_races) {
  args.reset();
  const step_progress step("running in the interpreter");
  ir::interpret_options options;
  options.check_races = check_races;
  ir::interpret(f, args.views(), options);
  return args.outputs();
}

double value_at(dtype type, const std::byte* at) {
  const auto as = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  };
  if (is_narrow_float(type)) return widen_narrow(type, static_cast<std::uint8_t>(*at));
  switch (stored_as(type)) {
    case dtype::boolean:
    case dtype::u8: return as(std::uint8_t{});
    case dtype::i8: return as(std::int8_t{});
    case dtype::i16: return as(std::int16_t{});
    case dtype::u16: return as(std::uint16_t{});
    case dtype::i32: return as(std::int32_t{});
    case dtype::u32: return as(std::uint32_t{});
    case dtype::i64: return as(std::int64_t{});
    case dtype::u64: return as(std::uint64_t{});
    case dtype::f16: return as(float16{});
    case dtype::bf16: return as(bfloat16{});
    case dtype::f32: return as(float{});
    case dtype::f64: return as(double{});
    case dtype::handle: break;
  }
  return 0;
}

/// Largest difference of two outputs; NaN against a number counts as infinite.
double largest_difference(dtype type, const std::vector<std::byte>& a,
                          const std::vector<std::byte>& b) {
  const auto size = static_cast<std::size_t>(bytes(type));
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); i += size) {
    const double x = value_at(type, &a[i]), y = value_at(type, &b[i]);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y);
    largest = std::isnan(d) ? INFINITY : std::max(largest, d);
  }
  return largest;
}

/// One line: name, type, shape, sum, hash of the bytes, and the difference when there is a
/// reference.
std::string describe(const search::operand& o, const std::vector<std::byte>& data,
                     const std::vector<std::byte>* reference) {
  const auto size = static_cast<std::size_t>(bytes(o.type));
  double sum = 0;
  for (std::size_t i = 0; i < data.size(); i += size) sum += value_at(o.type, &data[i]);
  support::hasher hash;
  hash.add(std::string_view(reinterpret_cast<const char*>(data.data()), data.size()));
  std::string out = o.name + " " + std::string(name(o.type)) + " (";
  for (std::size_t d = 0; d < o.extents.size(); ++d)
    out += (d ? ", " : "") + std::to_string(o.extents[d]);
  out +=
      ") sum " + support::general_text(sum, 9) + " checksum " + hash.finish().hex().substr(0, 16);
  if (reference)
    out += " largest difference " +
           support::general_text(largest_difference(o.type, data, *reference), 3);
  return out + "\n";
}

int run(const run_options& o) {
  const matrix_inputs matrices(o.matrices);
  ir::function f = specialized(o.file, load_function(o.file, o.function),
                               split_assignments(o.dims, "--dim"), matrices);
  ir::function scheduled = f;
  if (!o.trace.empty()) {
    const trace t = parse_file(o.trace, &trace::parse);
    schedule s(f, o.seed);
    t.apply_to(s);
    scheduled = s.function();
  }
  // As in NumPy, an array of vectors has a dimension more.
  f = ir::scalarize(f);
  scheduled = ir::scalarize(scheduled);
  std::unique_ptr<backend::pool> own;
  if (o.threads > 0) own = std::make_unique<backend::pool>(o.threads);
  const backend::executor& threads = (own ? *own : backend::pool::shared()).view();
  arguments args(f, threads, o, matrices);
  const bool interpreted = o.engine == "interp";
  const output_list actual = interpreted             ? run_interpreter(scheduled, args, true)
                             : o.engine == "emulate" ? run_emulated(scheduled, args, o)
                             : o.engine == "cuda"    ? run_cuda(scheduled, args, o)
                                                     : run_llvm(scheduled, args, threads, o);
  // The interpreter on the function as it was is the reference; without a trace it has just run.
  std::optional<output_list> expected;
  if (o.check && (!interpreted || !o.trace.empty()))
    expected = run_interpreter(f, args, false);
  else if (o.check)
    expected = actual;

  std::size_t position = 0;
  const assignments files = split_assignments(o.outputs, "--out");
  for (const auto& [name, path] : files) args.find(name, true, "--out");
  for (const search::operand& operand : args.operands()) {
    if (!operand.written) continue;
    const std::vector<std::byte>& data = actual[position];
    say(describe(operand, data, expected ? &(*expected)[position] : nullptr));
    const auto file = files.find(operand.name);
    if (file != files.end()) write_npy(file->second, {operand.type, operand.extents, data});
    ++position;
  }
  if (!expected) return fine;
  const std::string wrong =
      search::compare_outputs(args.operands(), search::needs_of(f), *expected, actual);
  if (!wrong.empty()) complain("the result differs from the interpreter's: " + wrong);
  return wrong.empty() ? fine : different;
}

}  // namespace

std::function<int()> declare_run(CLI::App& app) {
  const auto o = std::make_shared<run_options>();
  app.add_option("FILE", o->file, "a function in script form")->required();
  app.add_option("--function", o->function,
                 "the function of that name; main or the first otherwise");
  app.add_option("--trace", o->trace, "run the function as this trace transforms it");
  app.add_option("--engine", o->engine,
                 "interp, llvm, cuda, or emulate: the kernels for a GPU, run on the host")
      ->check(CLI::IsMember({"interp", "llvm", "cuda", "emulate"}))
      ->capture_default_str();
  app.add_option("--gpu", o->gpu,
                 "the architecture that emulated kernels are made for: " +
                     list_of(target::known_gpu_names()))
      ->capture_default_str();
  app.add_option("--dim", o->dims, "NAME=VALUE: a symbolic extent or a scalar parameter")
      ->take_all();
  app.add_option("--in", o->inputs, "NAME=FILE.npy: contents of a parameter; others are random")
      ->take_all();
  app.add_option(
         "--matrix", o->matrices,
         "NAME=FILE: a sparse matrix for a parameter of two dimensions, from SciPy's .npz or "
         "a Matrix Market file")
      ->take_all();
  app.add_option("--out", o->outputs, "NAME=FILE.npy: where an output goes")->take_all();
  app.add_option("--seed", o->seed, "for random inputs and open decisions")
      ->check(whole<std::uint64_t>())
      ->capture_default_str();
  app.add_option("--threads", o->threads, "threads of parallel loops of compiled code; 0: all")
      ->check(whole<int>());
  app.add_flag("!--no-check", o->check, "do not compare with the interpreter");
  app.add_flag("--time", o->time, "measure the compiled code");
  return [o] { return run(*o); };
}

}  // namespace tool
