#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/backend/cuda/prelude.hpp>
#include <tilewright/impl/backend/cuda/compile_stop.hpp>
#include <tilewright/impl/backend/cuda/prelude_groups.hpp>
#include <tilewright/impl/backend/cuda/prelude_parts.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend::cuda {
namespace detail {

/// One program in NVRTC's hands.
class compilation {
 public:
  using clock = std::chrono::steady_clock;

  explicit compilation(const std::string& text) : c(nvrtc()) {
    check(c.CreateProgram(&program_, text.c_str(), "kernels.cu", 0, nullptr, nullptr));
  }
  ~compilation() { c.DestroyProgram(&program_); }
  compilation(const compilation&) = delete;
  compilation& operator=(const compilation&) = delete;

  void run(const target::gpu& device, std::chrono::milliseconds deadline) {
    const std::string architecture = "-arch=" + device.architecture;
    std::vector<const char*> options{architecture.c_str(), "-std=c++17", "-minimal",
                                     "-default-device",    "-Xptxas=-v", "-diag-suppress=177"};
    // Since 12.9 the driver remembers code, which then comes without the assembler's report.
    int major = 0, minor = 0;
    check(c.Version(&major, &minor));
    if (std::pair(major, minor) >= std::pair(12, 9)) options.push_back("-no-cache");
    if ((deadline.count() > 0 || stop_) && c.SetFlowCallback) {
      if (deadline.count() > 0) end_ = clock::now() + deadline;
      check(c.SetFlowCallback(program_, &is_late, this));
    }
    const int result = c.CompileProgram(program_, static_cast<int>(options.size()), options.data());
    if (result == nvrtc_success) return;
    if (stopped_) throw build_error("NVRTC was stopped: nobody wants its code any more");
    if (late_)
      throw build_error("NVRTC was stopped after " + std::to_string(deadline.count()) + " ms");
    throw build_error("NVRTC refuses kernels for " + device.architecture + ": " +
                      c.GetErrorString(result) + "\n" + log().substr(0, 8000));
  }

  std::string log() const {
    std::size_t size = 0;
    check(c.GetProgramLogSize(program_, &size));
    std::string out(size, '\0');
    if (size) check(c.GetProgramLog(program_, out.data()));
    while (!out.empty() && out.back() == '\0') out.pop_back();
    return out;
  }

  std::vector<std::byte> cubin() const {
    std::size_t size = 0;
    check(c.GetCUBINSize(program_, &size));
    std::vector<std::byte> out(size);
    if (size) check(c.GetCUBIN(program_, reinterpret_cast<char*>(out.data())));
    return out;
  }

 private:
  void check(int result) const {
    if (result != nvrtc_success)
      throw build_error("NVRTC failed: " + std::string(c.GetErrorString(result)));
  }
  static int is_late(void* self, void*) {
    auto* const me = static_cast<compilation*>(self);
    me->late_ = clock::now() > me->end_;
    me->stopped_ = me->stop_ && me->stop_->load(std::memory_order_relaxed);
    return me->late_ || me->stopped_ ? 1 : 0;
  }

  const nvrtc_api& c;
  nvrtc_program program_ = nullptr;
  clock::time_point end_ = clock::time_point::max();
  const std::atomic<bool>* stop_ = stop_flag;
  bool late_ = false, stopped_ = false;
};

}  // namespace detail

TILEWRIGHT_INLINE compiled compile(const program& p, const target::gpu& device,
                                   std::chrono::milliseconds deadline) {
  const support::fork_pass inside;
  detail::compilation run(device_prelude(p.text) + p.text);
  run.run(device, deadline);
  compiled out;
  out.log = run.log();
  out.report = parse_resources(out.log);
  out.artifact.object = run.cubin();
  out.artifact.isa = "nvidia:" + device.architecture;
  out.artifact.workspace_bytes = p.workspace_bytes;
  for (const kernel& k : p.kernels) {
    launch l = k.start;
    if (const kernel_resources* r = out.report.find(l.symbol)) {
      l.registers = r->registers;
      l.spilled_bytes = r->spilled_bytes;
    }
    out.artifact.launches.push_back(std::move(l));
  }
  if (out.artifact.object.empty())
    throw build_error("NVRTC made no code for " + device.architecture);
  return out;
}

TILEWRIGHT_INLINE bool is_small(const program& p) {
  return p.text.size() < 4000 && p.text.find("TW_SHARED(") == p.text.npos &&
         !detail::multiplies_matrices(p.text) && !detail::multiplies_in_groups(p.text);
}

TILEWRIGHT_INLINE std::vector<compiled> compile_together(const std::vector<program>& all,
                                                         const target::gpu& device,
                                                         std::chrono::milliseconds deadline) {
  program whole;
  for (std::size_t i = 0; i < all.size(); ++i) {
    program mine = all[i];
    for (kernel& k : mine.kernels) {
      const std::string name = k.start.symbol + "_of_" + std::to_string(i),
                        head = ") void " + k.start.symbol + "(";
      mine.text.replace(mine.text.find(head), head.size(), ") void " + name + "(");
      k.start.symbol = name;
      whole.kernels.push_back(std::move(k));
    }
    whole.text += mine.text;
  }
  const compiled made = compile(whole, device, deadline);
  std::vector<compiled> out(all.size(), made);
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto first = made.artifact.launches.begin() + static_cast<std::ptrdiff_t>(next);
    next += all[i].kernels.size();
    out[i].artifact.launches.assign(
        first, made.artifact.launches.begin() + static_cast<std::ptrdiff_t>(next));
    out[i].artifact.workspace_bytes = all[i].workspace_bytes;
  }
  return out;
}

}  // namespace tilewright::backend::cuda
