// expect: tilewright: let needs the names of variables
#include <tilewright/space/steps.hpp>

using namespace tilewright::space;
using tilewright::axes::i;

const design_space s = let<4> = split<i, 2, 4>;
