#pragma once

#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/plan_workspace.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function lower(const ir::function& f, const target::cpu& target) {
  ir::function out = simplify_loops(lower_blocks(f));
  workspace_options memory;
  memory.workers = target.cores;
  out = plan_workspace(out, memory);
  out.attrs["tilewright.lowered"] = 1;
  return out;
}

}  // namespace tilewright::pass
