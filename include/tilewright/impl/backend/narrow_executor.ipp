#pragma once

#include <algorithm>
#include <atomic>

#include <tilewright/backend/narrow_executor.hpp>

namespace tilewright::backend {
namespace detail {

/// A loop that workers share: each is one chunk of the wide executor, and takes chunks of the loop.
struct shared_loop {
  chunk_body body;
  void* context;
  std::int64_t chunks;
  std::atomic<std::int64_t> next{0};

  static void work(void* self, std::int64_t worker, int) {
    auto& loop = *static_cast<shared_loop*>(self);
    for (std::int64_t c = loop.next++; c < loop.chunks; c = loop.next++)
      loop.body(loop.context, c, static_cast<int>(worker));
  }
};

}  // namespace detail

TILEWRIGHT_INLINE void narrow_executor::run(void* self, std::int64_t chunks, chunk_body body,
                                            void* context) {
  const auto& own = *static_cast<const narrow_executor*>(self);
  detail::shared_loop loop{body, context, chunks};
  own.wide_.run(own.wide_.self, std::min<std::int64_t>(chunks, own.view_.threads),
                &detail::shared_loop::work, &loop);
}

}  // namespace tilewright::backend
