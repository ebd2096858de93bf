// tilewright-object-worker: the half of `tilewright worker` that runs objects, between two pipes. One
// file for a cross compiler, without LLVM, SQLite or anything else but the C library; it is how candidates
// are timed on a board on which the library is not built:
//
//     aarch64-linux-gnu-g++ -std=c++20 -O2 -static -Iinclude tools/worker/object_worker.cpp -o object_worker
//     tilewright tune FILE --target neoverse-n1 --worker-at "ssh board ./object_worker"
#include <tilewright/impl/backend/artifact.ipp>
#include <tilewright/impl/backend/loader.ipp>
#include <tilewright/impl/backend/pool.ipp>
#include <tilewright/impl/ir/external.ipp>
#include <tilewright/impl/search/measurement/argument_memory.ipp>
#include <tilewright/impl/search/measurement/fleet/client_service.hpp>
#include <tilewright/impl/search/measurement/fleet/object_service.hpp>
#include <tilewright/impl/search/measurement/guard.ipp>
#include <tilewright/impl/search/measurement/measurement.ipp>
#include <tilewright/impl/search/measurement/timer.ipp>
#include <tilewright/impl/support/fork_gate.ipp>
#include <tilewright/impl/support/hash.ipp>
#include <tilewright/impl/support/notice.ipp>
#include <tilewright/impl/support/refusal.ipp>
#include <tilewright/impl/target/architecture.ipp>
#include <tilewright/impl/target/cpu.ipp>
#include <tilewright/impl/target/tensor_box.ipp>

int main() {
  return tilewright::search::detail::serve_pipes_with<tilewright::search::detail::object_service>(0,
                                                                                                  1)
             ? 0
             : 1;
}
