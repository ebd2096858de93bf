#pragma once

#include <memory>
#include <utility>

#include <tilewright/impl/search/built_parts.hpp>
#include <tilewright/search/pass_builder.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::search {

TILEWRIGHT_INLINE builder pass_builder(pass::pipeline passes, double deadline) {
  const auto shared = std::make_shared<const pass::pipeline>(std::move(passes));
  return [shared, deadline](const ir::function& scheduled, const target::machine& where) {
    if (where.gpu)
      return detail::kernels_of([&] { return shared->run(scheduled, where); }, *where.gpu,
                                deadline);
    return detail::built_of([&] { return shared->run_prepared(scheduled, where); }, *where.cpu);
  };
}

}  // namespace tilewright::search
