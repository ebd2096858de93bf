// An event handler that uses the op whose tuning called it: refused, where it would wait for itself.
#include "host.hpp"

using namespace host;

namespace {

template <class Use>
std::string refusal(const Use& use) {
  try {
    use();
  } catch (const argument_error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

int main() {
  if (!backend::compiler_available()) return 0;  // nothing is tuned
  using op_type = tuned<std::remove_const_t<decltype(scale)>>;
  {
    const op_type* self = nullptr;
    int events = 0;
    tuned_options o = quick();
    o.events = [&](const search::event& e) {
      if (e.what != search::event::kind::progress || ++events > 1) return;
      expect(has(refusal([&] { call(*self, 100, ""); }), "scale: its own event handler calls it"),
             "a call is refused");
      expect(has(refusal([&] { report(*self, 100); }), "its own event handler"),
             "a report is refused");
      call(*self, 0, "with no element");
      self->wait();  // for nothing: tuning is not in the background
    };
    const op_type op{scale, o};
    self = &op;
    call(op, 100, "after its handler was refused");
    expect(events > 0, "the handler ran");
  }
  {
    const op_type* self = nullptr;
    std::atomic<int> events{0};
    tuned_options o = quick(mode::background);
    o.events = [&](const search::event& e) {
      if (e.what != search::event::kind::progress || ++events > 1) return;
      call(*self, 100, "from the handler, while the fallback runs");
      expect(!report(*self, 100).empty(), "a report from the handler");
      expect(has(refusal([&] { self->wait(); }), "its own event handler"), "waiting is refused");
    };
    const op_type op{scale, o};
    self = &op;
    call(op, 100, "in the background");
    op.wait();
    call(op, 100, "after tuning in the background");
    expect(events > 0, "the handler ran in the background");
  }
}
