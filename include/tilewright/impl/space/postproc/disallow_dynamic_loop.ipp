#pragma once

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/postproc/disallow_dynamic_loop.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void disallow_dynamic_loop::operator()(schedule& s, const context&) const {
  ir::for_each_stmt(s.function().body, [](const ir::stmt& at) {
    const ir::loop_node* loop = ir::as_loop(at);
    if (loop && !(ir::is_int(loop->min) && ir::is_int(loop->extent)))
      primitive::refusal{"disallow_dynamic_loop"}(
          1, {"loop ", loop->var->name, " has the extent ", ir::print(loop->extent),
              "; tune the kernel for literal extents"});
  });
}

}  // namespace tilewright::space
