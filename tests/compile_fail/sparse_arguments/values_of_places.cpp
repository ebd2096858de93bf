// expect: has a value for each place of it; pass a values_like<T, format> of the matrix | "S"
#include <vector>

#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/formats/bsr_matrix.hpp>
using namespace tilewright;
using axes::i, axes::j;

constexpr auto twice = kernel<"twice">(
    [](in<"A", float, "M", bsr<"N", 8>> A, out<"S", float, "M", stored_like<"N", "A">> S) {
      return S(i, j) = 2.0f * A(i, j);
    });
using twice_type = decltype(twice);
using vector = std::vector<float>;

constexpr bool fits =
    dsl::check_call<std::remove_const_t<twice_type>, bsr_matrix<float, 8>&, vector&>();
