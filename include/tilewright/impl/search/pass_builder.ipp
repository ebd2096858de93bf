#pragma once

#include <memory>
#include <utility>

#include <tilewright/impl/search/built_parts.hpp>
#include <tilewright/search/pass_builder.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE builder pass_builder(pass::pipeline passes) {
  const auto shared = std::make_shared<const pass::pipeline>(std::move(passes));
  return [shared](const ir::function& scheduled, const target::machine& where) {
    if (where.gpu) {
      built out;
      out.error = "pass_builder: these passes lower for CPUs, and the target is a GPU";
      return out;
    }
    return detail::built_of([&] { return shared->run_prepared(scheduled, *where.cpu); },
                            *where.cpu);
  };
}

}  // namespace tilewright::search
