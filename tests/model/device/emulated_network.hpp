// Launches of a network on the fake driver, run by the emulator.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/model/device/emulated_program.hpp>

#include "backend/cuda/fake/fake.hpp"

namespace network_tests {

using namespace tilewright;

/// What the fake driver starts while this lives: the emulator, with the pointers that the launches bring, which
/// have to come in the order of the network's kernels.
class emulated_network {
 public:
  emulated_network(const network::executable& plan, const search::database& records,
                   std::uint64_t seed) {
    for (std::size_t k = 0; k < plan.launches().size(); ++k) {
      all_.push_back({network::gpu_kernels_of(plan, k, records, seed), nullptr, {}, {}});
      all_.back().kernels = std::make_unique<backend::cuda::emulator>(all_.back().program);
      for (const auto& extents : plan.launches()[k].extents)
        all_.back().elements.push_back(network::elements_of(extents));
      all_.back().values.resize(all_.back().elements.size());
    }
    current = this;
    fake::on_launch(&launched);
  }
  ~emulated_network() {
    fake::on_launch(nullptr);
    current = nullptr;
  }
  emulated_network(const emulated_network&) = delete;
  emulated_network& operator=(const emulated_network&) = delete;

  int runs = 0;                // of the whole network
  std::vector<void*> streams;  // of the launches

 private:
  struct one {
    backend::cuda::program program;
    std::unique_ptr<backend::cuda::emulator> kernels;
    std::vector<std::int64_t> elements;  // [parameters]
    std::vector<void*> values;           // [parameters]
  };

  static int launched(const char* symbol, void** arguments, void* stream) {
    current->take(symbol, arguments);
    current->streams.push_back(stream);
    return 0;
  }

  void take(const std::string& symbol, void** arguments) {
    one& now = all_[at_];
    const backend::launch& l = now.program.kernels[step_].start;
    REQUIRE(l.symbol == symbol);
    using kind = backend::launch_argument::kind;
    for (std::size_t i = 0; i < l.arguments.size(); ++i)
      if (l.arguments[i].from == kind::buffer)
        std::memcpy(&now.values[static_cast<std::size_t>(l.arguments[i].index)], arguments[i],
                    sizeof(void*));
    if (++step_ < now.program.kernels.size()) return;
    step_ = 0;
    std::vector<backend::cuda::emulated_argument> memory;
    for (std::size_t i = 0; i < now.values.size(); ++i)
      memory.push_back({now.values[i], now.elements[i]});
    now.kernels->run(memory);
    if (++at_ < all_.size()) return;
    at_ = 0;
    ++runs;
  }

  inline static emulated_network* current = nullptr;
  std::vector<one> all_;  // [launches]
  std::size_t at_ = 0, step_ = 0;
};

}  // namespace network_tests
