// expect: is a parted_matrix<T, parts<..>>; make one of the matrix, and keep it | "A"
#include <vector>

#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/formats/parted_matrix.hpp>
using namespace tilewright;
using axes::i, axes::k;

constexpr auto spmv = kernel<"spmv">(
    [](in<"A", float, "M", parts<bsr<"K", 8>, compressed<"K">>> A, in<"x", float, "K"> x,
       out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });
using spmv_type = decltype(spmv);
using vector = std::vector<float>;
using other = parted_matrix<float, parts<bsr<"K", 4>, compressed<"K">>>;

constexpr bool fits =
    dsl::check_call<std::remove_const_t<spmv_type>, other&, vector&, vector&>();
