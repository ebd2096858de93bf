// expect: the formats of parts<..> are compressed, dcsr, sell, bsr or ell
#include <tilewright/expr/kernel.hpp>
using namespace tilewright;

using dense_part = in<"A", float, "M", parts<bsr<"K", 8, std::int32_t>, stored_like<"K", "B">>>;
constexpr dense_part a{};
