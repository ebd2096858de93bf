#pragma once

#include <tilewright/impl/pass/scalar_function.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/lower_gpu.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/unify_threads.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function lower(const ir::function& f, const target::gpu&) {
  ir::function out = lower_blocks(detail::scalar_function(f));
  out = simplify_loops(unify_threads(simplify_loops(out)));
  out = compact_buffers(out);
  out.attrs["tilewright.lowered"] = 1;
  return out;
}

}  // namespace tilewright::pass
