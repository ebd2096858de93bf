// What can be said about kernels on a GPU only with a GPU, on a machine that has nothing else:
//
//   gpu_bench pack FOLDER                       compiles everything for sm_80 and sm_90a into FOLDER,
//                                               `--candidates N` of each workload, 4 unless said
//   gpu_bench first --pack FOLDER --out FILE    runs the stage; each result is a JSON line at once
//   gpu_bench f32 --pack FOLDER --out FILE      the same for the workloads of the paper, products and
//                                               kernels bound by memory
//   gpu_bench tensor --pack FOLDER --out FILE   the same for products on tensor cores and the paper's
//                                               fused dense with one rule after the other
//   gpu_bench check NAME --pack FOLDER          one case, for compute-sanitizer
//
// Cases whose line stands in FILE already are not run again; `--seconds N` is a deadline. Without a GPU
// the stage says "skipped: no GPU" and why.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/target/gpu.hpp>

#include "candidates.hpp"
#include "ceilings.hpp"
#include "conformance.hpp"
#include "corpus.hpp"
#include "result_file.hpp"
#include "tensor_workloads.hpp"
#include "workloads.hpp"

namespace {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;
namespace fs = std::filesystem;
using byte_list = std::vector<std::byte>;
using gpu_results::json_text, gpu_results::number, gpu_results::result_file;

constexpr const char* architectures[] = {"sm_80", "sm_90a"};

// ---- files ----------------------------------------------------------------------------------------

byte_list read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw argument_error("cannot read " + path.string() + "; make a pack with: gpu_bench pack");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  byte_list out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

void write_bytes(const fs::path& path, const byte_list& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out) throw argument_error("cannot write " + path.string());
}

backend::artifact read_code(const fs::path& pack, const std::string& name,
                            const std::string& arch) {
  const byte_list bytes = read_bytes(pack / (name + "." + arch + ".kernel"));
  return backend::deserialize(bytes.data(), bytes.size());
}

// ---- pack -----------------------------------------------------------------------------------------

void pack_code(const fs::path& folder, const std::string& name, const target::gpu& device,
               const cu::program& p) {
  write_bytes(folder / (name + "." + device.name + ".kernel"),
              backend::serialize(cu::compile(p, device).artifact));
}

std::string candidate_name(const std::string& workload, std::size_t i) {
  return workload + "." + std::to_string(i);
}

void pack_workload(const fs::path& folder, const target::gpu& device, int count,
                   const gpu_workloads::workload& w, const space::design_space& space) {
  const std::vector<backend::artifact> all = gpu_candidates::of(w, device, count, space);
  for (std::size_t i = 0; i < all.size(); ++i)
    write_bytes(folder / (candidate_name(w.name, i) + "." + device.name + ".kernel"),
                backend::serialize(all[i]));
  std::printf("%s for %s: %zu candidates\n", w.name.c_str(), device.name.c_str(), all.size());
  std::fflush(stdout);
}

void pack_workloads(const fs::path& folder, const target::gpu& device, int count) {
  for (const gpu_workloads::workload& w : gpu_workloads::full())
    pack_workload(folder, device, count, w, space::default_gpu());
  for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
    pack_workload(folder, device, count, w.what, w.space);
}

int pack(const fs::path& folder, const fs::path& self, int candidates) {
  fs::create_directories(folder);
  for (const char* arch : architectures) {
    const target::gpu device = target::named_gpu(arch);
    for (const gpu_corpus::entry& e : gpu_corpus::small())
      pack_code(folder, e.name + "_small", device,
                cu::print(pass::lower(e.scheduled, device), device));
    for (const gpu_corpus::entry& e : gpu_corpus::large())
      pack_code(folder, e.name, device, cu::print(pass::lower(e.scheduled, device), device));
    for (const gpu_conformance::entry& e : gpu_conformance::all())
      pack_code(folder, e.name, device, e.program);
    for (const gpu_ceilings::entry& e : gpu_ceilings::all())
      pack_code(folder, e.name, device, e.program);
    pack_workloads(folder, device, candidates);
  }
  for (const gpu_conformance::entry& e : gpu_conformance::all())
    write_bytes(folder / (e.name + ".expected"), gpu_conformance::on_host(e));
  fs::copy_file(self, folder / "gpu_bench", fs::copy_options::overwrite_existing);
  std::uintmax_t size = 0;
  for (const fs::directory_entry& f : fs::directory_iterator(folder)) size += f.file_size();
  std::printf("packed %.1f MB into %s\n", static_cast<double>(size) * 1e-6, folder.c_str());
  return 0;
}

// ---- cases ----------------------------------------------------------------------------------------

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

/// Memory of one parameter on the host and on the device.
struct argument {
  dtype type = dtype::f32;
  byte_list host;
  cu::device_memory device;
};

std::size_t bytes_of(const ir::buffer& b) {
  std::size_t out = static_cast<std::size_t>(bytes(b->type));
  for (const ir::expr& e : b->shape) out *= static_cast<std::size_t>(e->integer);
  return out;
}

/// Values in [-1, 1), of bytes any: never zeros, on which a device draws less power.
void fill_random(byte_list& bytes, dtype type, std::uint64_t seed) {
  support::random draw(seed);
  const auto fill = [&](const auto& make) {
    for (std::size_t i = 0; i < bytes.size();) {
      const auto x = make();
      std::memcpy(&bytes[i], &x, sizeof x);
      i += sizeof x;
    }
  };
  const auto unit = [&] { return static_cast<float>(2 * draw.unit() - 1); };
  switch (type) {
    case dtype::f32: return fill(unit);
    case dtype::f16: return fill([&] { return float16(unit()); });
    case dtype::bf16: return fill([&] { return bfloat16(unit()); });
    case dtype::i8: return fill([&] { return static_cast<std::int8_t>(draw.next()); });
    default: return;
  }
}

class stage {
 public:
  stage(fs::path pack, const fs::path& out, double seconds)
      : pack_(std::move(pack)),
        results_(out),
        end_(clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds))) {
    arch_ = device_.description().name;
    // the pack has one binary for 8.x and one for 9.0
    if (arch_ != "sm_90a") arch_ = "sm_80";
  }

  int run_first() {
    describe_machine();
    for (const gpu_conformance::entry& e : gpu_conformance::all())
      once(e.name, [&] { return conform(e); });
    for (const gpu_corpus::entry& e : gpu_corpus::small())
      once(e.name + "_small", [&] { return verify(e); });
    once("launch_cost", [&] { return launch_cost(); });
    for (const gpu_ceilings::entry& e : gpu_ceilings::all())
      if (e.name != "ceiling_nothing") once(e.name, [&] { return time_ceiling(e); });
    once("noise", [&] { return noise(); });
    for (const gpu_corpus::entry& e : gpu_corpus::large())
      once(e.name, [&] { return time_entry(e); });
    return summary();
  }

  int run_f32() {
    describe_machine();
    for (const gpu_workloads::workload& w : gpu_workloads::full())
      once(w.name, [&] { return time_candidates(w); });
    return summary();
  }

  int run_tensor() {
    describe_machine();
    for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
      once(w.what.name, [&] { return time_candidates(w.what); });
    return summary();
  }

 private:
  using clock = std::chrono::steady_clock;

  int summary() const {
    std::printf("%d cases run, %d wrong, %d left for another run\n", run_, wrong_, left_);
    return wrong_ ? 1 : 0;
  }

  void describe_machine() {
    char date[64];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    int driver = 0;
    cu::driver().DriverGetVersion(&driver);
    once("machine", [&] {
      return "\"device\": " + json_text(device_.name()) +
             ", \"architecture\": " + json_text(arch_) + ", " + number("driver", driver) +
             ", \"date\": " + json_text(date) + ", \"nvrtc\": " + json_text(compiler());
    });
  }

 public:
  /// One small case of the corpus; what compute-sanitizer watches.
  int check(const std::string& name) {
    for (const gpu_corpus::entry& e : gpu_corpus::small())
      if (e.name == name) {
        std::printf("%s: %s\n", name.c_str(), verify(e).c_str());
        return wrong_ ? 1 : 0;
      }
    throw argument_error("the corpus has no case " + name);
  }

 private:
  void once(const std::string& name, const std::function<std::string()>& f) {
    if (results_.has(name)) return;
    if (clock::now() > end_) {
      ++left_;
      return;
    }
    ++run_;
    try {
      results_.add(name, f());
    } catch (const error& e) {
      ++wrong_;
      results_.add(name, "\"error\": " + json_text(e.what()));
    }
  }

  static std::string compiler() {
    try {
      return cu::nvrtc_version();
    } catch (const build_error&) {
      return "missing";
    }
  }

  std::string verdict(bool fine) {
    wrong_ += fine ? 0 : 1;
    return std::string("\"correct\": ") + (fine ? "true" : "false");
  }

  std::string conform(const gpu_conformance::entry& e) {
    const byte_list expected = read_bytes(pack_ / (e.name + ".expected"));
    const cu::device_code code(device_, read_code(pack_, e.name, arch_));
    const cu::device_memory in(device_, e.input.size()), out(device_, e.output_bytes);
    device_.copy_in(in.get(), e.input.data(), e.input.size());
    device_.fill(out.get(), 0xff, e.output_bytes);
    void* data[] = {reinterpret_cast<void*>(in.get()), reinterpret_cast<void*>(out.get())};
    code.start(data, nullptr, 0);
    device_.synchronize();
    byte_list got(e.output_bytes);
    device_.copy_out(got.data(), out.get(), got.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] == expected[i] ? 0 : 1;
    return verdict(wrong == 0 && got.size() == expected.size()) + ", " +
           number("wrong_bytes", static_cast<double>(wrong));
  }

  std::vector<argument> arguments(const ir::function& f, std::uint64_t seed) const {
    std::vector<argument> out;
    for (const ir::param& p : f.params) {
      const std::size_t size = bytes_of(p.buffer);
      out.push_back({p.buffer->type, byte_list(size), cu::device_memory(device_, size)});
      fill_random(out.back().host, p.buffer->type, seed++);
      device_.copy_in(out.back().device.get(), out.back().host.data(), size);
    }
    return out;
  }

  static std::vector<void*> addresses(const std::vector<argument>& all) {
    std::vector<void*> out;
    for (const argument& a : all) out.push_back(reinterpret_cast<void*>(a.device.get()));
    return out;
  }

  /// Against the interpreter, on three sets of inputs; what is written is poisoned first.
  std::string verify(const gpu_corpus::entry& e) {
    const cu::device_code code(device_, read_code(pack_, e.name + "_small", arch_));
    const cu::device_memory workspace(device_, static_cast<std::size_t>(code.workspace_bytes()));
    const pass::buffer_set written = pass::stored_buffers(e.written.body);
    double worst = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      std::vector<argument> all = arguments(e.written, 100 * seed);
      std::vector<ir::tensor_view> views;
      for (argument& a : all) views.push_back({a.host.data(), {}});
      ir::interpret(e.written, views);
      for (std::size_t i = 0; i < all.size(); ++i)
        if (written.count(e.written.params[i].buffer))
          device_.fill(all[i].device.get(), 0xff, all[i].host.size());
      code.start(addresses(all).data(), nullptr, workspace.get());
      device_.synchronize();
      for (const argument& a : all) {
        byte_list got(a.host.size());
        device_.copy_out(got.data(), a.device.get(), got.size());
        worst = std::max(worst, difference(a.type, got, a.host));
      }
    }
    return verdict(worst <= e.tolerance) + ", " + number("max_rel_err", worst);
  }

  static double difference(dtype type, const byte_list& a, const byte_list& b) {
    if (type != dtype::f32) return a == b ? 0 : INFINITY;
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); i += sizeof(float)) {
      float x, y;
      std::memcpy(&x, &a[i], sizeof x);
      std::memcpy(&y, &b[i], sizeof y);
      const double d = std::abs(static_cast<double>(x) - static_cast<double>(y)) /
                       (1 + std::abs(static_cast<double>(y)));
      worst = std::isnan(d) ? INFINITY : std::max(worst, d);
    }
    return worst;
  }

  /// Seconds of one run: medians of 7 rounds of as many runs as take 20 ms, after 50 ms of others.
  double seconds_of(const cu::device_code& code, void* const* data,
                    cu::device_pointer workspace) const {
    code.time(data, nullptr, workspace, 3);
    const double one = std::max(code.time(data, nullptr, workspace, 3) / 3, 1e-7);
    const int count = std::clamp(static_cast<int>(0.02 / one), 1, 1000);
    code.time(data, nullptr, workspace, std::clamp(static_cast<int>(0.05 / one), 1, 1000));
    std::vector<double> rounds;
    for (int r = 0; r < 7; ++r)
      rounds.push_back(code.time(data, nullptr, workspace, count) / count);
    return median(rounds);
  }

  static std::string rates(double seconds, double operations, double bytes) {
    std::string out = number("seconds", seconds);
    if (operations > 0) out += ", " + number("gflops", operations / seconds * 1e-9);
    if (bytes > 0) out += ", " + number("gbytes_per_s", bytes / seconds * 1e-9);
    return out;
  }

  std::string time_ceiling(const gpu_ceilings::entry& e) {
    const cu::device_code code(device_, read_code(pack_, e.name, arch_));
    byte_list host(e.input_bytes);
    fill_random(host, dtype::f32, 5);
    const cu::device_memory in(device_, e.input_bytes), out(device_, e.output_bytes);
    device_.copy_in(in.get(), host.data(), host.size());
    void* data[] = {reinterpret_cast<void*>(in.get()), reinterpret_cast<void*>(out.get())};
    return rates(seconds_of(code, data, 0), e.operations, e.bytes);
  }

  /// Largest difference from f64 at 64 points of each output, relative to 1 + |value|, beyond what
  /// rounding may do.
  double spot_difference(const ir::function& f, std::vector<argument>& all) const {
    const pass::buffer_set written = pass::stored_buffers(f.body);
    std::vector<ir::tensor_view> views;
    for (argument& a : all) views.push_back({a.host.data(), {}});
    ir::point_evaluator points(f, views, 200'000'000);
    support::random draw(17);
    double worst = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const ir::buffer& b = f.params[i].buffer;
      if (!written.count(b)) continue;
      byte_list got(all[i].host.size());
      device_.copy_out(got.data(), all[i].device.get(), got.size());
      for (int n = 0; n < 64; ++n) {
        std::vector<std::int64_t> index;
        std::int64_t at = 0;
        for (const ir::expr& extent : b->shape) {
          index.push_back(
              static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(extent->integer))));
          at = at * extent->integer + index.back();
        }
        const std::optional<ir::point_value> right = points.value(i, index);
        if (!right) return INFINITY;
        const double value = value_at(got, b->type, static_cast<std::size_t>(at));
        const double off = std::max(0.0, std::abs(value - right->value) - right->error);
        worst = std::isnan(off) ? INFINITY : std::max(worst, off / (1 + std::abs(right->value)));
      }
    }
    return worst;
  }

  static double value_at(const byte_list& memory, dtype type, std::size_t at) {
    const std::byte* place = &memory[at * static_cast<std::size_t>(bytes(type))];
    switch (type) {
      case dtype::f16: return static_cast<double>(static_cast<float>(read<float16>(place)));
      case dtype::bf16: return static_cast<double>(static_cast<float>(read<bfloat16>(place)));
      case dtype::f32: return static_cast<double>(read<float>(place));
      default: return static_cast<double>(read<std::int32_t>(place));
    }
  }

  template <class T>
  static T read(const std::byte* at) {
    T out;
    std::memcpy(&out, at, sizeof out);
    return out;
  }

  void poison(const ir::function& f, const std::vector<argument>& all) const {
    const pass::buffer_set written = pass::stored_buffers(f.body);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (written.count(f.params[i].buffer))
        device_.fill(all[i].device.get(), 0xff, all[i].host.size());
  }

  /// Every packed candidate, checked at points and timed; the fastest right one counts.
  std::string time_candidates(const gpu_workloads::workload& w) {
    std::vector<argument> all = arguments(w.function, 13);
    const std::vector<void*> data = addresses(all);
    const double tolerance = 1e-5;  // beyond what rounding may do
    double best = 0, first = 0, worst = 0;
    std::size_t count = 0, right = 0, winner = 0;
    for (; fs::exists(pack_ / (candidate_name(w.name, count) + "." + arch_ + ".kernel")); ++count) {
      const cu::device_code code(device_, read_code(pack_, candidate_name(w.name, count), arch_));
      const cu::device_memory workspace(device_, static_cast<std::size_t>(code.workspace_bytes()));
      poison(w.function, all);
      code.start(data.data(), nullptr, workspace.get());
      device_.synchronize();
      const double off = spot_difference(w.function, all);
      worst = std::max(worst, off);
      if (!(off <= tolerance)) continue;
      ++right;
      const double seconds = seconds_of(code, data.data(), workspace.get());
      if (count == 0) first = seconds;
      if (best > 0 && seconds >= best) continue;
      best = seconds;
      winner = count;
    }
    if (count == 0) throw argument_error("the pack has no code of " + w.name + "; pack it again");
    std::string out = verdict(right == count) + ", " + number("max_rel_err", worst) + ", " +
                      number("candidates", static_cast<double>(count)) + ", " +
                      number("right", static_cast<double>(right));
    if (best > 0)
      out += ", " + number("fastest", static_cast<double>(winner)) + ", " +
             number("default_seconds", first) + ", " + rates(best, w.operations, w.bytes);
    return out;
  }

  /// Checked at points, then timed.
  std::string time_entry(const gpu_corpus::entry& e) {
    const cu::device_code code(device_, read_code(pack_, e.name, arch_));
    const cu::device_memory workspace(device_, static_cast<std::size_t>(code.workspace_bytes()));
    std::vector<argument> all = arguments(e.written, 9);
    poison(e.written, all);
    const std::vector<void*> data = addresses(all);
    code.start(data.data(), nullptr, workspace.get());
    device_.synchronize();
    const double off = spot_difference(e.written, all);
    const std::string checked = verdict(off <= e.tolerance) + ", " + number("max_rel_err", off);
    if (off > e.tolerance) return checked;
    return checked + ", " +
           rates(seconds_of(code, data.data(), workspace.get()), e.operations, e.bytes);
  }

  /// What a start costs the calling thread, and what the device needs for one that does nothing.
  std::string launch_cost() {
    const cu::device_code code(device_, read_code(pack_, "ceiling_nothing", arch_));
    const cu::device_memory memory(device_, 1024);
    void* data[] = {reinterpret_cast<void*>(memory.get()), reinterpret_cast<void*>(memory.get())};
    constexpr int starts = 1000;
    std::vector<double> host;
    for (int round = 0; round < 10; ++round) {
      const auto begin = clock::now();
      for (int i = 0; i < starts; ++i) code.start(data, nullptr, 0);
      host.push_back(std::chrono::duration<double>(clock::now() - begin).count() / starts);
      device_.synchronize();
    }
    return number("host_seconds", median(host)) + ", " +
           number("device_seconds", code.time(data, nullptr, 0, starts) / starts);
  }

  /// One kernel against itself, in turns: how far apart two equal things are.
  std::string noise() {
    const gpu_corpus::entry e = gpu_corpus::large().front();
    const cu::device_code first(device_, read_code(pack_, e.name, arch_)),
        second(device_, read_code(pack_, e.name, arch_));
    const std::vector<argument> all = arguments(e.written, 11);
    const std::vector<void*> data = addresses(all);
    std::vector<double> ratios;
    for (int round = 0; round < 9; ++round)
      ratios.push_back(first.time(data.data(), nullptr, 0, 20) /
                       second.time(data.data(), nullptr, 0, 20));
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    return number("median_ratio", median(ratios)) + ", " + number("least", *least) + ", " +
           number("most", *most);
  }

  fs::path pack_;
  result_file results_;
  clock::time_point end_;
  cu::device device_;
  std::string arch_;
  int run_ = 0, wrong_ = 0, left_ = 0;
};

int usage() {
  std::fprintf(stderr,
               "usage: gpu_bench pack FOLDER [--candidates 4]\n"
               "       gpu_bench first|f32|tensor --pack FOLDER --out FILE [--seconds 540]\n"
               "       gpu_bench check NAME --pack FOLDER\n");
  return 2;
}

int start(const std::vector<std::string>& words, const fs::path& self) {
  if (words.size() < 2) return usage();
  fs::path folder = ".", out = "results/" + words[0] + ".jsonl";
  double seconds = 540;
  int candidates = 4;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i] == "--pack") folder = words[i + 1];
    if (words[i] == "--out") out = words[i + 1];
    if (words[i] == "--seconds") seconds = std::stod(words[i + 1]);
    if (words[i] == "--candidates") candidates = std::max(std::stoi(words[i + 1]), 1);
  }
  if (words[0] == "pack") return pack(words[1], self, candidates);
  std::optional<stage> s;
  try {
    s.emplace(folder, out, seconds);
  } catch (const build_error& e) {
    std::printf("skipped: no GPU (%s)\n", e.what());
    return 0;
  }
  if (words[0] == "first") return s->run_first();
  if (words[0] == "f32") return s->run_f32();
  if (words[0] == "tensor") return s->run_tensor();
  if (words[0] == "check") return s->check(words[1]);
  return usage();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return start({argv + 1, argv + argc}, fs::read_symlink("/proc/self/exe"));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_bench: %s\n", e.what());
    return 4;
  }
}
