// A stage of the GPU program from its pack to its lines, on a device that is a fake one: kernels leave the right
// result, or a wrong one; cuBLASLt and cuDNN are fakes that compute; PyTorch is one that takes a millisecond.
#include "gpu/stages/stage.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/artifact.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/support/error.hpp>

#include "../fake/fake.hpp"
#include "gpu/stages/pack.hpp"
#include "gpu/stages/sessions.hpp"
#include "gpu/workloads.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tilewright;
using gpu_case::byte_list;

/// What a kernel of that name leaves in its last argument.
std::map<std::string, byte_list>& results() {
  static std::map<std::string, byte_list> all;
  return all;
}

int leave_result(const char* symbol, void** arguments, void*) {
  const byte_list& right = results().at(symbol);
  const char* digits = std::strchr(symbol, '_') + 1;
  unsigned long long to = 0;
  std::memcpy(&to, arguments[std::atoi(digits) - 1], sizeof to);
  std::memcpy(reinterpret_cast<void*>(to), right.data(), right.size());
  return 0;
}

gpu_workloads::workload named(const std::string& name) {
  for (gpu_workloads::workload& w : gpu_workloads::full())
    if (w.name == name) return std::move(w);
  throw argument_error("no workload is called " + name);
}

/// A pack with candidates of some workloads, all alike, and the folder of its results.
class packed {
 public:
  explicit packed(const std::vector<std::string>& names, int candidates = 1) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const std::string& name : names)
      for (int i = 0; i < candidates; ++i) add(named(name), i);
    fake::on_launch(&leave_result);
  }
  ~packed() {
    fake::on_launch(nullptr);
    fs::remove_all(folder_);
  }
  packed(const packed&) = delete;
  packed& operator=(const packed&) = delete;

  /// Another wrong result of the candidate.
  static void spoil(const std::string& name) {
    for (auto& [symbol, bytes] : results())
      if (symbol.rfind(name + "_", 0) == 0)
        for (std::size_t i = 3; i < bytes.size(); i += 4) bytes[i] ^= std::byte{0x80};
  }
  /// One element of the candidates' result is off by a term of its sum.
  static void spoil_one(const std::string& name, std::size_t element) {
    for (auto& [symbol, bytes] : results()) {
      if (symbol.rfind(name + "_", 0) != 0) continue;
      float value = 0;
      std::memcpy(&value, &bytes[4 * element], sizeof value);
      value += 0.3F;
      std::memcpy(&bytes[4 * element], &value, sizeof value);
    }
  }
  /// A kernel of so many parameters, called like the file that it lies in.
  void add_kernel(const std::string& name, int parameters = 2) const {
    backend::artifact a;
    a.isa = "nvidia:sm_90a";
    a.object.resize(64);
    backend::launch l;
    l.symbol = name;
    for (int i = 0; i < parameters; ++i)
      l.arguments.push_back({backend::launch_argument::kind::buffer, 8, i});
    a.launches = {l};
    gpu_pack::write_code(folder_, name, "sm_90a", a);
  }
  fs::path pack() const { return folder_; }
  fs::path lines() const { return folder_ / "f32.jsonl"; }
  /// The line of a case.
  std::string line(const std::string& name) const {
    std::ifstream in(lines());
    for (std::string text; std::getline(in, text);)
      if (text.rfind("{\"case\": \"" + name + "\"", 0) == 0) return text;
    return {};
  }

 private:
  /// Code whose kernel is called after the workload and its number of arguments.
  void add(const gpu_workloads::workload& w, int number = 0) {
    backend::artifact a;
    a.isa = "nvidia:sm_90a";
    a.object.resize(64);
    backend::launch l;
    l.symbol = w.name + "_" + std::to_string(w.function.params.size());
    for (std::size_t i = 0; i < w.function.params.size(); ++i)
      l.arguments.push_back(
          {backend::launch_argument::kind::buffer, 8, static_cast<std::int64_t>(i)});
    a.launches = {l};
    gpu_pack::write_code(folder_, gpu_pack::candidate_name(w.name, number), "sm_90a", a);
    const gpu_stage::cu::device device;
    gpu_case::case_memory memory(device, w.function, 13);  // the inputs that a stage takes
    memory.interpret();
    results()[l.symbol] = memory.all().back().host;
  }

  fs::path folder_ = fs::temp_directory_path() / ("tilewright_stage_" + std::to_string(::getpid()));
};

int run_f32(const packed& p, const std::vector<std::string>& python = {}, double seconds = 600) {
  return gpu_stage::stage("f32", p.pack(), p.lines(), seconds, python).run_f32();
}

double number_of(const std::string& line, const std::string& key) {
  const std::string text = gpu_results::field(line, key);
  CAPTURE(line);
  REQUIRE_MESSAGE(!text.empty(), key, " is missing");
  return std::atof(text.c_str());
}

}  // namespace

TEST_CASE("stage: a right kernel is timed in turns with cuBLASLt, cuDNN and PyTorch") {
  if (!fake::here()) return;
  const packed p({"GMM", "C1D", "NRM"});
  // PyTorch through the script, where there is a Python
  std::vector<std::string> python;
  if (std::system("python3 -c '' >/dev/null 2>&1") == 0) {
    python = {"env",
              "PYTHONPATH=tests/tools/fake_torch",
              "FAKE_TORCH_LOG=" + (p.pack() / "log").string(),
              "python3",
              "-S",
              "tools/gpu_peers.py",
              "--serve"};
  } else {
    MESSAGE("without PyTorch: no python3");
  }
  CHECK(run_f32(p, python) == 0);
  for (const char* name : {"GMM", "C1D", "NRM"}) {
    const std::string line = p.line(name);
    CAPTURE(line);
    CHECK(gpu_results::field(line, "correct") == "true");
    CHECK(number_of(line, "seconds") > 0);
    if (python.empty()) continue;
    CHECK(number_of(line, "pytorch_seconds") > 0);
    CHECK(number_of(line, "of_pytorch") > 0);
    CHECK(gpu_results::field(line, "pytorch_in_graphs") == "true");
  }
  CHECK(number_of(p.line("GMM"), "cublas_max_rel_err") < 1e-5);
  CHECK(number_of(p.line("GMM"), "of_cublas") == 1);  // of the fake, every round takes as long
  CHECK(gpu_results::field(p.line("GMM"), "cublas_in_graphs") == "true");
  CHECK(gpu_results::field(p.line("GMM"), "of_cudnn") == "");
  CHECK(number_of(p.line("C1D"), "cudnn_max_rel_err") < 1e-5);
  CHECK(number_of(p.line("C1D"), "of_cudnn") == 1);
  CHECK(gpu_results::field(p.line("C1D"), "of_cublas") == "");
  CHECK(gpu_results::field(p.line("SFM"), "skipped") == "\"the pack has no code of it\"");
}

TEST_CASE("stage: a schedule that was written for a workload is timed in turns with the default") {
  if (!fake::here()) return;
  const packed p({"GMM", "C1D"});
  fs::copy_file(gpu_pack::code_file(p.pack(), "GMM.0", "sm_90a"),
                gpu_pack::code_file(p.pack(), "GMM.written", "sm_90a"));
  CHECK(run_f32(p) == 0);
  CHECK(number_of(p.line("GMM"), "written_seconds") > 0);
  CHECK(number_of(p.line("GMM"), "of_written") == 1);  // of the fake, every round takes as long
  CHECK(number_of(p.line("GMM"), "candidates") == 1);
  CHECK(gpu_results::field(p.line("C1D"), "of_written") == "");
}

TEST_CASE("stage: peers that know nothing, refuse, are wrong or missing leave our time as it is") {
  if (!fake::here()) return;
  const packed p({"GMM", "C1D"});
  {
    const fake::setting none("FAKE_CUBLASLT", "none"), other("FAKE_CUDNN", "none");
    CHECK(run_f32(p) == 0);
  }
  CHECK(gpu_results::field(p.line("GMM"), "cublas") ==
        "\"cuBLASLt knows no algorithm for this product\"");
  CHECK(gpu_results::field(p.line("C1D"), "cudnn") ==
        "\"cuDNN knows no algorithm for this convolution\"");
  CHECK(gpu_results::field(p.line("C1D"), "python") == "\"no script of peers was named\"");
  CHECK(number_of(p.line("C1D"), "seconds") > 0);
  fs::remove(p.lines());
  {
    const fake::setting refuse("FAKE_CUBLASLT", "refuse"), other("FAKE_CUDNN", "refuse");
    CHECK(run_f32(p, {"/bin/sh", "-c", "echo peers none PyTorch: not found"}) == 0);
  }
  CHECK(gpu_results::field(p.line("GMM"), "cublas") ==
        "\"cuBLASLt: Matmul failed with status 15\"");
  CHECK(gpu_results::field(p.line("C1D"), "cudnn") ==
        "\"cuDNN: ConvolutionForward failed with status 9\"");
  CHECK(gpu_results::field(p.line("C1D"), "python") == "\"PyTorch: not found\"");
  fs::remove(p.lines());
  CHECK(run_f32(p, {"/bin/sh", "-c",
                    "echo peers pytorch=1; read -r x; echo ready 1; read -r x; echo seconds 1"}) ==
        0);
  CHECK(gpu_results::field(p.line("GMM"), "pytorch") == "\"a peer has ended\"");
  CHECK(number_of(p.line("GMM"), "of_cublas") == 1);
}

TEST_CASE("stage: of many candidates the fastest few at a glance are checked and timed") {
  if (!fake::here()) return;
  const packed p({"GMM"}, 6);
  CHECK(run_f32(p) == 0);
  CHECK(number_of(p.line("GMM"), "candidates") == 4);
  CHECK(number_of(p.line("GMM"), "right") == 4);
  const std::string seen = gpu_results::field(p.line("GMM"), "microseconds_at_a_glance");
  for (int i = 0; i < 6; ++i) CHECK(seen.find(std::to_string(i) + ":") != seen.npos);
  fs::remove(p.lines());
  CHECK(gpu_stage::stage("glance", p.pack(), p.lines(), 600).run_glance() == 0);
  CHECK(number_of(p.line("GMM"), "candidates") == 6);
  CHECK(number_of(p.line("GMM"), "seconds") > 0);
  fs::remove(p.lines());
  packed::spoil("GMM");
  CHECK(run_f32(p) == 1);
  CHECK(number_of(p.line("GMM"), "candidates") == 4);
  CHECK(number_of(p.line("GMM"), "right") == 0);
}

TEST_CASE("stage: a wrong kernel is wrong, and nothing is timed against it") {
  if (!fake::here()) return;
  const packed p({"GMM", "C1D"});
  packed::spoil("GMM");
  CHECK(run_f32(p) == 1);
  const std::string line = p.line("GMM");
  CHECK(gpu_results::field(line, "correct") == "false");
  CHECK(gpu_results::field(line, "seconds") == "");
  CHECK(gpu_results::field(line, "of_cublas") == "");
  CHECK(number_of(p.line("C1D"), "of_cudnn") == 1);  // the stage goes on
  // what stands there is not run again
  const auto written = fs::file_size(p.lines());
  CHECK(run_f32(p) == 1);
  CHECK(fs::file_size(p.lines()) == written);
}

TEST_CASE("stage: one wrong element of a product is found, wherever it stands") {
  if (!fake::here()) return;
  const packed p({"GMM", "SFM"});
  CHECK(run_f32(p) == 0);
  CHECK(number_of(p.line("GMM"), "outputs_in_sums") == 1);
  CHECK(number_of(p.line("SFM"), "outputs_in_sums") == 0);
  for (const std::size_t element : {0u, 4711u, 16383u}) {
    fs::remove(p.lines());
    packed::spoil_one("GMM", element);
    CHECK(run_f32(p) == 1);
    CHECK(gpu_results::field(p.line("GMM"), "correct") == "false");
    packed::spoil_one("GMM", element);  // twice
  }
}

TEST_CASE("stage: what a session has found is a candidate beside the packed ones") {
  if (!fake::here()) return;
  const packed p({"GMM"});
  const auto file = [&](int i) {
    return gpu_pack::code_file(p.pack(), gpu_pack::candidate_name("GMM", i), "sm_90a");
  };
  fs::copy_file(file(0), file(gpu_pack::tuned_candidate));
  CHECK(run_f32(p) == 0);
  CHECK(number_of(p.line("GMM"), "candidates") == 2);
  fs::remove(p.lines());
  fs::remove(file(0));
  CHECK(run_f32(p) == 0);
  CHECK(number_of(p.line("GMM"), "candidates") == 1);
  CHECK(number_of(p.line("GMM"), "fastest") == gpu_pack::tuned_candidate);
}

TEST_CASE("stage: small cases are checked by their names, default schedules among them") {
  if (!fake::here()) return;
  const packed p(std::vector<std::string>{});
  p.add_kernel("default_NRM_small");
  fake::on_launch(nullptr);  // nothing is computed
  CHECK(gpu_stage::stage("check", p.pack(), "/dev/null", 60).check({"default_NRM"}) == 1);
  CHECK_THROWS_WITH_AS(gpu_stage::stage("check", p.pack(), "/dev/null", 60).check({"default_NONE"}),
                       doctest::Contains("have one called default_NONE"), argument_error);
}

TEST_CASE("stage: a worker whose kernel does harm is replaced, and one that does none is not") {
  if (!fake::here()) return;
  const std::string program = search::find_worker();
  if (program.empty()) return;
  const packed p(std::vector<std::string>{});
  for (const char* name : {"fault_illegal", "fault_hang", "ceiling_nothing"}) p.add_kernel(name);
  fake::on_launch(nullptr);
  const fake::setting illegal("FAKE_CUDA_ILLEGAL", "fault_illegal"),
      hang("FAKE_CUDA_HANG", "fault_hang");
  const auto line_of = [&](const std::string& name) {
    fs::remove(p.lines());
    gpu_stage::tuning how;
    how.program = program;
    gpu_stage::stage stage("tune", p.pack(), p.lines(), 600);
    stage.choose({name});
    const int status = stage.run_tune(how);
    return std::to_string(status) + p.line(name);
  };
  for (const char* name : {"worker_after_illegal", "worker_after_hang"}) {
    const std::string line = line_of(name);
    CAPTURE(line);
    CHECK(line[0] == '0');
    CHECK(gpu_results::field(line, "correct") == "true");
    CHECK(number_of(line, "restarts") == 3);
    CHECK(number_of(line, "restart_seconds") < 20);
    CHECK(number_of(line, "failure_seconds") > 0);
  }
  const fake::setting harmless("FAKE_CUDA_ILLEGAL", "");
  const std::string line = line_of("worker_after_illegal");
  CAPTURE(line);
  CHECK(line[0] == '1');
  CHECK(gpu_results::field(line, "correct") == "false");
  CHECK(gpu_results::field(line, "wrong") == "\"none where fault was expected: \"");
}

namespace {

/// The product of `random_sums`, 256 x 192 of 320 terms; `off` is added to an element that is not looked at alone.
template <int off>
int multiply(const char*, void** arguments, void*) {
  const auto address = [&](int i) {
    float* out = nullptr;
    std::memcpy(&out, arguments[i], sizeof out);
    return out;
  };
  constexpr int m = 256, n = 192, k = 320;
  // the kernel's own arguments: A, B and C in the order of the parameters
  const float *const a = address(0), *const b = address(1);
  float* const c = address(2);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
  c[777] += static_cast<float>(off);
  return 0;
}

}  // namespace

TEST_CASE("stage: random sums of a product find one wrong element of it, and nothing else") {
  if (!fake::here()) return;
  const packed p(std::vector<std::string>{});
  p.add_kernel("random_sums_small", 3);
  const auto run = [&](int (*kernel)(const char*, void**, void*)) {
    fs::remove(p.lines());
    fake::on_launch(kernel);
    gpu_stage::stage stage("first", p.pack(), p.lines(), 600);
    stage.choose({"random_sums"});
    const int status = stage.run_first();
    return std::to_string(status) + p.line("random_sums");
  };
  const std::string right = run(&multiply<0>);
  CAPTURE(right);
  CHECK(right[0] == '0');
  CHECK(gpu_results::field(right, "correct") == "true");
  CHECK(gpu_results::field(right, "one_wrong_element") == "\"found\"");
  const std::string wrong = run(&multiply<1>);
  CAPTURE(wrong);
  CHECK(wrong[0] == '1');
  CHECK(gpu_results::field(wrong, "correct") == "false");
}

TEST_CASE("curve: times at marks, and when the last best one was near") {
  gpu_sessions::curve c;
  CHECK(c.fields().empty());
  c.note(0, 8);
  c.note(0.5, 6);
  c.note(1.5, 6.5);  // not better
  c.note(4, 4.1);
  c.note(7, 4);
  c.note(12, 4);
  CHECK(c.fields() ==
        ", \"best_after_1_s\": 6, \"best_after_2_s\": 6, \"best_after_5_s\": 4.1, "
        "\"best_after_10_s\": 4, \"within_5_percent_after_s\": 4");
}
