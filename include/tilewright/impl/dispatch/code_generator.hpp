// The code generator's static objects, which end before the process does.
#pragma once

#include <atomic>

#include <tilewright/backend/compile.hpp>
#include <tilewright/impl/dispatch/at_exit.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::dispatch::detail {

/// Opens the code generator, once a process, and has it make code of a kernel of one element: it makes some
/// of its static objects when it is first used, and all that a thread uses has to end after that thread.
inline void open_code_generator(const target::machine& machine) {
  static std::atomic<bool> known{false};
  if (known || !backend::compiler_available()) return;
  (void)search::build(ir::parse(R"(@T.prim_func
def first(A: T.Buffer((1,), "float32")):
    for i in range(1):
        with T.block("A"):
            vi = T.axis.spatial(1, i)
            A[vi] = T.float32(0)
)"),
                      machine);
  exit_entry::come_first(known);
}

}  // namespace tilewright::dispatch::detail
