// Ops that are called by destructors of static objects, which end after what the library made.
#include <Eigen/Core>

#include "host.hpp"

using namespace host;

namespace {

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct caller {
  caller(const char* n, mode m) : name(n), op(scale, quick(m)), large(product, quick(m)) {}
  ~caller() {
    for (const std::size_t n : {64u, 65u}) call(op, n, std::string("in the destructor of ") + name);
    const matrix a = matrix::Constant(48, 40, 1), b = matrix::Constant(40, 56, 2);
    matrix c(48, 56);
    large(a, b, c);  // with a workspace, or without: whatever the schedule is
    expect(c == matrix::Constant(48, 56, 80), std::string("a wrong product in ") + name);
    std::printf("%s ended\n", name);
  }
  const char* name;
  tuned<std::remove_const_t<decltype(scale)>> op;
  tuned<std::remove_const_t<decltype(product)>> large;
};

caller unused("one that main does not call", mode::off);
caller fallback("one without tuning", mode::off);
caller tuning("one that tunes", mode::now);
caller background("one that tunes in the background", mode::background);

}  // namespace

int main() {
  const matrix a = matrix::Constant(48, 40, 1), b = matrix::Constant(40, 56, 2);
  for (const caller* c : {&fallback, &tuning, &background}) {
    call(c->op, 64, "in main");
    if (c == &background) continue;  // its large op is called at the end alone
    matrix out(48, 56);
    c->large(a, b, out);
  }
}
