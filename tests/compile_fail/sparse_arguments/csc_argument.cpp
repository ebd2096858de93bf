// expect: is an Eigen::SparseMatrix<T>, csc_of(offsets, indices, values, rows) or a csc_matrix | "A"
#include <vector>

#include <tilewright/expr/argument.hpp>
using namespace tilewright;
using axes::i, axes::k;

constexpr auto spmv =
    kernel<"spmv">([](in<"A", float, "M", csc<"K">> A, in<"x", float, "K"> x,
                      out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
using spmv_type = decltype(spmv);
using vector = std::vector<float>;
using matrix = csr_view<const float, const std::int32_t>;

constexpr bool fits =
    dsl::check_call<std::remove_const_t<spmv_type>, matrix, vector&, vector&>();
