#pragma once

#include <cstdint>
#include <limits>

#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/search/check/shrink.hpp>
#include <tilewright/search/contiguous_workload.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE workload contiguous_workload(const ir::function& f, const target::machine& where,
                                               const backend::executor& exec) {
  if (where.gpu && ir::keeps_term_order(f))
    throw argument_error(
        f.name +
        ": reductions in order are for CPUs, since code for GPUs adds up in threads and contracts "
        "products; leave out reductions::in_order (--reductions in_order, or the attribute " +
        ir::reductions_attribute + ") for calls on a GPU");
  workload w;
  w.function = f;
  w.key = {ir::workload_key(f).hex(), where.isa_key(), "", where.gpu ? 1 : exec.threads};
  w.key.named_workload = ir::named_workload_key(f).hex();
  int index_bits = 32;
  const std::vector<ir::buffer> bound = ir::bound_weights(f);
  for (const ir::param& p : f.params) {
    const bool is_bound = support::contains(bound, p.buffer);
    w.key.arguments += std::string(w.key.arguments.empty() ? "" : " ") + (is_bound ? "bound" : "r");
    if (!p.buffer) continue;
    const std::int64_t size = pass::constant_size(p.buffer);
    if (size < 0 || size > std::numeric_limits<std::int32_t>::max()) index_bits = 64;
    for (const ir::expr& e : p.buffer->shape) w.extents.push_back(ir::as_int(e));
  }
  if (where.gpu) w.key.arguments = on_device(w.key.arguments, index_bits);
  w.family = family_of(f);
  w.machine = where;
  w.exec = &exec;
  w.space = space::default_space(where);
  w.shrunk = [f] { return shrink(f, 1e5); };
  return w;
}

}  // namespace tilewright::search
