// A machine without LLVM: calls compute, and it is said once why they are slow.
#include "host.hpp"

using namespace host;

int main() {
  setenv("TILEWRIGHT_LLVM", "/nowhere/libLLVM.so", 1);
  const errors said;
  std::vector<std::string> events;
  tuned_options o = quick();
  o.events = [&](const search::event& e) {
    if (e.what == search::event::kind::remark) events.push_back(e.text);
  };
  const tuned op{scale, o};
  for (const std::size_t n : {7u, 8u, 9u}) call(op, n, "without LLVM");
  expect(said.lines().size() == 1,
         "one line on stderr, not " + std::to_string(said.lines().size()));
  expect(has(said.lines()[0], "tilewright: kernels run in the interpreter, which is slow: LLVM"),
         "the line says what is missing: " + said.lines()[0]);
  expect(events.size() == 3, "an event for each set of extents");
  expect(has(report(op, 7), "remark    kernels run in the interpreter"), "the report says it");
  expect(has(report(op, 7), "/nowhere/libLLVM.so"), "the report says what was tried");
}
