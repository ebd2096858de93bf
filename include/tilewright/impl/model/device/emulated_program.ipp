#pragma once

#include <map>
#include <utility>

#include <tilewright/impl/model/session/chosen_schedule.hpp>
#include <tilewright/model/device/emulated_program.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE backend::cuda::program gpu_kernels_of(const executable& plan, std::size_t k,
                                                        const search::database& records,
                                                        std::uint64_t seed) {
  const node& what = plan.launches().at(k).what;
  if (!plan.gpu()) throw internal_error("the kernels of this network are for a CPU");
  const std::string why = ": no kernel for " + plan.gpu()->name + ": ",
                    instead = "; make the model for a CPU (target \"host\"), where it runs";
  try {
    const schedule s = detail::chosen_schedule(plan.task(k), records, seed);
    return backend::cuda::print(pass::lower(s.function(), *plan.gpu()), *plan.gpu());
  } catch (const build_error& e) {
    throw build_error(text_of(what) + why + e.what() + instead);
  } catch (const schedule_error& e) {
    throw build_error(text_of(what) + why + e.what() + instead);
  } catch (const argument_error& e) {
    throw build_error(text_of(what) + why + e.what() + instead);
  }
}

TILEWRIGHT_INLINE emulated_program::emulated_program(std::shared_ptr<const executable> plan,
                                                     const search::database& records,
                                                     std::uint64_t seed)
    : plan_(std::move(plan)) {
  std::map<std::string, std::shared_ptr<const backend::cuda::emulator>> known;
  for (std::size_t k = 0; k < plan_->launches().size(); ++k) {
    const search::record_key& key = plan_->task(k).key;
    std::shared_ptr<const backend::cuda::emulator>& one = known[key.workload + key.arguments];
    if (!one)
      one =
          std::make_shared<const backend::cuda::emulator>(gpu_kernels_of(*plan_, k, records, seed));
    kernels_.push_back(one);
  }
}

TILEWRIGHT_INLINE void emulated_program::run(const std::vector<const void*>& inputs,
                                             const std::vector<void*>& outputs,
                                             std::uint64_t order) const {
  plan_->run_with(inputs, outputs,
                  [&](std::size_t k, const std::vector<dispatch::call_argument>& arguments) {
                    const launch& l = plan_->launches()[k];
                    std::vector<backend::cuda::emulated_argument> memory;
                    std::vector<std::int64_t> strides;
                    for (std::size_t p = 0; p < arguments.size(); ++p) {
                      memory.push_back({arguments[p].data, elements_of(l.extents[p])});
                      strides.insert(strides.end(), l.strides[p].begin(), l.strides[p].end());
                    }
                    try {
                      kernels_[k]->run(memory, strides, order);
                    } catch (const error& e) {
                      throw build_error(text_of(l.what) + ": " + e.what());
                    }
                  });
}

}  // namespace tilewright::network
