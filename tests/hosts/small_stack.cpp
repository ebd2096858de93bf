// A real-time thread with a small stack: its first call tunes on another stack, and later ones neither
// take memory nor wait for anybody.
#include <limits.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "host.hpp"

using namespace host;

namespace {

thread_local long taken = 0;  // how often this thread has taken memory

}  // namespace

void* operator new(std::size_t bytes) {
  ++taken;
  if (void* out = std::malloc(bytes)) return out;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

/// Runs `work` on a thread with so many bytes of stack, by the real-time scheduler where this user may.
template <class Work>
void on_thread(std::size_t bytes, const Work& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes,
                            std::max(bytes, static_cast<std::size_t>(PTHREAD_STACK_MIN)));
  pthread_t thread;
  const auto body = [](void* w) -> void* {
    const sched_param priority{1};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
    (*static_cast<const Work*>(w))();
    return nullptr;
  };
  expect(pthread_create(&thread, &attributes, body, const_cast<Work*>(&work)) == 0, "a thread");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

int main() {
  for (const std::size_t bytes : {32u << 10, 64u << 10, 256u << 10})
    for (const mode m : {mode::now, mode::background, mode::off}) {
      tuned_options o = quick(m);
      o.threads = 1;
      const tuned op{scale, o};
      const tuned large{product, o};
      std::vector<float> a(48 * 40, 1), b(40 * 56, 2), c(48 * 56);
      const std::array<std::int64_t, 2> ma{48, 40}, mb{40, 56}, mc{48, 56};
      on_thread(bytes, [&] {
        auto va = view(a.data(), {ma[0], ma[1]}), vb = view(b.data(), {mb[0], mb[1]}),
             vc = view(c.data(), {mc[0], mc[1]});
        const auto multiply = [&] { large(va, vb, vc); };
        call(op, 100, "on a small stack");
        multiply();
        expect(!report(op, 100).empty(), "a report on a small stack");
        op.wait();
        large.wait();
        multiply();
        expect(std::all_of(c.begin(), c.end(), [](float v) { return v == 80; }), "a wrong product");
        // from here on there is nothing to wait for
        std::vector<float> x(100, 3), y(100);
        op(x, y);
        const long before = taken;
        for (int i = 0; i < 1000; ++i) {
          op(x, y);
          multiply();
        }
        const bool none = taken == before;
        expect(none, "calls take no memory");
      });
    }
}
