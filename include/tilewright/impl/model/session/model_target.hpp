// Machines that a model is made, tuned and saved for, by their names.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::detail::models {

/// The GPU that a model shall be for; nothing for this CPU.
inline std::optional<cuda::named_device> gpu_of(const model_options& o) {
  if (o.target == "host") return std::nullopt;
  std::optional<cuda::named_device> out = cuda::find_device(o.target);
  if (!out) {
    std::string known;
    for (const std::string_view name : target::known_gpu_names()) known += ", " + std::string(name);
    throw argument_error("a model cannot be made for " + o.target + "; targets: host, cuda" +
                         known + "; for other CPUs, tune and save take names of targets");
  }
  if (o.reductions == reductions::in_order)
    throw argument_error(
        "reductions in order are for CPUs, and the model is for " + o.target +
        "; leave out reductions::in_order, or make the model for a CPU (target \"host\")");
  if (o.executor)
    throw argument_error("an executor runs the threads of a CPU, and the model is for " + o.target +
                         "; leave it out");
  return out;
}

/// GPUs by their names, each once, those first whose code a machine shall take that can run several.
/// @throws argument_error for what is no GPU
inline std::vector<target::gpu> gpus_named(const std::string& graph, const std::string& made_for,
                                           const std::vector<std::string>& names) {
  std::vector<target::gpu> out;
  for (const std::string& name : names) {
    const std::optional<cuda::named_device> found = cuda::find_device(name);
    if (!found)
      throw argument_error("model " + graph + " is for " + made_for + ", and cannot be saved for " +
                           name +
                           "; name GPUs alone, or make the model for a CPU (target \"host\")");
    if (support::none(out, [&](const target::gpu& g) { return g.name == found->gpu.name; }))
      out.push_back(found->gpu);
  }
  if (out.empty()) throw argument_error("a saved model needs one target at least");
  std::sort(out.begin(), out.end(), [](const target::gpu& a, const target::gpu& b) {
    return std::pair(a.compute_capability, a.exact) > std::pair(b.compute_capability, b.exact);
  });
  return out;
}

/// A CPU whose code this machine can run.
inline target::cpu target_here(const std::string& name) {
  target::cpu out = target::named(name);
  if (!target::runs_on(out, target::host()))
    throw argument_error("code for " + name +
                         " cannot be tried here, and weights not be packed for it: this machine "
                         "lacks some of its instructions; use a machine that has them");
  return out;
}

}  // namespace tilewright::detail::models
