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

#include <tilewright/backend/artifact.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/impl/model/passes/pass_list.hpp>
#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/kernel_work.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/model/session.hpp>
#include <tilewright/support/mapped_file.hpp>
#include <tilewright/support/numbers/number_text.hpp>

#include "../arrays/npy.hpp"
#include "../assignments.hpp"
#include "../option_values.hpp"
#include "network_file.hpp"

namespace tool {
namespace {

using namespace tilewright;
namespace fs = std::filesystem;

/// Seconds of tuning that `model tune` takes where none are given.
constexpr double tune_seconds = 60;

// ---- info ----

/// What the plan of a saved model for one kind of machine holds.
struct plan_summary {
  std::size_t code_bytes = 0;
  int threads = 1;
};

plan_summary summary_of(const network::saved_plan& plan) {
  plan_summary out;
  for (const network::saved_kernel& k : plan.kernels) {
    out.code_bytes += k.code.size();
    out.threads = std::max(out.threads, k.threads);
  }
  return out;
}

/// What a saved model holds; nothing of its code is loaded.
int info_of_saved(const network_options& o) {
  if (!o.extents.empty()) throw argument_error(o.file + ": the extents of a saved model are fixed");
  const support::mapped_file file(o.file);
  std::vector<network::saved_plan> plans;
  try {
    plans = network::read_model_file(file.data(), file.size());
  } catch (const argument_error& e) {
    throw argument_error(o.file + ": " + e.what());
  }
  const network::saved_plan& any = plans.front();  // all have the ports of one graph
  std::string text = "{\"saved_model\": " + json(any.name) +
                     ", \"file_bytes\": " + std::to_string(file.size()) + ", \"plans\": [";
  std::string lines = "saved model " + any.name + ": " + std::to_string(file.size()) + " bytes\n";
  for (const network::saved_plan& plan : plans) {
    const plan_summary is = summary_of(plan);
    const std::string kernels = std::to_string(plan.kernels.size()),
                      code = std::to_string(is.code_bytes),
                      arena = std::to_string(plan.arena_bytes),
                      threads = std::to_string(is.threads);
    text += (&plan == &any ? "" : ", ") + ("{\"machine\": " + json(plan.isa)) +
            ", \"kernels\": " + kernels + ", \"code_bytes\": " + code +
            ", \"arena_bytes\": " + arena + ", \"threads\": " + threads + "}";
    lines += "  for " + plan.isa + ": " + kernels + " kernels, " + code + " bytes of code, arena " +
             arena + " bytes, up to " + threads + " threads\n";
    if (o.print)
      for (const network::saved_kernel& k : plan.kernels) lines += "    kernel " + k.name + "\n";
  }
  text += "]";
  const auto ports = [&](const char* what, const std::vector<network_port>& all) {
    text += std::string(", \"") + what + "s\": {";
    for (const network_port& p : all) {
      text += (&p == all.data() ? "" : ", ") + json(p.name) + ": " + json(network::text_of(p.type));
      lines += std::string("  ") + what + " " + p.name + " " + network::text_of(p.type) + "\n";
    }
    text += "}";
  };
  ports("input", any.inputs);
  ports("output", any.outputs);
  say(o.as_json ? text + "}\n" : lines);
  return fine;
}

/// The graph before all passes, and after each.
std::string text_of_passes(network::graph g) {
  std::string before = network::print(g), out = "before all passes:\n" + before;
  const auto step = [&](const network::detail::named_pass& pass) {
    pass.run(g);
    const std::string after = network::print(g);
    out += std::string("after ") + pass.name + (after == before ? ": the same\n" : ":\n" + after);
    before = after;
  };
  for (const network::detail::named_pass& pass : network::detail::simplifying_passes) step(pass);
  for (const network::detail::named_pass& pass : network::detail::kernel_passes) step(pass);
  return out;
}

int info(const network_options& o) {
  if (is_saved(o.file)) return info_of_saved(o);
  network::graph g = read_network(o);
  std::map<std::string, int> operators;
  for (const network::node& n : g.nodes)
    ++operators[(n.domain.empty() ? "" : n.domain + ".") + n.op];
  std::int64_t constant_bytes = 0;
  for (const network::value& v : g.values)
    if (v.data) constant_bytes += v.data->type().bytes();
  const std::vector<network::unsupported_operator> missing = network::unsupported_operators(g);
  std::string text = "{\"nodes\": " + std::to_string(g.nodes.size()) +
                     ", \"constant_bytes\": " + std::to_string(constant_bytes) +
                     ", \"operators\": {";
  std::string lines = "graph " + g.name + ": " + std::to_string(g.nodes.size()) + " nodes, " +
                      std::to_string(constant_bytes) + " bytes of constants\n";
  bool first = true;
  for (const auto& [op, count] : operators) {
    text += (first ? "" : ", ") + json(op) + ": " + std::to_string(count);
    lines += "  " + op + " " + std::to_string(count) + "\n";
    first = false;
  }
  text += "}, \"unsupported\": [";
  for (const network::unsupported_operator& u : missing) {
    text += (&u == missing.data() ? "" : ", ") + std::string("{\"operator\": ") + json(u.op) +
            ", \"domain\": " + json(u.domain) + ", \"version\": " + std::to_string(u.version) +
            ", \"count\": " + std::to_string(u.count) + ", \"first\": " + json(u.first) + "}";
    lines += "unsupported: " + (u.domain.empty() ? "" : u.domain + ".") + u.op + " version " +
             std::to_string(u.version) + ", " + std::to_string(u.count) + " of them, first " +
             u.first + "\n";
  }
  text += "]";
  if (missing.empty()) {
    network::bind_extents(g, graph_extents_of(o));
    network::infer_types(g);
    if (o.passes) lines += text_of_passes(g);
    if (!o.plain) network::optimize(g);
    tuned_options kernel_options;
    kernel_options.mode = mode::off;
    kernel_options.database = ":memory:";
    const network::executable program(std::make_shared<const network::graph>(g), kernel_options);
    std::set<std::string> tasks;
    network::kernel_work all;
    for (std::size_t k = 0; k < program.launches().size(); ++k) {
      const network::kernel_work w = network::work_of(program, k);
      all.flops += w.flops;
      all.weight_bytes += w.weight_bytes;
      all.other_bytes += w.other_bytes;
      tasks.insert(program.task(k).key.workload + program.task(k).key.arguments);
    }
    text += ", \"kernels\": " + std::to_string(program.launches().size()) +
            ", \"tasks\": " + std::to_string(tasks.size()) +
            ", \"flops\": " + support::general_text(all.flops, 12) +
            ", \"weight_bytes\": " + std::to_string(all.weight_bytes) +
            ", \"activation_bytes\": " + std::to_string(all.other_bytes) +
            ", \"arena_bytes\": " + std::to_string(program.arena_bytes()) +
            ", \"least_arena_bytes\": " + std::to_string(program.least_arena_bytes());
    lines += std::to_string(program.launches().size()) + " kernels, " +
             std::to_string(tasks.size()) + " of them different; arena " +
             std::to_string(program.arena_bytes()) + " bytes, no smaller than " +
             std::to_string(program.least_arena_bytes()) + "\n" +
             support::general_text(all.flops * 1e-9, 4) + " GFLOP, " +
             std::to_string(all.weight_bytes) + " bytes of weights and " +
             std::to_string(all.other_bytes) + " of activations pass through the kernels\n";
    if (o.print) lines += network::print(g);
  }
  say(o.as_json ? text + "}\n" : lines);
  return missing.empty() ? fine : bad_input;
}

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
};

callable_network callable(const network_options& o) {
  if (is_saved(o.file) || fs::path(o.file).extension() == ".twm") {  // one that is cut off, too
    if (!o.extents.empty())
      throw argument_error(o.file + ": the extents of a saved model are fixed");
    const saved_model m = load_model(o.file, {.threads = o.threads});
    return {m.name(), m.inputs(), m.outputs(),
            [m](const auto& inputs, const auto& outputs) { m.run(inputs, outputs); }};
  }
  const model m = load(o);
  const network::graph& g = m.source();
  callable_network out{
      g.name, {}, {}, [m](const auto& inputs, const auto& outputs) { m.run(inputs, outputs); }};
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

/// The targets share the time.
void tune_all(model& m, const network_options& o, double seconds) {
  const std::vector<std::string> targets = targets_of(o);
  for (const std::string& t : targets) m.tune(seconds / static_cast<double>(targets.size()), t);
}

int tune(const network_options& o) {
  model m = load(o);
  tune_all(m, o, o.seconds.value_or(tune_seconds));
  say_report(o, m);
  return fine;
}

int save(const network_options& o) {
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
    sub->add_option("--convolution-error", o->convolution_error,
                    "of a result over the root mean square of all, for Winograd's algorithm; 0: "
                    "convolutions as "
                    "the graph has them")
        ->check(at_least_0());
    sub->add_flag("--json", o->as_json, "print JSON");
    sub->callback([chosen, run_it] { *chosen = run_it; });
    return sub;
  };
  CLI::App* about =
      add("info", "Operators, what is not supported, kernels, memory", [o] { return info(*o); });
  about->add_flag("--print", o->print, "print the graph that runs, too");
  about->add_flag("--passes", o->passes, "print the graph before all passes, and after each");
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
  sub = add("bench", "Run it on arrays, and measure", [o] { return run(*o, true); });
  with_arrays(sub);
  with_seconds(sub, before);
  sub->add_option("--runs", o->runs, "how often it is measured")
      ->check(whole<int>(1))
      ->capture_default_str();
  sub = add("save", "Write its kernels and packed weights to a file that runs without LLVM",
            [o] { return save(*o); });
  sub->add_option("--to", o->to, "the file, MODEL.twm")->required();
  with_seconds(sub, before);
  const auto with_targets = [&](CLI::App* to) {
    to->add_option("--target", o->targets,
                   "CPU to make code for, as host or x86-64-v3; several share the time")
        ->take_all();
  };
  with_targets(sub);
  sub = add("tune", "Tune its kernels and report", [o] { return tune(*o); });
  with_seconds(sub, "budget; default: " + support::general_text(tune_seconds, 3));
  with_targets(sub);
  with_seconds(add("report", "Time and share of each kernel", [o] { return report(*o); }), before);
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
