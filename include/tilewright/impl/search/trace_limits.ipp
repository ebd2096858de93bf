#pragma once

#include <tilewright/impl/search/decided/trace_reader.hpp>
#include <tilewright/search/trace_limits.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE std::string refused_by_decisions(const trace& t, const ir::function& f,
                                                   const target::gpu* gpu) {
  return detail::decided::trace_reader(f, gpu).run(t);
}

}  // namespace tilewright::search
