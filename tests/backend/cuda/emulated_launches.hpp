// Launches of the fake driver, run by the emulator.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/target/gpu.hpp>

#include "fake/fake.hpp"

namespace fake {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;

/// What the fake driver starts while this lives: the emulator, on the program of a schedule, with the
/// pointers and scalars that the launches bring.
class emulated_launches {
 public:
  emulated_launches(const ir::function& f, const std::string& report)
      : operands_(search::operands(f)), values_(operands_.size()) {
    std::string why, trace;
    const std::string head = "  schedule\n";
    for (std::size_t at = report.find(head) + head.size(); at < report.size();) {
      const std::size_t end = report.find('\n', at);
      trace += report.substr(at + 4, end - at - 3);
      at = end + 1;
    }
    const auto c = search::replay(trace::parse(trace), f, 1, &why);
    REQUIRE_MESSAGE(c, why);
    const target::gpu gpu = target::named_gpu("sm_90a");
    program_ = cu::print(pass::lower(c->scheduled.function(), gpu), gpu);
    kernels_ = std::make_unique<cu::emulator>(program_);
    current = this;
    fake::on_launch(&launched);
  }
  ~emulated_launches() {
    fake::on_launch(nullptr);
    current = nullptr;
  }
  emulated_launches(const emulated_launches&) = delete;
  emulated_launches& operator=(const emulated_launches&) = delete;

  int runs = 0;
  std::vector<void*> streams;  // of the launches

 private:
  static int launched(const char* symbol, void** arguments, void* stream) {
    current->take(symbol, arguments);
    current->streams.push_back(stream);
    return 0;
  }

  void take(const std::string& symbol, void** arguments) {
    std::size_t at = 0;
    while (program_.kernels[at].start.symbol != symbol) ++at;
    const backend::launch& l = program_.kernels[at].start;
    using kind = backend::launch_argument::kind;
    for (std::size_t i = 0; i < l.arguments.size(); ++i) {
      const auto index = static_cast<std::size_t>(l.arguments[i].index);
      if (l.arguments[i].from == kind::buffer)
        std::memcpy(&values_[index], arguments[i], sizeof(void*));
      if (l.arguments[i].from == kind::scalar) values_[index] = arguments[i];
    }
    if (at + 1 < program_.kernels.size()) return;
    std::vector<cu::emulated_argument> all;
    for (std::size_t i = 0; i < values_.size(); ++i)
      all.push_back({values_[i], operands_[i].elements()});
    kernels_->run(all);
    ++runs;
  }

  inline static emulated_launches* current = nullptr;
  std::vector<search::operand> operands_;
  std::vector<void*> values_;
  cu::program program_;
  std::unique_ptr<cu::emulator> kernels_;
};

}  // namespace fake
