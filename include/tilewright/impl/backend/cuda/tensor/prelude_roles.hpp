// The part of the prelude for warps with roles (sm_90a): registers that change hands between warp groups, and barriers of some
// of a block's threads.
#pragma once

#include <string_view>

namespace tilewright::backend::cuda::detail {

/// Whether a program's text needs this part.
inline bool has_roles(std::string_view text) {
  return text.find("tw_fewer_registers<") != text.npos ||
         text.find("tw_more_registers<") != text.npos || text.find("tw_barrier_of<") != text.npos;
}

inline std::string_view device_roles() {
  return R"cuda(// Threads of a warp group keep so many registers from here on, a multiple of 8 from 24 to 256; all of them say so.
template <int count>
TW_FUNCTION void tw_fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(count)); }
// They get so many, when others have given enough of theirs.
template <int count>
TW_FUNCTION void tw_more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(count)); }
// A barrier for so many of the block's threads, whole warps; `number` is from 1 to 15.
template <int number, int threads>
TW_FUNCTION void tw_barrier_of() { asm volatile("bar.sync %0, %1;" :: "n"(number), "n"(threads) : "memory"); }
)cuda";
}

inline std::string_view host_roles() {
  return R"cuda(template <int count>
static void tw_change_registers(const char* what, int more) {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0, "");
  const int mine = count;
  tw_host->meet(what, count, &mine, sizeof mine, 128);
  tw_host->change_registers(count, more);
}
template <int count>
static void tw_fewer_registers() { tw_change_registers<count>("a release of registers", 0); }
template <int count>
static void tw_more_registers() { tw_change_registers<count>("a request for registers", 1); }
template <int number, int threads>
static void tw_barrier_of() {
  static_assert(number > 0 && number < 16 && threads > 0 && threads % 32 == 0, "");
  tw_host->barrier_of(number, threads);
}
)cuda";
}

}  // namespace tilewright::backend::cuda::detail
