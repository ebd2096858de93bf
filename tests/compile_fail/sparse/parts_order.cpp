// expect: compressed rows take every element; they stand last in parts<..>
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;

using rows_first = in<"A", float, "M", parts<compressed<"K">, bsr<"K", 8>>>;
constexpr rows_first a{};
