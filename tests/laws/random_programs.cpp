#include "random_programs.hpp"

#include <tilewright/ir/alternatives.hpp>

#include "stages/concurrent_stages.hpp"
#include "stages/crowded_stages.hpp"
#include "stages/guarded_stages.hpp"
#include "stages/overlapping_stages.hpp"
#include "stages/plain_stages.hpp"
#include "stages/triangular_stages.hpp"

namespace laws {
namespace {

/// A kind of stage.
struct stage_kind {
  std::string_view name;
  std::int64_t weight;
  bool symbolic;  // also where extents are variables
  void (*add)(stages::stage_builder& build, bool last);
};

const std::vector<stage_kind>& stage_kinds() {
  static const std::vector<stage_kind> all{
      {"elementwise", 3, true, &stages::elementwise},
      {"stencil", 2, true, &stages::stencil},
      {"padding", 1, false, &stages::padding},
      {"row_reduction", 2, true, &stages::row_reduction},
      {"product", 3, true, &stages::product},
      {"transpose", 1, true, &stages::transpose},
      {"reverse", 1, true, &stages::reverse},
      {"flatten", 1, false, &stages::flatten},
      {"unflatten", 1, false, &stages::unflatten},
      {"concat", 1, false, &stages::concat},
      {"in_place", 1, false, &stages::in_place},
      {"window", 1, false, &stages::window},
      {"arg_peak", 1, false, &stages::arg_peak},
      {"fold", 1, false, &stages::fold},
      {"total", 1, true, &stages::total},
      {"batched_product", 1, false, &stages::batched_product},
      {"bias", 1, false, &stages::bias},
      {"broadcast", 1, true, &stages::broadcast},
      {"gather", 1, false, &stages::gather},
      {"epilogue", 1, true, &stages::epilogue},
      {"blur", 2, false, &stages::blur},
      {"twins", 1, true, &stages::twins},
      {"dot", 1, false, &stages::dot},
      {"strided", 1, false, &stages::strided},
      {"shared_loop", 2, false, &stages::shared_loop},
      {"guarded", 2, false, &stages::guarded},
      {"triangle", 1, false, &stages::triangle},
      {"prefix", 1, false, &stages::prefix},
      {"triangles", 1, false, &stages::triangles},
      {"rewritten", 1, false, &stages::rewritten},
      {"crossing", 1, false, &stages::crossing},
      {"running", 1, false, &stages::running},
      {"chain", 1, false, &stages::chain},
      {"bare", 1, false, &stages::bare},
      {"matched", 1, false, &stages::matched},
      {"scratch", 1, false, &stages::scratch},
      {"skipping", 1, false, &stages::skipping},
      {"nested", 1, false, &stages::nested},
      {"given", 1, false, &stages::given},
      {"concurrent", 2, true, &stages::concurrent},
      {"own_scratch", 1, false, &stages::own_scratch},
      {"halo", 1, false, &stages::halo},
      {"own_sum", 1, false, &stages::own_sum},
      {"enclosing", 1, false, &stages::enclosing},
  };
  return all;
}

const stage_kind* find_kind(std::string_view name) {
  for (const stage_kind& k : stage_kinds())
    if (k.name == name) return &k;
  return nullptr;
}

void add_stage(stages::stage_builder& build, const stage_kind* theme, bool last) {
  if (theme && chance(build.draw, 75)) return theme->add(build, last);
  std::vector<const stage_kind*> fit;
  for (const stage_kind& k : stage_kinds())
    if (!build.symbolic || k.symbolic)
      fit.insert(fit.end(), static_cast<std::size_t>(k.weight), &k);
  any(build.draw, fit)->add(build, last);
}

}  // namespace

program random_program(support::random& draw, std::string_view theme) {
  const stage_kind* kind = find_kind(theme);
  stages::stage_builder build(draw, !kind || kind->symbolic);
  build.add_inputs();
  const std::int64_t count = 2 + pick(draw, 5);
  for (std::int64_t i = 0; i < count; ++i) add_stage(build, kind, i + 1 == count);
  return build.finished();
}

program with_twin(program p) {
  ir::function twin = p.function;
  twin.name = "twin";
  p.function = ir::with_alternatives(std::move(p.function), {twin});
  return p;
}

}  // namespace laws
