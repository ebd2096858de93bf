#pragma once

#include <utility>

#include <tilewright/impl/dispatch/call_mode.hpp>
#include <tilewright/impl/model/device/device_code.hpp>
#include <tilewright/impl/model/device/device_network.hpp>
#include <tilewright/impl/model/device/plan_of.hpp>
#include <tilewright/model/device/device_program.hpp>

namespace tilewright::network {

struct device_program::state {
  std::shared_ptr<const executable> plan;
  detail::constant_pool pool;
  detail::device_network there;

  state(std::shared_ptr<const executable> p, int ordinal)
      : plan(std::move(p)),
        there(
            detail::device_plan(*plan, plan->whole(), pool), pool.parts(),
            [this](const backend::cuda::device& on) { return code(on); }, ordinal) {}

  detail::device_network::code_list code(const backend::cuda::device& on) const {
    const tuned_options& o = plan->options();
    const auto db = o.own_database ? o.own_database : search::database::shared(o.database);
    const bool stored_only = dispatch::detail::mode_of_environment(o.mode) == mode::miss_error;
    return detail::code_of(*plan, *db, {o.seed, stored_only, on.name()},
                           [&](const backend::artifact& a) {
                             return std::make_shared<const backend::cuda::device_code>(on, a);
                           });
  }
};

TILEWRIGHT_INLINE device_program::device_program(std::shared_ptr<const executable> plan, int device)
    : state_(std::make_unique<state>(std::move(plan), device)) {}
TILEWRIGHT_INLINE device_program::~device_program() = default;

TILEWRIGHT_INLINE void device_program::start(const std::vector<void*>& inputs,
                                             const std::vector<void*>& outputs,
                                             void* stream) const {
  state_->there.start(inputs, outputs, static_cast<backend::cuda::stream_ref>(stream));
}

TILEWRIGHT_INLINE void device_program::run(const std::vector<const void*>& inputs,
                                           const std::vector<void*>& outputs) const {
  state_->there.run(inputs, outputs);
}

TILEWRIGHT_INLINE void device_program::warm() const { state_->there.warm(); }

TILEWRIGHT_INLINE std::vector<double> device_program::measure(int runs) const {
  return state_->there.measure(runs);
}

TILEWRIGHT_INLINE std::vector<double> device_program::time(int runs) const {
  return state_->there.time(runs);
}

TILEWRIGHT_INLINE const executable& device_program::plan() const noexcept { return *state_->plan; }
TILEWRIGHT_INLINE const std::string& device_program::device_name() const noexcept {
  return state_->there.device_name();
}

}  // namespace tilewright::network
