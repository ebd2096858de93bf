// expect: alternatives(...) takes kernels with equal parameters
#include <tilewright/expr/alternatives.hpp>
using namespace tilewright;
using axes::i;

constexpr auto f =
    kernel<"f">([](in<"A", float, "M"> A, out<"C", float, "M"> C) { return C(i) = A(i); });
constexpr auto g =
    kernel<"g">([](in<"A", float, "M"> A, out<"C", float, "N"> C) { return C(i) = A(i); });

void test() { (void)alternatives(f, g); }
