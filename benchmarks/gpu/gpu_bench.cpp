// What can be said about kernels on a GPU only with a GPU, on a machine that has nothing else:
//
//   gpu_bench pack FOLDER                       compiles everything for sm_90a and sm_80 into FOLDER:
//                                               `--candidates N` of each workload, 4 unless said, as many
//                                               as are compiled in `--pack-seconds S`, 600 unless said;
//                                               `--architectures sm_90a` for one alone
//   gpu_bench first --pack FOLDER --out FILE    runs the stage; each result is a JSON line at once
//   gpu_bench f32 --pack FOLDER --out FILE      the same for the workloads of the paper, products and
//                                               kernels bound by memory
//   gpu_bench tensor --pack FOLDER --out FILE   the same for products on tensor cores and the paper's
//                                               fused dense with one rule after the other
//   gpu_bench attention --pack FOLDER --out FILE
//                                               the same for attention in one kernel
//   gpu_bench hopper --pack FOLDER --out FILE   of sm_90a: products of warp groups, functions for its copy engine, and
//                                               products whose operands that brings
//   gpu_bench glance --pack FOLDER --out FILE   short times of all candidates of both, unchecked
//   gpu_bench tune --pack FOLDER --out FILE     tunes the workloads of both here, `--tune-seconds N` each, 12
//                                               unless said, or `--only NAME,NAME`; what is found is a
//                                               candidate more in FOLDER. `--small`: where they can be emulated
//   gpu_bench worker                            what such a session starts to run its candidates
//   gpu_bench check NAME,NAME --pack FOLDER     small cases of first, for compute-sanitizer
//   gpu_bench fault NAME --pack FOLDER          a kernel that misbehaves: illegal, hang; or nothing
//
// With `--only NAME,NAME` f32, tensor and attention do these cases alone.
// With `--peers SCRIPT` (tools/gpu_peers.py) these time PyTorch and Triton in turns with ours.
// Cases whose line stands in FILE already are not run again; `--seconds N` is a deadline. Without a GPU
// a stage says "skipped: no GPU" and why. Exit status 5: the device is lost for this process, and another one
// goes on with the next case.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/search/measurement/worker_owner.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/support/error.hpp>

#include "stages/pack.hpp"
#include "stages/stage.hpp"

namespace {

namespace fs = std::filesystem;

int gpu_bench_usage() {
  std::fprintf(stderr,
               "usage: gpu_bench pack FOLDER [--candidates 4] [--pack-seconds 600] "
               "[--architectures sm_90a,sm_80]\n"
               "       gpu_bench first|f32|tensor|attention|hopper|glance --pack FOLDER --out FILE "
               "[--seconds 540] "
               "[--peers gpu_peers.py] [--only NAME,NAME]\n"
               "       gpu_bench tune --pack FOLDER --out FILE [--seconds 540] [--tune-seconds 12] "
               "[--only NAME,NAME] [--small]\n"
               "       gpu_bench check NAME,NAME --pack FOLDER\n"
               "       gpu_bench fault illegal|hang|nothing --pack FOLDER\n");
  return 2;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == ',')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

/// Candidates of the process that started this one.
int work() {
  using namespace tilewright::search;
  if (!detail::has_worker_owner()) return gpu_bench_usage();
  detail::end_with_worker_owner();
  return serve_worker(worker_connection, worker_memory) ? 0 : 1;
}

int start_gpu_bench(const std::vector<std::string>& words, const fs::path& self) {
  if (words == std::vector<std::string>{"worker"}) return work();
  if (words.size() < 2) return gpu_bench_usage();
  const std::string& what = words[0];
  fs::path folder = ".", out = "results/" + what + ".jsonl";
  double seconds = 540;
  std::vector<std::string> python, only;
  gpu_pack::options packed;
  gpu_stage::tuning tuning;
  tuning.program = self;
  tuning.small = std::find(words.begin(), words.end(), "--small") != words.end();
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& value = words[i + 1];
    if (words[i] == "--pack") folder = value;
    if (words[i] == "--out") out = value;
    if (words[i] == "--seconds") seconds = std::stod(value);
    if (words[i] == "--peers") python = {"python3", value, "--serve"};
    if (words[i] == "--tune-seconds") tuning.seconds = std::stod(value);
    if (words[i] == "--only") only = parts_of(value);
    if (words[i] == "--pack-seconds") packed.seconds = std::stod(value);
    if (words[i] == "--architectures") packed.architectures = parts_of(value);
    if (words[i] == "--candidates")
      packed.candidates = std::clamp(std::stoi(value), 1, gpu_pack::most_candidates);
  }
  if (what == "pack") {
    gpu_pack::make(words[1], self, packed);
    return 0;
  }
  const bool quiet = what == "check" || what == "fault";
  if (!quiet && what != "first" && what != "f32" && what != "tensor" && what != "attention" &&
      what != "hopper" && what != "glance" && what != "tune")
    return gpu_bench_usage();
  std::optional<gpu_stage::stage> s;
  try {
    s.emplace(what, folder, quiet ? fs::path("/dev/null") : out, seconds, python);
  } catch (const tilewright::build_error& e) {
    std::printf("skipped: no GPU (%s)\n", e.what());
    return 0;
  }
  s->choose(only);
  if (what == "first") return s->run_first();
  if (what == "f32") return s->run_f32();
  if (what == "tensor") return s->run_tensor();
  if (what == "attention") return s->run_attention();
  if (what == "hopper") return s->run_hopper();
  if (what == "glance") return s->run_glance();
  if (what == "tune") return s->run_tune(tuning);
  if (what == "check") return s->check(parts_of(words[1]));
  s->fault(words[1]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return start_gpu_bench({argv + 1, argv + argc}, fs::read_symlink("/proc/self/exe"));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_bench: %s\n", e.what());
    return 4;
  }
}
