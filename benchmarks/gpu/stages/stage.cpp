#include "stage.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <optional>
#include <utility>

#include <sys/wait.h>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

#include "../attention_workloads.hpp"
#include "../cases/small_cases.hpp"
#include "../default_cases.hpp"
#include "../tensor_workloads.hpp"
#include "call_cost.hpp"
#include "pack.hpp"
#include "packed_code.hpp"
#include "sessions.hpp"
#include "sum_check.hpp"
#include "worker_restart.hpp"

namespace gpu_stage {
namespace {

using namespace tilewright;
using gpu_case::fill_random;
using gpu_pack::candidate_name, gpu_pack::read_code;
using gpu_results::json_text, gpu_results::number;
using gpu_time::hang, gpu_time::median;
using round = gpu_time::device_clock::round;

/// Candidates of a workload that are checked and timed with care.
constexpr std::size_t most_to_check = 4;
constexpr const char* nothing_packed = "\"skipped\": \"the pack has no code of it\"";

std::string rates(double seconds, double operations, double bytes) {
  std::string out = number("seconds", seconds);
  if (operations > 0) out += ", " + number("gflops", operations / seconds * 1e-9);
  if (bytes > 0) out += ", " + number("gbytes_per_s", bytes / seconds * 1e-9);
  return out;
}

std::string compiler() {
  try {
    return cu::nvrtc_version();
  } catch (const build_error&) {
    return "missing";
  }
}

std::string clock_rates() {
  std::string out;
  std::FILE* const pipe = ::popen(
      "nvidia-smi --query-gpu=clocks.sm,clocks.mem,power.draw --format=csv,noheader 2>/dev/null",
      "r");
  if (!pipe) return out;
  char text[128];
  while (std::fgets(text, sizeof text, pipe)) out += text;
  ::pclose(pipe);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

}  // namespace

stage::stage(std::string name, std::filesystem::path pack, const std::filesystem::path& out,
             double seconds, std::vector<std::string> python)
    : pack_(std::move(pack)),
      traces_(out.parent_path() / "traces.txt"),
      records_(out.parent_path() / "records.db"),
      results_(out),
      end_(clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds))),
      duels_(device_, clock_, name == "hopper" ? "tensor" : std::move(name), std::move(python)) {
  arch_ = device_.description().name;
  // the pack has one binary for 8.x and one for 9.0
  if (arch_ != "sm_90a") arch_ = "sm_80";
}

// ---- stages ---------------------------------------------------------------------------------------

int stage::run_first() {
  describe_machine();
  for (const gpu_conformance::entry& e : gpu_conformance::all())
    once(e.name, [&] { return conform(e); });
  for (const gpu_corpus::entry& e : gpu_cases::small()) once(e.name, [&] { return verify(e); });
  once("random_sums", [&] {
    const auto name = gpu_cases::summed_product().name + "_small";
    const auto said = gpu_sums::on_device(device_, clock_, read_code(pack_, name, arch_));
    return verdict(said.fine) + ", " + said.fields;
  });
  for (const gpu_corpus::entry& e : gpu_corpus::small())
    once(e.name + "_small", [&] { return verify(e); });
  for (const gpu_corpus::entry& e : gpu_defaults::cases()) once(e.name, [&] { return verify(e); });
  for (const char* name : {"nothing", "illegal", "hang"})
    once(std::string("fault_") + name, [&] { return survives(name); });
  once("launch_cost", [&] { return launch_cost(); });
  measure_calls();
  for (const gpu_ceilings::entry& e : gpu_ceilings::all())
    if (e.name != "ceiling_nothing") once(e.name, [&] { return time_ceiling(e); });
  using gpu_cublas::element;
  for (const auto& [name, shape] :
       {std::pair<const char*, gpu_cublas::shape>{"f16_4096", {element::f16, 1, 4096, 4096, 4096}},
        {"f16_8192", {element::f16, 1, 8192, 8192, 8192}},
        {"tf32_4096", {element::tf32, 1, 4096, 4096, 4096}},
        {"f32_4096", {element::f32, 1, 4096, 4096, 4096}}})
    once(std::string("cublas_") + name, [&, s = shape] { return time_cublas(s); });
  once("noise", [&] { return noise(); });
  for (const gpu_corpus::entry& e : gpu_corpus::large())
    once(e.name, [&] { return time_entry(e); });
  return summary();
}

int stage::time_all(const std::vector<gpu_workloads::workload>& all) {
  describe_machine();
  for (const gpu_workloads::workload& w : all)
    if (wanted(w.name)) once(w.name, [&] { return time_candidates(w); });
  return summary();
}

int stage::run_f32() { return time_all(gpu_workloads::full()); }
int stage::run_attention() { return time_all(gpu_workloads::attention_workloads()); }
int stage::run_tensor() {
  std::vector<gpu_workloads::workload> all;
  for (gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
    all.push_back(std::move(w.what));
  return time_all(all);
}

int stage::run_tune(const tuning& how) {
  ::setenv("TILEWRIGHT_WORKER", how.program.c_str(), 1);
  describe_machine();
  const auto tuned = [&](const gpu_workloads::workload& w, const space::design_space& space) {
    if (!wanted(w.name)) return;
    const double seconds = std::min(how.seconds, seconds_left());
    if (seconds < how.seconds / 2 && !results_.has(w.name))
      ++left_;  // too little is left to find anything
    else
      once(w.name, [&] { return tune(w, space, seconds); });
  };
  for (const auto& [harmful, expected] :
       {std::pair<const char*, const char*>{"illegal", "fault"}, {"hang", "timeout"}})
    if (wanted(std::string("worker_after_") + harmful))
      once(std::string("worker_after_") + harmful,
           [&, h = harmful, e = expected] { return replace_worker(h, e); });
  for (const gpu_workloads::workload& w :
       how.small ? gpu_workloads::small() : gpu_workloads::full())
    tuned(w, space::default_gpu());
  if (!how.small) {
    for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
      tuned(w.what, w.space);
    for (const gpu_workloads::workload& w : gpu_workloads::attention_workloads())
      tuned(w, space::default_gpu());
  }
  return summary();
}

int stage::run_glance() {
  describe_machine();
  for (const gpu_workloads::workload& w : gpu_workloads::full())
    once(w.name, [&] { return glance_at(w); });
  for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
    once(w.what.name, [&] { return glance_at(w.what); });
  return summary();
}

int stage::summary() const {
  const int wrong = results_.print_table();
  std::printf("%d cases run, %d wrong in all, %d left for another run\n", run_, wrong, left_);
  return wrong ? 1 : 0;
}

void stage::describe_machine() {
  once("machine", [&] {
    char date[64];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    int driver = 0;
    cu::driver().DriverGetVersion(&driver);
    return "\"device\": " + json_text(device_.name()) + ", \"architecture\": " + json_text(arch_) +
           ", " + number("driver", driver) + ", \"date\": " + json_text(date) +
           ", \"nvrtc\": " + json_text(compiler()) + ", \"clocks\": " + json_text(clock_rates());
  });
}

bool stage::wanted(const std::string& name) const {
  return chosen_.empty() || support::contains(chosen_, name);
}

/// What is wrong stands in the line; a device that is lost for this process ends it.
void stage::once(const std::string& name, const std::function<std::string()>& f) {
  if (results_.has(name) || (!wanted(name) && name != "machine")) return;
  if (is_late()) {
    ++left_;
    return;
  }
  ++run_;
  try {
    return results_.add(name, f());
  } catch (const hang& e) {
    results_.add(name, "\"error\": " + json_text(e.what()));
    std::_Exit(device_lost);
  } catch (const error& e) {
    results_.add(name, "\"error\": " + json_text(e.what()));
  }
  try {
    device_.synchronize();
  } catch (const error&) {
    std::_Exit(device_lost);
  }
}

std::string stage::verdict(bool fine) {
  wrong_ += fine ? 0 : 1;
  return std::string("\"correct\": ") + (fine ? "true" : "false");
}

// ---- cases ----------------------------------------------------------------------------------------

std::string stage::conform(const gpu_conformance::entry& e) {
  const byte_list expected = gpu_pack::read_bytes(pack_ / (e.name + ".expected"));
  const cu::device_code code(device_, read_code(pack_, e.name, arch_));
  const cu::device_memory in(device_, e.input.size()), out(device_, e.output_bytes);
  device_.copy_in(in.get(), e.input.data(), e.input.size());
  device_.fill(out.get(), 0xff, e.output_bytes);
  void* data[] = {reinterpret_cast<void*>(in.get()), reinterpret_cast<void*>(out.get())};
  code.start(data, nullptr, 0);
  clock_.settle();
  byte_list got(e.output_bytes);
  device_.copy_out(got.data(), out.get(), got.size());
  const std::size_t wrong = gpu_conformance::wrong_elements(e, got, expected);
  return verdict(wrong == 0) + ", " + number("wrong_elements", static_cast<double>(wrong));
}

/// Against the interpreter, on three sets of inputs; what is written is poisoned first.
std::string stage::verify(const gpu_corpus::entry& e) {
  const cu::device_code code(device_, read_code(pack_, e.name + "_small", arch_));
  const cu::device_memory workspace(device_, static_cast<std::size_t>(code.workspace_bytes()));
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    case_memory memory(device_, e.written, 100 * seed, e.given);
    memory.interpret();
    memory.poison();
    code.start(memory.addresses().data(), nullptr, workspace.get());
    clock_.settle();
    worst = std::max(worst, memory.difference());
  }
  return verdict(worst <= e.tolerance) + ", " + number("max_rel_err", worst);
}

int stage::check(const std::vector<std::string>& names) {
  std::vector<gpu_corpus::entry> all = gpu_corpus::small();
  for (gpu_corpus::entry& e : gpu_defaults::cases()) all.push_back(std::move(e));
  for (gpu_corpus::entry& e : gpu_cases::small()) all.push_back(std::move(e));
  for (const std::string& name : names) {
    const auto e =
        std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.name == name; });
    if (e == all.end())
      throw argument_error("neither the corpus nor the small cases have one called " + name);
    std::printf("%s: %s\n", name.c_str(), verify(*e).c_str());
  }
  return wrong_ ? 1 : 0;
}

/// Checked at points, then timed.
std::string stage::time_entry(const gpu_corpus::entry& e) {
  const cu::device_code code(device_, read_code(pack_, e.name, arch_));
  const cu::device_memory workspace(device_, static_cast<std::size_t>(code.workspace_bytes()));
  case_memory memory(device_, e.written, 9);
  memory.poison();
  const std::vector<void*> data = memory.addresses();
  const auto start = [&](cu::stream_ref on) {
    code.start(data.data(), nullptr, workspace.get(), on);
  };
  start(nullptr);
  clock_.settle();
  const double off = memory.difference_in_double();
  const std::string checked =
      verdict(off <= e.tolerance) + ", " + number("max_rel_err", off) + ", " +
      number("outputs_in_sums", static_cast<double>(memory.outputs_in_sums()));
  if (!(off <= e.tolerance)) return checked;
  return checked + ", " + rates(clock_.seconds_of(start), e.operations, e.bytes);
}

std::string stage::time_ceiling(const gpu_ceilings::entry& e) const {
  const cu::device_code code(device_, read_code(pack_, e.name, arch_));
  byte_list host(e.input_bytes);
  fill_random(host, dtype::f32, 5);
  const cu::device_memory in(device_, e.input_bytes), out(device_, e.output_bytes);
  device_.copy_in(in.get(), host.data(), host.size());
  void* data[] = {reinterpret_cast<void*>(in.get()), reinterpret_cast<void*>(out.get())};
  return rates(clock_.seconds_of([&](cu::stream_ref on) { code.start(data, nullptr, 0, on); }),
               e.operations, e.bytes);
}

/// Each of the library's algorithms, and the fastest of them once more.
std::string stage::time_cublas(const gpu_cublas::shape& s) const {
  using gpu_cublas::element;
  std::optional<gpu_cublas::product> product;
  try {
    product.emplace(device_, s);
  } catch (const build_error& e) {
    return "\"skipped\": " + json_text(e.what());
  }
  const dtype type = s.type == element::f16    ? dtype::f16
                     : s.type == element::bf16 ? dtype::bf16
                     : s.type == element::i8   ? dtype::i8
                                               : dtype::f32;
  const auto elements = [&](int a, int b) {
    return static_cast<std::size_t>(s.batch) * static_cast<std::size_t>(a) *
           static_cast<std::size_t>(b);
  };
  byte_list a(elements(s.m, s.k) * static_cast<std::size_t>(bytes(type))),
      b(elements(s.k, s.n) * static_cast<std::size_t>(bytes(type)));
  fill_random(a, type, 3);
  fill_random(b, type, 4);
  const cu::device_memory left(device_, a.size()), right(device_, b.size()),
      out(device_, 4 * elements(s.m, s.n));
  device_.copy_in(left.get(), a.data(), a.size());
  device_.copy_in(right.get(), b.data(), b.size());
  void* const data[] = {reinterpret_cast<void*>(left.get()), reinterpret_cast<void*>(right.get()),
                        reinterpret_cast<void*>(out.get())};
  const std::vector<gpu_time::starter> all = gpu_duels::starters_of(*product, data);
  return number("algorithms", static_cast<double>(all.size())) + ", " +
         rates(clock_.seconds_of(all[gpu_time::fastest_of(clock_, all)]),
               2.0 * s.batch * s.m * s.n * s.k, 0);
}

/// All packed candidates at a glance; nothing is checked.
std::string stage::glance_at(const gpu_workloads::workload& w) {
  const gpu_candidates::packed_code packed(device_, pack_, w.name, arch_);
  if (packed.numbers().empty()) return nothing_packed;
  const case_memory memory(device_, w.function, 13);
  const auto seen = packed.look_at_all(clock_, memory.addresses(), [&] { return is_late(); });
  return number("candidates", static_cast<double>(seen.size())) + ", " +
         rates(seen.front().seconds, w.operations, w.bytes) +
         ", \"microseconds_at_a_glance\": " + json_text(gpu_candidates::text(seen));
}

/// Every packed candidate, checked at points and timed; the fastest right one counts. Of many, the fastest few at
/// a glance.
std::string stage::time_candidates(const gpu_workloads::workload& w) {
  const gpu_candidates::packed_code packed(device_, pack_, w.name, arch_);
  if (packed.numbers().empty()) return nothing_packed;
  case_memory memory(device_, w.function, 13);
  const std::vector<void*> data = memory.addresses();
  // beyond what rounding may do; that of factors adds up like a random walk
  const double tolerance = 1e-5 + 2 * w.rounding * std::sqrt(w.terms);
  double best = 0, first = 0, worst = 0;
  int count = 0, right = 0, winner = -1;
  std::vector<int> chosen = packed.numbers();
  std::string glances;
  if (chosen.size() > most_to_check) {
    const auto seen = packed.look_at_all(clock_, data, [&] { return is_late(); });
    glances = ", \"microseconds_at_a_glance\": " + json_text(gpu_candidates::text(seen));
    chosen.clear();
    for (const gpu_candidates::glance& g : seen) {
      if (g.number == 0) first = g.seconds;
      if (chosen.size() < most_to_check) chosen.push_back(g.number);
    }
  }
  for (const int i : chosen) {
    if (count > 0 && is_late()) break;
    ++count;
    const auto code = packed.load(i);
    const gpu_time::starter start = code->starter(data);
    memory.poison();
    start(nullptr);
    clock_.settle();
    const double off = memory.difference_in_double();
    worst = std::max(worst, off);
    if (!(off <= tolerance)) continue;
    ++right;
    const double seconds = clock_.seconds_of(start);
    if (i == 0) first = seconds;
    if (best > 0 && seconds >= best) continue;
    best = seconds;
    winner = i;
  }
  std::string out = verdict(right == count) + ", " + number("max_rel_err", worst) + ", " +
                    number("outputs_in_sums", static_cast<double>(memory.outputs_in_sums())) +
                    ", " + number("candidates", count) + ", " + number("right", right) + glances;
  if (winner < 0) return out;
  out += ", " + number("fastest", winner) + ", " + number("default_seconds", first) + ", " +
         rates(best, w.operations, w.bytes);
  const auto left = [&] { return seconds_left(); };
  out += duels_.against_written(w, memory, packed, tolerance, left);
  const auto code = packed.load(winner);
  return out + duels_.against_all(w, memory, code->starter(data), left);
}

/// What a start costs the calling thread, and what the device needs for one that does nothing.
std::string stage::launch_cost() const {
  const cu::device_code code(device_, read_code(pack_, "ceiling_nothing", arch_));
  const cu::device_memory memory(device_, 1024);
  void* data[] = {reinterpret_cast<void*>(memory.get()), reinterpret_cast<void*>(memory.get())};
  constexpr int starts = 1000;
  std::vector<double> host;
  for (int r = 0; r < 10; ++r) {
    const auto begin = clock::now();
    for (int i = 0; i < starts; ++i) code.start(data, nullptr, 0);
    host.push_back(std::chrono::duration<double>(clock::now() - begin).count() / starts);
    clock_.settle();
  }
  const round some(
      clock_, [&](cu::stream_ref on) { code.start(data, nullptr, 0, on); }, starts);
  return number("host_seconds", median(host)) + ", " + number("device_seconds", some.seconds());
}

/// One kernel against itself, in turns: how far apart two equal things are.
std::string stage::noise() const {
  const gpu_corpus::entry e = gpu_corpus::large().front();
  const cu::device_code first(device_, read_code(pack_, e.name, arch_)),
      second(device_, read_code(pack_, e.name, arch_));
  const case_memory memory(device_, e.written, 11);
  const std::vector<void*> data = memory.addresses();
  const auto starter = [&](const cu::device_code& code) {
    return [&](cu::stream_ref on) { code.start(data.data(), nullptr, 0, on); };
  };
  const round one(clock_, starter(first), 20), other(clock_, starter(second), 20);
  std::vector<double> ratios;
  for (int r = 0; r < 9; ++r) ratios.push_back(one.seconds() / other.seconds());
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return number("median_ratio", median(ratios)) + ", " + number("least", *least) + ", " +
         number("most", *most);
}

/// Calls of a kernel beside its launches; each is a case of its own.
void stage::measure_calls() {
  const auto said = [&](const gpu_calls::result& r) { return verdict(r.fine) + ", " + r.fields; };
  once("call_cost", [&] { return said(gpu_calls::against_launches(device_, clock_)); });
  once("call_in_graph", [&] { return said(gpu_calls::in_graph(device_, clock_)); });
  once("call_memory", [&] { return said(gpu_calls::memory_after(device_, clock_, 100000)); });
}

// ---- tuning ---------------------------------------------------------------------------------------

std::string stage::replace_worker(const std::string& harmful, const std::string& expected) {
  constexpr double deadline = 1;  // s
  const gpu_workers::restart r =
      gpu_workers::restart_after(read_code(pack_, "fault_" + harmful, arch_),
                                 read_code(pack_, "ceiling_nothing", arch_), expected, deadline);
  return verdict(r.fine) + ", " + r.fields;
}

/// The code that a session finds becomes a candidate of the pack, which the other stages check and time.
std::string stage::tune(const gpu_workloads::workload& w, const space::design_space& space,
                        double seconds) {
  constexpr std::uint64_t seed = 42;
  const gpu_sessions::session s =
      gpu_sessions::run(w, space, device_.description(), seconds, seed, records_.string());
  gpu_pack::write_code(pack_, candidate_name(w.name, gpu_pack::tuned_candidate), arch_, s.code);
  std::ofstream(traces_, std::ios::app) << "# " << w.name << "\n" << s.trace << "\n";
  std::string rate;
  if (w.operations > 0) rate += ", " + number("gflops", w.operations / s.seconds * 1e-9);
  if (w.bytes > 0) rate += ", " + number("gbytes_per_s", w.bytes / s.seconds * 1e-9);
  return s.fields + rate;
}

// ---- faults ---------------------------------------------------------------------------------------

void stage::fault(const std::string& name) {
  const std::string code_name = name == "nothing" ? "ceiling_nothing" : "fault_" + name;
  const cu::device_code code(device_, read_code(pack_, code_name, arch_));
  const cu::device_memory in(device_, 4096), out(device_, 4096);
  device_.fill(in.get(), 0, 4096);
  void* data[] = {reinterpret_cast<void*>(in.get()), reinterpret_cast<void*>(out.get())};
  code.start(data, nullptr, 0);
  try {
    clock_.settle(3);
  } catch (const error& e) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
    std::_Exit(device_lost);
  }
}

/// Another process starts the kernel; this one's device works afterwards.
std::string stage::survives(const std::string& name) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "'" + self + "' fault " + name + " --pack '" + pack_.string() + "' >/dev/null 2>&1";
  const auto begin = clock::now();
  const int status = std::system(command.c_str());
  const std::chrono::duration<double> took = clock::now() - begin;
  const int ended = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  const gpu_conformance::entry after = gpu_conformance::all().front();
  return verdict(ended == (name == "nothing" ? 0 : device_lost)) + ", " + number("status", ended) +
         ", " + number("process_seconds", took.count()) + ", \"afterwards\": {" + conform(after) +
         "}";
}

}  // namespace gpu_stage
