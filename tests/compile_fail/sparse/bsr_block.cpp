// expect: has blocks of 2 to 64 rows and columns
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;

using one_by_one = in<"A", float, "M", bsr<"K", 1>>;
constexpr one_by_one a{};
