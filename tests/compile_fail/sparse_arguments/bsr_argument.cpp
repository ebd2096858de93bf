// expect: is a bsr_matrix<T, block>; make one of the matrix, and keep it | "A"
#include <vector>

#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/formats/bsr_matrix.hpp>
using namespace tilewright;
using axes::i, axes::k;

constexpr auto spmv =
    kernel<"spmv">([](in<"A", float, "M", bsr<"K", 8>> A, in<"x", float, "K"> x,
                      out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
using spmv_type = decltype(spmv);
using vector = std::vector<float>;

constexpr bool fits =
    dsl::check_call<std::remove_const_t<spmv_type>, bsr_matrix<float, 4>&, vector&, vector&>();
