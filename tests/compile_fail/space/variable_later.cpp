// expect: a step takes a variable that no step before it has made | "rows"
#include <tilewright/space/compose.hpp>
#include <tilewright/space/steps.hpp>
using namespace tilewright;
using namespace tilewright::space;
using axes::i;

constexpr variable<"rows"> rows;

// what may not run gives no name to what follows
void test() {
  design_space(on<"C">(steps(attempt(let<rows> = split<i, infer, 4>), unroll<rows[1]>)));
}
