// A small workload, and a session on it, that tests share.
#pragma once

#include <cstdint>

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>

#include "search/kernels.hpp"

namespace workloads {

using namespace tilewright;
using namespace tilewright::search;

inline workload product(std::int64_t m = 48) {
  workload w;
  w.function = reify(kernels::matmul_relu, {{"M", m}, {"N", 64}, {"K", 32}});
  w.key = {ir::workload_key(w.function).hex(), "test", "", 1};
  w.family = "product";
  w.extents = {m, 32, 32, 64, m, 64};
  w.machine = &target::host();
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  return w;
}

inline session_options few(int trials) {
  session_options o;
  o.trials = trials;
  o.seconds = 60;
  return o;
}

}  // namespace workloads
