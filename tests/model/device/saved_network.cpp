// Networks that were saved for a GPU, on a device that is a fake one: nothing is compiled, and launches are emulated
// with the pointers that they bring.
#include <tilewright/model/saved_model.hpp>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/impl/model/device/loaded_network.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/support/mapped_file.hpp>

#include "model/device/emulated_network.hpp"
#include "model/device/fake_device.hpp"
#include "model/refusal.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

constexpr const char* file_variable = "TILEWRIGHT_SAVED_NETWORK";

/// A folder that only this user may write.
struct own_folder {
  std::filesystem::path path =
      std::filesystem::current_path() / ("saved_network_" + std::to_string(::getpid()));
  own_folder() {
    std::filesystem::create_directories(path);
    ::chmod(path.c_str(), 0700);
  }
  ~own_folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

/// Two products and what stands behind them.
written_graph layers() {
  written_graph w;
  w.g.name = "layers";
  const network::value_id x = w.input("x", {8, 32});
  const network::value_id h = w.add("MatMul", {x, w.known(waves({32, 64}, 0.3))});
  w.g.outputs = {w.add("Softmax", {w.add("MatMul", {h, w.known(waves({64, 16}, 0.7))})})};
  w.g.at(w.g.outputs[0]).name = "y";
  return w;
}

model small() { return model(layers().g, on_gpu()); }

network::constant given() { return waves({8, 32}, 0.2); }

network::constant expected() {
  network::graph typed = layers().g;
  network::infer_types(typed);
  return network::interpret(typed, {given()})[0];
}

std::string refusal_of(const std::string& path, saved_model_options o = {}) {
  return refusal<error>([&] { load_model(path, o); });
}

std::vector<network::saved_plan> plans_in(const std::string& path) {
  const support::mapped_file file(path);
  return network::read_model_file(file.data(), file.size());
}

/// Calls a file of `small` with arrays of the host.
void check_on_host(const std::string& path) {
  const saved_model m = load_model(path);
  emulated_network runs(*small().program(), *nothing_stored(), 42);
  const elements x(given());
  std::vector<float> y(8 * 16);
  m(view(x.data(), {8, 32}), y);
  CHECK(runs.runs == 1);
  CHECK(is_near(expected(), y));
}

}  // namespace

TEST_CASE("saved network: arrays of the host and of the device give what the network computes") {
  if (!emulates()) return;
  const own_folder folder;
  const std::string path = folder.file("a.twm");
  const std::size_t before = free_bytes();
  {
    const model from = small();
    from.save(path);
    const saved_model m = load_model(path);
    CHECK(m.name() == "layers");
    CHECK(m.machine() == "nvidia:sm_90a");
    REQUIRE(m.outputs().size() == 1);
    CHECK(m.outputs()[0].type == network::tensor_type{dtype::f32, {8, 16}});
    emulated_network runs(*from.program(), *nothing_stored(), 42);
    const elements x(given()), y(8 * 16);
    std::vector<float> here(8 * 16);
    m(view(x.data(), {8, 32}), here);
    CHECK(is_near(expected(), here));
    m.run({{"x", view(x.data(), {8, 32})}}, {{"y", here}});
    const auto dx = on_device(static_cast<const float*>(x.data()), {8, 32});
    const auto dy = on_device(y.data(), {8, 16});
    m(dx, dy);
    CHECK(y.values() == here);
    void* const stream = x.data();  // any address does for the fake
    m.on(stream)(dx, dy);
    CHECK(runs.runs == 4);
    CHECK(runs.streams.back() == stream);
    const std::size_t held = free_bytes();
    m.on(stream)(dx, dy);
    m(dx, dy);
    CHECK(free_bytes() == held);  // nothing more is allocated
    CHECK(m.device_times(2).size() == 2);
    CHECK(says(refusal<error>([&] { m.on(stream)(x.values(), here); }),
               "gets a stream and arrays of the host"));
    CHECK(says(refusal<error>([&] { m(dx, here); }), "output \"y\" lies on the host"));
    CHECK(says(refusal<error>([&] {
                 m(dx, on_device(x.data() + 4, {8, 16}));
               }),
               "output \"y\" overlaps \"x\""));
    CHECK(says(refusal<error>([&] {
                 m(dx, on_device(y.data() + 1, {8, 16}));
               }),
               "(requirement 2)"));
  }
  CHECK(free_bytes() == before);  // and nothing is left
}

TEST_CASE("saved network: the process without a compiler" * doctest::skip()) {
  const char* path = std::getenv(file_variable);
  if (!path) return;  // somebody runs all tests
  CHECK_THROWS_AS(backend::cuda::nvrtc(), build_error);
  check_on_host(path);
}

TEST_CASE("saved network: it is loaded and called without NVRTC") {
  if (!emulates()) return;
  const own_folder folder;
  const std::string path = folder.file("a.twm");
  small().save(path);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv(file_variable, path.c_str(), 1);
    ::setenv("TILEWRIGHT_NVRTC", "/nowhere/libnvrtc.so", 1);
    ::execl("/proc/self/exe", "test_model", "--no-skip",
            "--test-case=saved network: the process without a compiler",
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("saved network: code for several architectures, of which the device takes its own") {
  if (!emulates()) return;
  const own_folder folder;
  const std::string path = folder.file("a.twm"), old = folder.file("old.twm");
  small().save(path, {"sm_80", "cuda", "sm_80"});
  const std::vector<network::saved_plan> plans = plans_in(path);
  REQUIRE(plans.size() == 2);
  CHECK(plans[0].isa == "nvidia:sm_90a");
  CHECK(plans[1].isa == "nvidia:sm_80");
  check_on_host(path);
  small().save(old, {"sm_80"});
  CHECK(
      says(refusal_of(old), old + ": it was made for sm_80, and fake has compute capability 9.0"));
  {
    const fake::setting older("FAKE_CUDA_MAJOR", "8");
    CHECK(load_model(path).machine() == "nvidia:sm_80");
    CHECK(refusal_of(old) == "none");
  }
  // weights are in the file once
  REQUIRE(plans[0].kernels.size() == plans[1].kernels.size());
  for (std::size_t k = 0; k < plans[0].kernels.size(); ++k)
    for (std::size_t p = 0; p < plans[0].kernels[k].arguments.size(); ++p)
      CHECK(plans[0].kernels[k].arguments[p].at == plans[1].kernels[k].arguments[p].at);
}

TEST_CASE("saved network: what is damaged, or not for a GPU, is refused") {
  if (!ready()) return;
  const own_folder folder;
  const std::string path = folder.file("a.twm");
  small().save(path);
  CHECK(says(refusal_of(path, {.executor = &backend::serial_executor()}),
             "an executor runs the threads of a CPU"));
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto altered = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    std::ofstream(path, std::ios::binary) << bytes;
    return refusal_of(path);
  };
  CHECK(says(altered(whole.size() - 1), "the file was altered since it was saved"));
  CHECK(says(altered(network::model_file_header + 40), "the file was altered since it was saved"));
  CHECK(says(altered(7), "it was saved by another version of this library; save the model again"));
  std::ofstream(path, std::ios::binary) << whole;
  // launches that name what is not there
  network::saved_kernel k = plans_in(path).at(0).kernels.at(0);
  const backend::artifact good = backend::deserialize(k.code.data(), k.code.size());
  const auto checked = [&](auto change) {
    backend::artifact a = good;
    change(a);
    return refusal<error>([&] { network::detail::check_launches(a, k, "nvidia:sm_90a"); });
  };
  using kind = backend::launch_argument::kind;
  CHECK(checked([](backend::artifact&) {}) == "none");
  CHECK(says(checked([](auto& a) { a.launches[0].arguments[0].index = 99; }),
             "starts with an argument that is not there"));
  CHECK(says(checked([](auto& a) { a.launches[0].arguments[0].from = kind::scalar; }),
             "starts with an argument that is not there"));
  CHECK(says(checked([](auto& a) { a.launches.clear(); }), "is no code for a GPU"));
  CHECK(says(checked([](auto& a) { a.isa = "nvidia:sm_80"; }),
             "is code for \"nvidia:sm_80\", and its plan for \"nvidia:sm_90a\""));
}
