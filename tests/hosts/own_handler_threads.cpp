// An event handler that waits for another thread, which calls the op that is being tuned: that call is
// interpreted, and nobody waits for ever.
#include <thread>

#include "host.hpp"

using namespace host;

int main() {
  if (!backend::compiler_available()) return 0;  // nothing is tuned
  using op_type = tuned<std::remove_const_t<decltype(scale)>>;
  for (const mode m : {mode::now, mode::background}) {
    const op_type* self = nullptr;
    std::atomic<int> events{0};
    tuned_options o = quick(m);
    o.events = [&](const search::event&) {  // the first one comes before there is anything to run
      if (++events > 2) return;
      std::thread([&] { call(*self, 100, "from a thread that the handler waits for"); }).join();
    };
    const op_type op{scale, o};
    self = &op;
    call(op, 100, "whose handler waits for a thread");
    op.wait();
    call(op, 100, "afterwards");
    expect(events > 1, "the handler ran: " + std::to_string(events));
    expect(has(report(op, 100), "tuned by this process"), "tuning ended: " + report(op, 100));
  }
}
