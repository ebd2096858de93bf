// expect: a step names a level that its axis does not have | "j"
#include <tilewright/space/steps.hpp>
using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j;

void test() {
  design_space(on<"C">(tile<i, 3> >> tile<j, 2> >> unroll<i[2]> >> vectorize<j[2]>));
}
