#include <tilewright/cost/prior.hpp>

#include <tilewright/cost/features.hpp>
#include <tilewright/ir/text/parse.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tilewright;

namespace {

double score(const std::string& program) {
  const auto rows = cost::store_features(ir::parse(program));
  return static_cast<double>(cost::shipped_prior().trees.score(rows.front().data(), rows.size()));
}

std::string product(const std::string& innermost) {
  return R"(
@T.prim_func
def main(A: T.Buffer((256, 256), "float32"), B: T.Buffer((256, 256), "float32"), C: T.Buffer((256, 256), "float32")):
    for io in range(64):
        for jo in range(16):
            for k in range(256):
                for i in T.unroll(4):
                    for j in )" +
         innermost + R"((16):
                        with T.block("C"):
                            vi = T.axis.spatial(256, io * 4 + i)
                            vj = T.axis.spatial(256, jo * 16 + j)
                            vk = T.axis.reduce(256, k)
                            with T.init():
                                C[vi, vj] = T.float32(0)
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";
}

}  // namespace

TEST_CASE("the prior fits the features, and is small") {
  const cost::gbt& p = cost::shipped_prior().trees;
  CHECK(cost::shipped_prior().problem.empty());
  CHECK(p.columns() == cost::feature_count);
  CHECK(p.trees() > 20);
  CHECK(p.save().size() < 200 << 10);
  CHECK(&p == &cost::shipped_prior().trees);
  CHECK(score(product("T.vectorized")) == score(product("T.vectorized")));
}

TEST_CASE("a prior that cannot be read is a reason, not an error") {
  for (const char* text :
       {"", "something else", "tilewright-gbt 1 164 0,5 80", "tilewright-gbt 1 3 0 0\n"}) {
    const cost::prior p = cost::read_prior(text);
    CHECK(p.trees.empty());
  }
  CHECK(cost::read_prior("tilewright-gbt 1 164 0,5 80").problem == "gbt: damaged model");
  CHECK(cost::read_prior("").problem == "gbt: this is no model of version 1");
  CHECK(cost::read_prior("tilewright-gbt 1 3 0 1\n0 1.5\n").problem.find("other features") !=
        std::string::npos);
}
