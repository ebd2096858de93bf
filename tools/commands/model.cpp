// tilewright model: networks from ONNX files: what they hold, and their results beside expected ones.
#include "../command.hpp"

#if __has_include(<protozero/pbf_reader.hpp>)
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <CLI/CLI.hpp>

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/device/device_program.hpp>
#include <tilewright/model/kernel_work.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/support/numbers/number_text.hpp>

#include "../arrays/npy.hpp"
#include "../assignments.hpp"
#include "../option_values.hpp"
#include "network_file.hpp"
#include "network_info.hpp"

namespace tool {
namespace {

using namespace tilewright;
namespace fs = std::filesystem;

/// Seconds of tuning that `model tune` takes where none are given.
constexpr double tune_seconds = 60;

// ---- run ----

/// Names of values may hold slashes and colons; those of files must not.
std::string file_name(std::string name) {
  for (char& c : name)
    if (c == '/' || c == ':' || c == '\\') c = '_';
  return name + ".npy";
}

dsl::argument argument_of(npy_array& array) {
  dsl::argument a;
  a.data = array.bytes.data();
  a.type = array.type;
  if (array.shape.size() > dsl::argument::max_rank)
    throw argument_error("an array has too many dimensions");
  a.rank = static_cast<std::int8_t>(array.shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = array.shape.size(); d-- > 0;) {
    a.extents[d] = array.shape[d];
    a.strides[d] = stride;
    stride *= array.shape[d];
  }
  return a;
}

/// A network that can be called, from an ONNX file or a saved one.
struct callable_network {
  std::string name;
  std::vector<network_port> inputs, outputs;
  std::function<void(const std::vector<named_argument>&, const std::vector<named_argument>&)> run;
  std::function<std::vector<double>(int)> device_times =
      {};  // of so many runs on a GPU; null: a CPU runs it
};

callable_network callable(const network_options& o) {
  if (is_saved(o.file) || fs::path(o.file).extension() == ".twm") {  // one that is cut off, too
    if (o.target != "host")
      throw argument_error(o.file +
                           ": a saved model runs on the machines that it was saved for; leave "
                           "--target out, or save it for " +
                           o.target);
    if (!o.engine.empty())
      throw argument_error(o.file +
                           ": a saved model holds code, which is not emulated; give the ONNX file "
                           "that it was saved from");
    if (!o.extents.empty())
      throw argument_error(o.file + ": the extents of a saved model are fixed");
    const saved_model m = load_model(o.file, {.threads = o.threads});
    callable_network out{m.name(), m.inputs(), m.outputs(),
                         [m](const auto& inputs, const auto& outputs) { m.run(inputs, outputs); }};
    if (m.is_for_device()) out.device_times = [m](int runs) { return m.device_times(runs); };
    return out;
  }
  const model m = load(o);
  const network::graph& g = m.source();
  const bool emulates = o.engine == "emulate";
  callable_network out{g.name, {}, {}, [m, emulates](const auto& inputs, const auto& outputs) {
                         if (emulates)
                           m.emulate(inputs, outputs);
                         else
                           m.run(inputs, outputs);
                       }};
  if (o.target != "host" && !emulates)
    out.device_times = [m](int runs) { return network::device_program(m.program()).time(runs); };
  for (const network::value_id v : g.inputs) out.inputs.push_back({g.at(v).name, g.type_of(v)});
  for (const network::value_id v : g.outputs) out.outputs.push_back({g.at(v).name, g.type_of(v)});
  return out;
}

/// Inputs from files, outputs as zeros, in the order of the call.
std::vector<npy_array> arrays_of(const network_options& o, const callable_network& m) {
  std::vector<npy_array> out;
  assignments files = split_assignments(o.inputs, "--in");
  for (const network_port& p : m.inputs) {
    const auto at = files.find(p.name);
    if (at == files.end())
      throw argument_error("input \"" + p.name + "\" is missing; give --in " + p.name +
                           "=FILE.npy");
    out.push_back(read_npy(at->second, p.type.type));
    files.erase(at);
  }
  if (!files.empty())
    throw argument_error("graph " + m.name + " has no input \"" + files.begin()->first + "\"");
  for (const network_port& p : m.outputs)
    out.push_back({p.type.type, p.type.extents,
                   std::vector<std::byte>(static_cast<std::size_t>(p.type.bytes()))});
  return out;
}

/// Largest difference relative to the largest expected element; infinite for NaN against numbers.
double relative_difference(const npy_array& expected, const npy_array& actual) {
  const network::tensor_type t{expected.type, expected.shape};
  const network::constant e(t, expected.bytes.data(), nullptr), a(t, actual.bytes.data(), nullptr);
  double largest = 0, difference = 0;
  for (std::int64_t k = 0; k < t.elements(); ++k) {
    const double x = e.number(k), y = a.number(k);
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y);
    difference = std::isnan(d) ? INFINITY : std::max(difference, d);
  }
  return difference == 0 ? 0 : largest > 0 ? difference / largest : INFINITY;
}

/// Times of single runs, in their order. // s
std::vector<double> time_runs(const std::function<void()>& run, int runs) {
  using clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int k = 0; k < runs; ++k) {
    const clock::time_point begin = clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(clock::now() - begin).count());
  }
  return seconds;
}

/// @param with_times measure the whole network, too
int run(const network_options& o, bool with_times) {
  const callable_network m = callable(o);
  std::vector<npy_array> arrays = arrays_of(o, m);
  std::vector<named_argument> inputs, outputs;
  for (std::size_t k = 0; k < m.inputs.size(); ++k)
    inputs.emplace_back(m.inputs[k].name, argument_of(arrays[k]));
  for (std::size_t k = 0; k < m.outputs.size(); ++k)
    outputs.emplace_back(m.outputs[k].name, argument_of(arrays[m.inputs.size() + k]));
  m.run(inputs, outputs);
  assignments files = split_assignments(o.outputs, "--out");
  bool is_different = false;
  std::string text = "{\"outputs\": {", lines;
  for (std::size_t k = 0; k < m.outputs.size(); ++k) {
    const auto& [name, type] = m.outputs[k];
    const npy_array& actual = arrays[m.inputs.size() + k];
    lines += name + " " + network::text_of(type);
    text += (k ? ", " : "") + json(name) + ": {\"type\": " + json(network::text_of(type));
    if (!o.expect.empty()) {
      const std::string path = (fs::path(o.expect) / file_name(name)).string();
      const npy_array expected = read_npy(path, actual.type);
      if (expected.shape != actual.shape)
        throw input_error(path, "its shape is " + network::text_of(expected.shape) +
                                    ", that of the output " + network::text_of(actual.shape));
      const double d = relative_difference(expected, actual);
      const std::string number = support::general_text(d, 3);
      lines += " largest difference " + number + " of the largest element";
      text +=
          std::string(", \"difference\": ") + (std::isfinite(d) ? number : std::string("1e999"));
      is_different = is_different || !(d <= o.tolerance);
    }
    lines += "\n";
    text += "}";
    if (const auto at = files.find(name); at != files.end()) {
      write_npy(at->second, actual);
      files.erase(at);
    }
  }
  if (!files.empty())
    throw argument_error("graph " + m.name + " has no output \"" + files.begin()->first + "\"");
  text += "}";
  if (with_times) {
    std::vector<double> seconds = time_runs([&] { m.run(inputs, outputs); }, o.runs);
    text += ", \"seconds\": [";
    for (std::size_t k = 0; k < seconds.size(); ++k) {
      text += (k ? ", " : "") + support::general_text(seconds[k], 6);
    }
    text += "]";
    std::sort(seconds.begin(), seconds.end());
    lines += support::fixed_text(seconds[seconds.size() / 2] * 1e3, 3) + " ms, at best " +
             support::fixed_text(seconds[0] * 1e3, 3) + ", of " + std::to_string(seconds.size()) +
             " runs\n";
    if (m.device_times) {  // without the copies of arrays of the host
      std::vector<double> there = m.device_times(o.runs);
      std::sort(there.begin(), there.end());
      text += ", \"device_seconds\": " + support::general_text(there[there.size() / 2], 6);
      lines += support::fixed_text(there[there.size() / 2] * 1e3, 3) +
               " ms on the device, at best " + support::fixed_text(there[0] * 1e3, 3) + "\n";
    }
  }
  say(o.as_json ? text + "}\n" : lines);
  if (is_different)
    complain("an output differs from what was expected by more than " +
             std::to_string(o.tolerance));
  return is_different ? different : fine;
}

/// What model::report says, as JSON.
std::string report_as_json(const model& m) {
  const std::vector<network::kernel_report> kernels = m.kernel_reports();
  const auto program = m.program();
  double total = 0;  // s
  for (const network::kernel_report& r : kernels) total += r.seconds;
  std::string out = "{\"kernels\": [";
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const network::node& what = program->launches()[k].what;
    const network::kernel_report& r = kernels[k];
    out += (k ? ", " : "") + ("{\"operator\": " + json(what.op)) +
           ", \"node\": " + json(what.name) +
           ", \"seconds\": " + support::general_text(r.seconds, 6) +
           ", \"share\": " + support::general_text(r.seconds / total, 4) +
           ", \"roofline\": " + support::general_text(r.bound / r.seconds, 4) +
           ", \"algorithm\": " + json(r.algorithm) +
           ", \"origin\": " + json(network::text_of(r.origin)) + "}";
  }
  return out + "], \"seconds\": " + support::general_text(total, 6) +
         ", \"arena_bytes\": " + std::to_string(program->arena_bytes()) +
         ", \"least_arena_bytes\": " + std::to_string(program->least_arena_bytes()) + "}\n";
}

/// As JSON where that was asked for.
void say_report(const network_options& o, const model& m) {
  say(o.as_json ? report_as_json(m) : m.report());
}

int report(const network_options& o) {
  say_report(o, load(o));
  return fine;
}

std::vector<std::string> targets_of(const network_options& o) {
  return o.targets.empty() ? std::vector<std::string>{"host"} : o.targets;
}

/// With a GPU as the model's target where one is named.
/// @param several GPUs may share what is done
network_options with_target(network_options o, bool several) {
  const auto is_gpu = [](const std::string& name) { return cuda::find_device(name).has_value(); };
  const auto gpus =
      static_cast<std::size_t>(std::count_if(o.targets.begin(), o.targets.end(), is_gpu));
  if (gpus == 0) return o;
  if (gpus < o.targets.size() || (gpus > 1 && !several))
    throw argument_error("--target: a GPU stands alone; give each target a call of its own");
  o.target = o.targets[0];
  return o;
}

/// The targets share the time.
void tune_all(model& m, const network_options& o, double seconds) {
  const std::vector<std::string> targets = targets_of(o);
  for (const std::string& t : targets) m.tune(seconds / static_cast<double>(targets.size()), t);
}

int tune(const network_options& given) {
  const network_options o = with_target(given, false);
  model m = load(o);
  tune_all(m, o, o.seconds.value_or(tune_seconds));
  say_report(o, m);
  return fine;
}

int save(const network_options& given) {
  const network_options o = with_target(given, given.seconds.value_or(0) == 0);
  model m = load(o);
  if (o.seconds.value_or(0) > 0) tune_all(m, o, *o.seconds);
  m.save(o.to, targets_of(o));
  say(o.to + ": " + std::to_string(fs::file_size(o.to)) + " bytes\n");
  return fine;
}

}  // namespace

std::function<int()> declare_model(CLI::App& app) {
  const auto o = std::make_shared<network_options>();
  const auto chosen = std::make_shared<std::function<int()>>();
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* summary, std::function<int()> run_it) {
    CLI::App* sub = app.add_subcommand(name, summary);
    sub->add_option("FILE", o->file,
                    "an ONNX file; info, run and bench take a saved model (.twm), too")
        ->required();
    sub->add_option("--extent", o->extents, "NAME=VALUE: an extent that the graph leaves open")
        ->take_all();
    sub->add_option("--threads", o->threads, "of a call; 0: all")->check(whole<int>());
    sub->add_option("--db", o->database,
                    "database of schedules; the user's own where none is given");
    sub->add_option("--seed", o->seed, "for search")
        ->check(whole<std::uint64_t>())
        ->capture_default_str();
    sub->add_flag("--plain", o->plain, "run the graph as it stands in the file, one kernel a node");
    sub->add_flag("--keep-f16", o->keep_f16,
                  "round every value of f16 as the graph has it; else CPUs compute in f32 where it "
                  "is faster");
    sub->add_option("--convolution-error", o->convolution_error,
                    "of a result over the root mean square of all, for Winograd's algorithm; 0: "
                    "convolutions as "
                    "the graph has them")
        ->check(at_least_0());
    sub->add_flag("--json", o->as_json, "print JSON");
    sub->callback([chosen, run_it] { *chosen = run_it; });
    return sub;
  };
  CLI::App* about = add("info", "Operators, what is not supported, kernels, memory",
                        [o] { return network_info(*o); });
  about->add_flag("--print", o->print, "print the graph that runs, too");
  about->add_flag("--passes", o->passes, "print the graph before all passes, and after each");
  const auto with_machine = [&](CLI::App* to) {
    to->add_option("--target", o->target, machine_names)->capture_default_str();
  };
  with_machine(about);
  const auto with_arrays = [&](CLI::App* sub) {
    sub->add_option("--in", o->inputs, "NAME=FILE.npy: an input")->take_all();
    sub->add_option("--out", o->outputs, "NAME=FILE.npy: where an output goes")->take_all();
    sub->add_option("--expect", o->expect, "folder with OUTPUT.npy of each output to compare with");
    sub->add_option("--tolerance", o->tolerance,
                    "largest difference, relative to the largest element")
        ->check(at_least_0())
        ->capture_default_str();
  };
  const auto with_seconds = [&](CLI::App* sub, const std::string& what) {
    sub->add_option("--seconds", o->seconds, what)->check(at_least_0());
    sub->add_flag("--verbose", o->verbose, "progress of tuning on stderr");
  };
  const std::string before = "tune for so long before";
  CLI::App* sub = add("run", "Run it on arrays", [o] { return run(*o, false); });
  with_arrays(sub);
  with_seconds(sub, before);
  with_machine(sub);
  sub->add_option("--engine", o->engine,
                  "emulate: run the kernels for a GPU on the host, thread by thread")
      ->check(CLI::IsMember({"emulate"}));
  sub = add("bench", "Run it on arrays, and measure", [o] { return run(*o, true); });
  with_arrays(sub);
  with_seconds(sub, before);
  sub->add_option("--runs", o->runs, "how often it is measured")
      ->check(whole<int>(1))
      ->capture_default_str();
  with_machine(sub);
  sub = add("save", "Write its kernels and weights to a file that runs without LLVM or NVRTC",
            [o] { return save(*o); });
  sub->add_option("--to", o->to, "the file, MODEL.twm")->required();
  with_seconds(sub, before);
  const auto with_targets = [&](CLI::App* to) {
    to->add_option(
          "--target", o->targets,
          "CPU to make code for, as host or x86-64-v3, of which several share the time; or a GPU: "
          "cuda, or its architecture")
        ->take_all();
  };
  with_targets(sub);
  sub = add("tune", "Tune its kernels and report", [o] { return tune(*o); });
  with_seconds(sub, "budget; default: " + support::general_text(tune_seconds, 3));
  with_targets(sub);
  sub = add("report", "Time and share of each kernel", [o] { return report(*o); });
  with_seconds(sub, before);
  with_machine(sub);
  return [chosen] { return (*chosen)(); };
}

}  // namespace tool

#else

#include <CLI/CLI.hpp>

namespace tool {

std::function<int()> declare_model(CLI::App& app) {
  app.allow_extras();
  return [] {
    complain(
        "this tool was built without protozero, which reads ONNX files (Debian: libprotozero-dev)");
    return int{failed};
  };
}

}  // namespace tool
#endif
