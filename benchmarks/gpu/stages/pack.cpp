#include "pack.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "../attention_workloads.hpp"
#include "../cases/box_functions.hpp"
#include "../cases/group_products.hpp"
#include "../cases/small_cases.hpp"
#include "../ceilings.hpp"
#include "../conformance.hpp"
#include "../corpus.hpp"
#include "../default_cases.hpp"
#include "../tensor_workloads.hpp"
#include "../workloads.hpp"
#include "../written.hpp"
#include "faults.hpp"

namespace gpu_pack {
namespace {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;
namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

void write_bytes(const fs::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out) throw argument_error("cannot write " + path.string());
}

double since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// Programs of a workload's space on a device: the default schedule, then drawn ones, each once.
class draw {
 public:
  draw(gpu_workloads::workload w, space::design_space list, const target::gpu& device)
      : what(std::move(w)), list_(std::move(list)), device_(device) {}

  gpu_workloads::workload what;
  int packed = 0;  // candidates in the folder
  int drawn = 0;   // and those that were left out

  schedule first() const { return search::default_schedule(what.function, list_, where(), 1); }
  /// Nothing when many draws in a row give nothing new.
  std::optional<schedule> next() {
    if (sketches_.empty()) sketches_ = list_.sketches(what.function, where(), 1);
    for (const std::uint64_t end = seed_ + 50; seed_ < end;) {
      const trace family = sketches_[++seed_ % sketches_.size()].trace().without_decisions();
      const auto c = search::replay(family, what.function, seed_, nullptr,
                                    [&](schedule& s) { list_.finish(s, where()); });
      if (c && seen_.insert(c->identity).second) return c->scheduled;
    }
    return std::nullopt;
  }

 private:
  space::context where() const { return {&device_, 1}; }

  space::design_space list_;
  const target::gpu& device_;
  std::vector<schedule> sketches_;
  std::set<support::hash128> seen_;
  std::uint64_t seed_ = 0;
};

class packing {
 public:
  packing(const fs::path& folder, const std::string& arch, const options& o)
      : folder_(folder), options_(o), device_(target::named_gpu(arch)) {
    for (const gpu_workloads::workload& w : gpu_workloads::full())
      draws_.emplace_back(w, space::default_gpu(), device_);
    for (const gpu_workloads::tensor_workload& w : gpu_workloads::tensor_workloads())
      draws_.emplace_back(w.what, w.space, device_);
    for (const gpu_workloads::workload& w : gpu_workloads::attention_workloads())
      draws_.emplace_back(w, space::default_gpu(), device_);
  }

  /// Kernels of the corpus and of written text.
  void kernels() {
    const auto add = [&](const std::string& name, const cu::program& p) {
      write_code(folder_, name, device_.name, cu::compile(p, device_).artifact);
    };
    const auto printed = [&](const gpu_corpus::entry& e) {
      return cu::print(pass::lower(e.scheduled, device_), device_);
    };
    for (const gpu_corpus::entry& e : gpu_corpus::small()) add(e.name + "_small", printed(e));
    for (const gpu_corpus::entry& e : gpu_corpus::large()) add(e.name, printed(e));
    for (gpu_corpus::entry& e : gpu_defaults::cases()) {
      e.scheduled = gpu_defaults::scheduled(e, device_);
      add(e.name + "_small", printed(e));
    }
    for (const gpu_corpus::entry& e : gpu_cases::small(&device_))
      add(e.name + "_small", printed(e));
    const gpu_corpus::entry summed = gpu_cases::summed_product();
    add(summed.name + "_small", printed(summed));
    for (const gpu_conformance::entry& e : gpu_conformance::all()) add(e.name, e.program);
    if (has_groups()) {
      for (const auto& functions : {gpu_conformance::of_groups(), gpu_conformance::box_functions()})
        for (const gpu_conformance::entry& e : functions) add(e.name, e.program);
      for (const gpu_corpus::entry& e : gpu_groups::small()) add(e.name + "_small", printed(e));
      for (const gpu_corpus::entry& e : gpu_groups::large()) add(e.name, printed(e));
      const gpu_corpus::entry boxed = gpu_corpus::boxed_matmul(128, 256, 320);
      add(boxed.name + "_small", printed(boxed));
    }
    for (const gpu_ceilings::entry& e : gpu_ceilings::all()) add(e.name, e.program);
    for (const gpu_faults::entry& e : gpu_faults::all()) add(e.name, e.program);
  }

  /// Schedules that were written for workloads, and what they are.
  void written() {
    std::vector<work> all;
    for (const gpu_written::entry& e : gpu_written::all())
      for (draw& d : draws_)
        if (d.what.name == e.workload && (has_groups() || !e.in_groups))
          all.push_back({&d, 0, e.make(d.what.function, {&device_, 1}), e.name});
    build(std::move(all), options_.patience, clock::time_point::max());
  }

  void defaults() {
    std::vector<work> all;
    for (draw& d : draws_) {
      try {
        all.push_back({&d, 0, d.first(), {}});
      } catch (const error& e) {
        leave_out(d, 0, e.what());
      }
    }
    build(std::move(all), options_.patience, clock::time_point::max());
  }

  /// A few more candidates of each workload that wants some: the dearest one holds up the others of its round.
  /// @returns whether any did
  bool another_round(clock::time_point end) {
    std::vector<work> all;
    for (draw& d : draws_) {
      if (d.packed + 1 >= options_.candidates || clock::now() > end) continue;
      if (std::optional<schedule> s = d.next())
        all.push_back({&d, d.packed + 1, std::move(*s), {}});
    }
    if (all.empty()) return false;
    build(std::move(all), options_.deadline, end);
    return true;
  }

  void report() const {
    for (const draw& d : draws_)
      std::printf("%s for %s: %d candidates beside the default\n", d.what.name.c_str(),
                  device_.name.c_str(), d.packed);
  }

 private:
  /// Whether the device multiplies in warp groups.
  bool has_groups() const { return device_.architecture == "sm_90a"; }

  struct work {
    draw* of;
    int number;
    schedule scheduled;
    std::string written;  // its name, where somebody wrote it
  };

  void leave_out(const draw& d, int number, const std::string& why) const {
    std::printf("%s for %s, %s: left out, %s\n", d.what.name.c_str(), device_.name.c_str(),
                number == 0 ? "the default schedule" : "a candidate",
                why.substr(0, why.find('\n')).c_str());
    std::fflush(stdout);
  }

  /// On all cores; what is not begun by `end` is not built.
  void build(std::vector<work> all, double deadline, clock::time_point end) const {
    std::vector<ir::function> programs;
    for (const work& w : all) programs.push_back(w.scheduled.function());
    const search::builder make = [&](const ir::function& f, const target::machine& where) {
      if (clock::now() < end) return search::build(f, where, deadline);
      search::built none;
      none.error = "no time is left";
      return none;
    };
    search::build_queue queue(std::move(programs), device_, {target::host().cores, 0}, make);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const clock::time_point begin = clock::now();
      const search::built b = queue.take(i);
      const work& w = all[i];
      if (!b) {
        leave_out(*w.of, w.number, w.written.empty() ? b.error : w.written + ": " + b.error);
        continue;
      }
      if (since(begin) > deadline)
        std::printf("%s for %s took %.1f s\n", w.of->what.name.c_str(), device_.name.c_str(),
                    since(begin));
      if (w.number > 0) ++w.of->packed;
      const std::string name = w.written.empty()
                                   ? candidate_name(w.of->what.name, w.number)
                                   : gpu_written::code_name({w.of->what.name, w.written, {}});
      write_code(folder_, name, device_.name, b.artifact);
      std::ofstream(trace_file(folder_, name, device_.name)) << w.scheduled.trace().print();
    }
  }

  const fs::path& folder_;
  const options& options_;
  target::gpu device_;
  std::vector<draw> draws_;
};

}  // namespace

std::vector<std::byte> read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw argument_error("cannot read " + path.string() + "; make a pack with: gpu_bench pack");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

fs::path code_file(const fs::path& folder, const std::string& name, const std::string& arch) {
  return folder / (name + "." + arch + ".kernel");
}

fs::path trace_file(const fs::path& folder, const std::string& name, const std::string& arch) {
  return folder / (name + "." + arch + ".trace");
}

std::string candidate_name(const std::string& workload, int i) {
  return workload + "." + std::to_string(i);
}

void write_code(const fs::path& folder, const std::string& name, const std::string& arch,
                const backend::artifact& code) {
  write_bytes(code_file(folder, name, arch), backend::serialize(code));
}

backend::artifact read_code(const fs::path& folder, const std::string& name,
                            const std::string& arch) {
  const std::vector<std::byte> bytes = read_bytes(code_file(folder, name, arch));
  return backend::deserialize(bytes.data(), bytes.size());
}

void make(const fs::path& folder, const fs::path& self, const options& o) {
  const clock::time_point begin = clock::now();
  const clock::time_point end =
      begin + std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * o.seconds));
  fs::create_directories(folder);
  for (const fs::directory_entry& f : fs::directory_iterator(folder))  // of an earlier pack
    if (f.path().extension() == ".kernel" || f.path().extension() == ".trace") fs::remove(f.path());
  for (const auto& entries :
       {gpu_conformance::all(), gpu_conformance::of_groups(), gpu_conformance::box_functions()})
    for (const gpu_conformance::entry& e : entries)
      write_bytes(folder / (e.name + ".expected"), gpu_conformance::on_host(e));
  fs::copy_file(self, folder / "gpu_bench", fs::copy_options::overwrite_existing);
  std::deque<packing> all;
  for (const std::string& arch : o.architectures) all.emplace_back(folder, arch, o);
  const auto step = [&](const char* what) {
    std::printf("%s: %.0f s\n", what, since(begin));
    std::fflush(stdout);
  };
  for (packing& p : all) p.kernels();
  step("kernels of the corpus, small cases and ceilings");
  for (packing& p : all) p.defaults();
  step("default schedules");
  for (packing& p : all) p.written();
  step("schedules written for workloads");
  for (packing& p : all)
    for (int round = 0; round < 2 * o.candidates && clock::now() < end; ++round)
      if (!p.another_round(end)) break;
  for (const packing& p : all) p.report();
  std::uintmax_t size = 0;
  for (const fs::directory_entry& f : fs::directory_iterator(folder)) size += f.file_size();
  std::printf("packed %.1f MB into %s in %.0f s\n", static_cast<double>(size) * 1e-6,
              folder.c_str(), since(begin));
}

}  // namespace gpu_pack
