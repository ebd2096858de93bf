// expect: two steps make one variable | "rows"
#include <tilewright/space/steps.hpp>
using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j;

constexpr variable<"rows"> rows;

void test() {
  design_space(on<"C">(steps(let<rows> = split<i, infer, 4>, let<rows> = split<j, infer, 4>)));
}
