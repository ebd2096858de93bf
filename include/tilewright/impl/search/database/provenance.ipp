// Where and by what records are made; declared in session.hpp.
#pragma once

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/search/database/record.hpp>
#include <tilewright/search/session.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE provenance made_on(const target::machine& where) {
  return {where.model(), where.gpu ? cuda::toolchain() : backend::compiler_version(), date_now(),
          backend::lowering_revision};
}

TILEWRIGHT_INLINE record wanted_record(const workload& w) {
  return {w.key, w.family, w.extents,
          {},    {},       {w.machine.model(), {}, {}, backend::lowering_revision},
          false};
}

}  // namespace tilewright::search
