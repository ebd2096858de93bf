// Whatever a saved model says: it is refused, or what was read ranks programs by finite numbers and
// survives being saved and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/cost/adapted_trees.hpp>
#include <tilewright/cost/ensemble.hpp>
#include <tilewright/cost/graph_network.hpp>
#include <tilewright/cost/mlp.hpp>
#include <tilewright/cost/prior_file.hpp>
#include <tilewright/cost/trace_network.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

const cost::sample& program() {
  static const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16, 12), "float32"), D: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 12):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                D[vi] = T.float32(0)
            D[vi] = D[vi] + A[vi, vk]
)");
  static const cost::sample out{
      &f,
      ir::workload_key(f),
      {},
      1e-5,
      std::make_shared<const std::vector<cost::trace_token>>(
          std::vector<cost::trace_token>{{3, 1, {4, 2, 1}}, {255, 255, {}}})};
  return out;
}

std::unique_ptr<cost::model> blank(std::uint8_t kind) {
  switch (kind % 7) {
    case 0: return std::make_unique<cost::random_model>();
    case 1: return std::make_unique<cost::tree_model>();
    case 2: return std::make_unique<cost::mlp_model>();
    case 3: return std::make_unique<cost::graph_model>();
    case 4: return std::make_unique<cost::trace_model>();
    case 6: return std::make_unique<cost::adapted_trees>(cost::gbt());
    default:
      return std::make_unique<cost::ensemble_model>(std::vector<std::shared_ptr<cost::model>>{
          std::make_shared<cost::random_model>(), std::make_shared<cost::tree_model>()});
  }
}

/// The first byte chooses the kind of model, the others are its text.
void read_model(std::uint8_t kind, std::string_view text) {
  const std::unique_ptr<cost::model> m = blank(kind);
  try {
    m->load(text);
  } catch (const argument_error&) {
    return;
  }
  for (const double score : m->predict(std::span(&program(), 1)))
    if (!std::isfinite(score)) std::abort();
  const std::unique_ptr<cost::model> again = blank(kind);
  again->load(m->save());
  if (again->save() != m->save()) std::abort();
  // what was read learns two programs, and still ranks by finite numbers
  std::vector<cost::sample> measured(2, program());
  measured[1].key = {7, 7};
  measured[1].seconds = 3e-5;
  m->update(measured);
  for (const double score : m->predict(measured))
    if (!std::isfinite(score)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  read_model(data[0], text);
  try {  // a whole file, whose digest mostly does not fit
    cost::model_of_prior(text);
  } catch (const argument_error&) {
  }
  return 0;
}
