#pragma once

#include <algorithm>

#include <tilewright/impl/schedule/legality/invariants.hpp>
#include <tilewright/impl/schedule/trace/member_kinds.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {
namespace detail {

template <class Rv>
std::vector<Rv> typed(const std::vector<rv>& list) {
  std::vector<Rv> out;
  out.reserve(list.size());
  for (const rv& v : list) out.push_back({v.number});
  return out;
}

template <class Rv>
std::vector<rv> untyped(const std::vector<Rv>& list) {
  return std::vector<rv>(list.begin(), list.end());
}

inline decision one(std::optional<std::int64_t> choice) {
  return choice ? decision{*choice} : decision{};
}

/// Makes room for `more` elements with geometric growth, so that appending them cannot throw.
template <class T>
void make_room(std::vector<T>& list, std::size_t more) {
  constexpr std::size_t least = 960 / sizeof(T);  // 1 KB and more makes glibc merge all it has free
  if (list.capacity() - list.size() < more)
    list.reserve(std::max({least, list.size() + more, 2 * list.capacity()}));
}

/// A sampling that is given an empty list was not meant to draw.
inline decision some(std::optional<std::vector<std::int64_t>> choice) {
  if (choice && choice->empty())
    throw argument_error("an empty list is no decision; leave it out to draw");
  return choice ? std::move(*choice) : decision{};
}

}  // namespace detail

TILEWRIGHT_INLINE schedule::schedule(ir::function f, std::uint64_t seed)
    : state_{std::move(f), {}, support::random(seed)} {
  const ir::block_realize_node* root = ir::as_realize(state_.function.body);
  if (!root || !root->block->iters.empty())
    throw argument_error("schedule: the body of function " + state_.function.name +
                         " must be the realize of a root block without iteration variables");
}

TILEWRIGHT_INLINE schedule::schedule(const schedule&) = default;
TILEWRIGHT_INLINE schedule::schedule(schedule&&) noexcept = default;
TILEWRIGHT_INLINE schedule& schedule::operator=(const schedule&) = default;
TILEWRIGHT_INLINE schedule& schedule::operator=(schedule&&) noexcept = default;
TILEWRIGHT_INLINE schedule::~schedule() = default;

TILEWRIGHT_INLINE std::string schedule::show() const { return ir::print(state_.function); }

TILEWRIGHT_INLINE schedule schedule::copy() {
  schedule out = *this;
  out.state_.random = state_.random.split();
  return out;
}

TILEWRIGHT_INLINE std::vector<rv> schedule::apply(const instruction_kind& kind,
                                                  std::vector<argument> args,
                                                  const decision& choice) {
  outcome result = kind.apply(state_, args, choice);
  if (result.function)
    primitive::detail::check_requirement_zero(kind.name, state_.function, *result.function);
  auto* made = new instruction;
  support::ref<const instruction> what(made);
  made->kind = &kind;
  made->args = std::move(args);
  made->outputs.reserve(result.outputs.size());
  auto number = static_cast<std::uint32_t>(state_.symbols.size());
  for (const symbol& s : result.outputs) made->outputs.push_back({s.kind, number++});
  return commit(std::move(result), std::move(what));
}

TILEWRIGHT_INLINE const std::vector<rv>& schedule::apply(
    const support::ref<const instruction>& what, const decision& choice) {
  outcome result = what->kind->apply(state_, what->args, choice);
  if (result.function)
    primitive::detail::check_requirement_zero(what->kind->name, state_.function, *result.function);
  const bool unnamed = what->outputs.empty();  // written as a statement, its results unused
  if (!unnamed && result.outputs.size() != what->outputs.size())
    throw argument_error("the instruction gives " + std::to_string(result.outputs.size()) +
                         " results here, the trace has recorded " +
                         std::to_string(what->outputs.size()));
  const auto first = static_cast<std::uint32_t>(state_.symbols.size());
  bool same = !unnamed || result.outputs.empty();
  for (std::size_t i = 0; same && i < result.outputs.size(); ++i)
    same = what->outputs[i] == rv{result.outputs[i].kind, first + static_cast<std::uint32_t>(i)};
  if (same) return commit(std::move(result), what);
  auto* made = new instruction(*what);
  support::ref<const instruction> owner(made);
  made->outputs.resize(result.outputs.size());
  for (std::size_t i = 0; i < result.outputs.size(); ++i)
    made->outputs[i] = {result.outputs[i].kind, first + static_cast<std::uint32_t>(i)};
  return commit(std::move(result), std::move(owner));
}

TILEWRIGHT_INLINE void schedule::expect(const tilewright::trace& t) {
  std::size_t results = 0;
  for (const tilewright::trace::step& s : t.steps()) results += s.what->outputs.size();
  detail::make_room(state_.symbols, results);
}

// Nothing before the first assignment changes the schedule, and nothing after it throws.
TILEWRIGHT_INLINE const std::vector<rv>& schedule::commit(outcome&& result,
                                                          support::ref<const instruction> what) {
  detail::make_room(state_.symbols, result.outputs.size());
  const std::vector<rv>& outputs = what->outputs;
  trace_.append(std::move(what), std::move(result.choice));
  if (result.function) state_.function = std::move(*result.function);
  if (result.random) state_.random = *result.random;
  for (symbol& s : result.outputs) state_.symbols.push_back(std::move(s));
  return outputs;
}

TILEWRIGHT_INLINE block_rv schedule::get_block(std::string_view name) {
  return {apply(detail::named<"get_block">, {std::string(name), state_.function.name})[0].number};
}

TILEWRIGHT_INLINE std::vector<loop_rv> schedule::get_loops(block_rv block) {
  return detail::typed<loop_rv>(apply(detail::named<"get_loops">, {rv(block)}));
}

TILEWRIGHT_INLINE std::vector<loop_rv> schedule::loops_counted(block_rv block, int n) {
  const primitive::path at =
      primitive::need_block(state_.function, state_.block(block), "get_loops");
  const std::size_t count = at.loops().size();
  if (count != static_cast<std::size_t>(n))
    throw argument_error("loops<" + std::to_string(n) + ">: block \"" +
                         ir::as_realize(at.target())->block->name + "\" has " +
                         std::to_string(count) + " loops; write loops<" + std::to_string(count) +
                         "> or get_loops");
  return get_loops(block);
}

TILEWRIGHT_INLINE std::vector<block_rv> schedule::get_child_blocks(block_rv block) {
  return detail::typed<block_rv>(apply(detail::named<"get_child_blocks">, {rv(block)}));
}
TILEWRIGHT_INLINE std::vector<block_rv> schedule::get_child_blocks(loop_rv loop) {
  return detail::typed<block_rv>(apply(detail::named<"get_child_blocks">, {rv(loop)}));
}
TILEWRIGHT_INLINE std::vector<block_rv> schedule::get_producers(block_rv block) {
  return detail::typed<block_rv>(apply(detail::named<"get_producers">, {rv(block)}));
}
TILEWRIGHT_INLINE std::vector<block_rv> schedule::get_consumers(block_rv block) {
  return detail::typed<block_rv>(apply(detail::named<"get_consumers">, {rv(block)}));
}
TILEWRIGHT_INLINE std::vector<block_rv> schedule::get_output_blocks(block_rv scope) {
  return detail::typed<block_rv>(apply(detail::named<"get_output_blocks">, {rv(scope)}));
}

TILEWRIGHT_INLINE std::int64_t schedule::get(expr_rv v) const {
  const std::int64_t value = state_.at(v).value;
  if (value == inferred_value)
    throw argument_error("get: the factor is inferred from a symbolic extent and has no value");
  return value;
}
TILEWRIGHT_INLINE const ir::block_realize_node& schedule::get(block_rv b) const {
  return *ir::as_realize(primitive::need_block(state_.function, state_.block(b), "get").target());
}
TILEWRIGHT_INLINE const ir::loop_node& schedule::get(loop_rv l) const {
  return *ir::as_loop(primitive::need_loop(state_.function, state_.loop(l), "get").target());
}

TILEWRIGHT_INLINE std::vector<loop_rv> schedule::split_list(loop_rv loop,
                                                            std::vector<factor> factors,
                                                            bool preserve_unit_iters,
                                                            bool disable_predication) {
  return detail::typed<loop_rv>(
      apply(detail::named<"split">,
            {rv(loop), std::move(factors), preserve_unit_iters, disable_predication}));
}

TILEWRIGHT_INLINE loop_rv schedule::fuse(const std::vector<loop_rv>& loops,
                                         bool preserve_unit_iters) {
  return {apply(detail::named<"fuse">, {detail::untyped(loops), preserve_unit_iters})[0].number};
}

TILEWRIGHT_INLINE std::vector<loop_rv> schedule::loop_partition(loop_rv loop,
                                                                std::vector<factor> factors,
                                                                bool preserve_unit_iters) {
  return detail::typed<loop_rv>(
      apply(detail::named<"loop_partition">, {rv(loop), std::move(factors), preserve_unit_iters}));
}

TILEWRIGHT_INLINE loop_rv schedule::merge(const std::vector<loop_rv>& loops) {
  return {apply(detail::named<"merge">, {detail::untyped(loops)})[0].number};
}

TILEWRIGHT_INLINE void schedule::reorder(const std::vector<loop_rv>& loops) {
  apply(detail::named<"reorder">, {detail::untyped(loops)});
}
TILEWRIGHT_INLINE void schedule::parallel(loop_rv loop) {
  apply(detail::named<"parallel">, {rv(loop)});
}
TILEWRIGHT_INLINE void schedule::vectorize(loop_rv loop) {
  apply(detail::named<"vectorize">, {rv(loop)});
}
TILEWRIGHT_INLINE void schedule::unroll(loop_rv loop) {
  apply(detail::named<"unroll">, {rv(loop)});
}

TILEWRIGHT_INLINE void schedule::bind(loop_rv loop, std::string thread_axis) {
  apply(detail::named<"bind">, {rv(loop), std::move(thread_axis)});
}
TILEWRIGHT_INLINE loop_rv schedule::add_unit_loop(block_rv block) {
  return {apply(detail::named<"add_unit_loop">, {rv(block)})[0].number};
}
TILEWRIGHT_INLINE loop_rv schedule::add_unit_loop(loop_rv loop) {
  return {apply(detail::named<"add_unit_loop">, {rv(loop)})[0].number};
}
TILEWRIGHT_INLINE void schedule::transform_layout(block_rv block, buffer_selector buffer,
                                                  map_argument index_map, argument pad_value,
                                                  bool assume_injective_transform) {
  apply(detail::named<"transform_layout">, {rv(block), std::move(buffer), std::move(index_map),
                                            std::move(pad_value), assume_injective_transform});
}
TILEWRIGHT_INLINE void schedule::transform_block_layout(block_rv block, map_argument index_map) {
  apply(detail::named<"transform_block_layout">, {rv(block), std::move(index_map)});
}
TILEWRIGHT_INLINE void schedule::reorder_block_iter_var(block_rv block,
                                                        std::vector<std::int64_t> new_order) {
  apply(detail::named<"reorder_block_iter_var">, {rv(block), std::move(new_order)});
}

TILEWRIGHT_INLINE block_rv schedule::cache_read(block_rv block, int read_index, std::string scope,
                                                const std::vector<block_rv>& consumers) {
  return {apply(detail::named<"cache_read">, {rv(block), std::int64_t{read_index}, std::move(scope),
                                              detail::untyped(consumers)})[0]
              .number};
}
TILEWRIGHT_INLINE block_rv schedule::cache_write(block_rv block, int write_index, std::string scope,
                                                 const std::vector<block_rv>& consumers) {
  return {apply(detail::named<"cache_write">, {rv(block), std::int64_t{write_index},
                                               std::move(scope), detail::untyped(consumers)})[0]
              .number};
}
TILEWRIGHT_INLINE void schedule::compute_at(block_rv block, loop_rv loop, bool preserve_unit_loops,
                                            int index) {
  apply(detail::named<"compute_at">,
        {rv(block), rv(loop), preserve_unit_loops, std::int64_t{index}});
}
TILEWRIGHT_INLINE void schedule::reverse_compute_at(block_rv block, loop_rv loop,
                                                    bool preserve_unit_loops, int index) {
  apply(detail::named<"reverse_compute_at">,
        {rv(block), rv(loop), preserve_unit_loops, std::int64_t{index}});
}
TILEWRIGHT_INLINE void schedule::compute_inline(block_rv block) {
  apply(detail::named<"compute_inline">, {rv(block)});
}
TILEWRIGHT_INLINE void schedule::reverse_compute_inline(block_rv block) {
  apply(detail::named<"reverse_compute_inline">, {rv(block)});
}
TILEWRIGHT_INLINE void schedule::add_atomically(block_rv block) {
  apply(detail::named<"add_atomically">, {rv(block)});
}
TILEWRIGHT_INLINE block_rv schedule::decompose_reduction(block_rv block, loop_rv loop) {
  return {apply(detail::named<"decompose_reduction">, {rv(block), rv(loop)})[0].number};
}

TILEWRIGHT_INLINE void schedule::annotate(block_rv block, std::string key, annotation_value value) {
  apply(detail::named<"annotate">, {rv(block), std::move(key), std::move(value)});
}
TILEWRIGHT_INLINE void schedule::annotate(loop_rv loop, std::string key, annotation_value value) {
  apply(detail::named<"annotate">, {rv(loop), std::move(key), std::move(value)});
}
TILEWRIGHT_INLINE void schedule::unannotate(block_rv block, std::string key) {
  apply(detail::named<"unannotate">, {rv(block), std::move(key)});
}
TILEWRIGHT_INLINE void schedule::unannotate(loop_rv loop, std::string key) {
  apply(detail::named<"unannotate">, {rv(loop), std::move(key)});
}

TILEWRIGHT_INLINE expr_rv schedule::sample_categorical(std::vector<std::int64_t> candidates,
                                                       std::vector<double> probs,
                                                       std::optional<std::int64_t> choice) {
  return {apply(detail::named<"sample_categorical">, {std::move(candidates), std::move(probs)},
                detail::one(choice))[0]
              .number};
}
TILEWRIGHT_INLINE std::vector<expr_rv> schedule::sample_perfect_tile(
    loop_rv loop, int n, int max_innermost_factor,
    std::optional<std::vector<std::int64_t>> choice) {
  return detail::typed<expr_rv>(
      apply(detail::named<"sample_perfect_tile">,
            {rv(loop), std::int64_t{n}, std::int64_t{max_innermost_factor}},
            detail::some(std::move(choice))));
}
TILEWRIGHT_INLINE std::vector<expr_rv> schedule::sample_partitioned_tile(
    loop_rv loop, int n, int partition_pos, int innerpart_factor,
    std::optional<std::vector<std::int64_t>> choice) {
  return detail::typed<expr_rv>(apply(
      detail::named<"sample_partitioned_tile">,
      {rv(loop), std::int64_t{n}, std::int64_t{partition_pos}, std::int64_t{innerpart_factor}},
      detail::some(std::move(choice))));
}
TILEWRIGHT_INLINE std::vector<expr_rv> schedule::sample_tile(
    loop_rv loop, int n, std::vector<std::int64_t> innermost,
    std::optional<std::vector<std::int64_t>> choice) {
  return detail::typed<expr_rv>(apply(detail::named<"sample_tile">,
                                      {rv(loop), std::int64_t{n}, std::move(innermost)},
                                      detail::some(std::move(choice))));
}
TILEWRIGHT_INLINE loop_rv schedule::sample_compute_location(block_rv block,
                                                            std::optional<std::int64_t> choice) {
  return {
      apply(detail::named<"sample_compute_location">, {rv(block)}, detail::one(choice))[0].number};
}

TILEWRIGHT_INLINE void schedule::work_on(std::string func_name) {
  apply(detail::named<"work_on">, {std::move(func_name)});
}

TILEWRIGHT_INLINE block_rv schedule::sparse_reorder(block_rv block,
                                                    std::vector<std::int64_t> new_order) {
  return {apply(detail::named<"sparse_reorder">, {rv(block), std::move(new_order)})[0].number};
}
TILEWRIGHT_INLINE block_rv schedule::sparse_decompose(block_rv block) {
  return {apply(detail::named<"sparse_decompose">, {rv(block)})[0].number};
}
TILEWRIGHT_INLINE block_rv schedule::sparse_fuse(block_rv block, std::vector<std::int64_t> axes) {
  return {apply(detail::named<"sparse_fuse">, {rv(block), std::move(axes)})[0].number};
}

TILEWRIGHT_INLINE void schedule::require(factor condition) {
  apply(detail::named<"assert_">, {std::move(condition)});
}

TILEWRIGHT_INLINE void schedule::enter_postproc() { apply(detail::named<"enter_postproc">, {}); }

}  // namespace tilewright
