// expect: is a sparse matrix of Eigen or csr | "A"
#include <vector>

#include <tilewright/expr/argument.hpp>
using namespace tilewright;
using axes::i, axes::k;

constexpr auto spmv = kernel<"spmv">([](in<"A", float, "M", compressed<"K">> A,
                                        in<"x", float, "K"> x, out<"y", float, "M"> y) {
  return y(i) = sum<k>(A(i, k) * x(k));
});
using spmv_type = decltype(spmv);
using vector = std::vector<float>;

constexpr bool fits = dsl::check_call<std::remove_const_t<spmv_type>, vector&, vector&, vector&>();
