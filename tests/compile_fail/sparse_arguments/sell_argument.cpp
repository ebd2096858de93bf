// expect: is a sell_matrix<T, lanes>; make one of the matrix, and keep it | "A"
#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/formats/sell_matrix.hpp>
using namespace tilewright;
using axes::i, axes::k;

constexpr auto spmv =
    kernel<"spmv">([](in<"A", float, "M", sell<"K", 8>> A, in<"x", float, "K"> x,
                      out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
using vector = std::vector<float>;

constexpr bool fits = dsl::check_call<std::remove_const_t<decltype(spmv)>, sell_matrix<float, 4>&,
                                      vector&, vector&>();
