// expect: a step takes a variable that no step before it has made | "tile"
#include <tilewright/space/steps.hpp>
using namespace tilewright;
using namespace tilewright::space;
using axes::i;

constexpr variable<"rows"> rows;
constexpr variable<"tile"> tile_sizes;

void test() {
  design_space(on<"C">(steps(let<rows> = split<i, infer, 4>, unroll<rows[1]>,
                             annotate<rows[0], "note">(tile_sizes * 2))));
}
