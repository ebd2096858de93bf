// What docs/primitives/ shows of each primitive as a trace, written as an expression of steps. Both do the
// same, and an expression is shown as it stands here.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/instruction.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/steps.hpp>
#include <tilewright/target/cpu.hpp>

#include "sections.hpp"

using namespace tilewright;
using namespace tilewright::space;

namespace {

constexpr variable<"b"> b;
constexpr variable<"c"> c;
constexpr variable<"d"> d;
constexpr variable<"l"> l;
constexpr variable<"m"> m;
constexpr variable<"t"> t;

/// An expression and how it is written.
struct form {
  design_space space;
  std::string written;
};
using forms = std::vector<std::pair<std::string_view, form>>;

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char x) { return x == ' ' || x == '\n'; });
  return text;
}

/// What the step of a kind is made of: the types of its parameters, each for itself, what it gives and
/// what it decides. A kind that has nothing new in these is written as others are.
struct step_parts {
  std::set<argument_type> arguments;
  std::set<output_shape> outputs;
  std::set<decision_shape> decisions;

  void add(const instruction_kind& kind) {
    for (const parameter& p : kind.parameters) arguments.insert(p.type);
    outputs.insert(kind.outputs);
    decisions.insert(kind.choice);
  }
  bool holds(const instruction_kind& kind) const {
    for (const parameter& p : kind.parameters)
      if (arguments.count(p.type) == 0) return false;
    return outputs.count(kind.outputs) == 1 && decisions.count(kind.choice) == 1;
  }
};

/// A space begins with choosing among the algorithms that a function carries: one instruction more.
trace last_steps(const schedule& s, std::size_t count) {
  trace out;
  const std::vector<trace::step>& all = s.trace().steps();
  for (std::size_t n = all.size() - std::min(count, all.size()); n < all.size(); ++n)
    out.append(all[n].what, all[n].choice);
  return out;
}

#define WRITTEN(NAME, ...)                    \
  {                                           \
#NAME, form { __VA_ARGS__, #__VA_ARGS__ } \
  }
#define FORM(NAME, ...) WRITTEN(NAME, steps(__VA_ARGS__))
#define OF(BLOCK) let<b> = get_block<BLOCK>
#define LOOPS_OF(BLOCK) OF(BLOCK), let<l> = get_loops<b>

forms queries() {
  return {FORM(get_block, OF("B")),
          FORM(get_loops, LOOPS_OF("B")),
          FORM(get_child_blocks, OF("root"), let<c> = get_child_blocks<b>),
          FORM(get_producers, OF("C"), let<c> = get_producers<b>),
          FORM(get_consumers, OF("B"), let<c> = get_consumers<b>),
          FORM(get_output_blocks, OF("root"), let<c> = get_output_blocks<b>)};
}

forms iterations() {
  return {FORM(sparse_reorder, OF("C"), let<c> = sparse_reorder<b, 2, 0, 1>),
          FORM(sparse_fuse, OF("S"), let<c> = sparse_fuse<b, 0, 1>),
          FORM(sparse_decompose, OF("C"), let<c> = sparse_decompose<b>)};
}

forms samplings() {
  return {
      FORM(sample_categorical,
           let<t> = sample_categorical<16, 64, 512>({0.25, 0.5, 0.25}, with_decision(1)), OF("B"),
           annotate<b, "pragma_auto_unroll_max_step">(t)),
      FORM(sample_perfect_tile, LOOPS_OF("B"),
           let<t> = sample_perfect_tile<l[0], 2>(with_decision(16, 8)), split<l[0], t>),
      FORM(sample_tile, LOOPS_OF("B"), let<t> = sample_tile<l[0], 2, 6, 8>(with_decision(22, 6)),
           split<l[0], t>),
      FORM(sample_compute_location, OF("B"), let<m> = sample_compute_location<b>(with_decision(0)),
           compute_at<b, m>),
      FORM(sample_partitioned_tile, LOOPS_OF("B"),
           let<t> = sample_partitioned_tile<l[0], 3, 1, 4>(with_decision(8, 4, 4)), split<l[0], t>),
      FORM(assert_, LOOPS_OF("B"), let<t> = sample_perfect_tile<l[0], 2>(with_decision(16, 8)),
           assert_<>(((t[0] * t[1]) <= 128)), split<l[0], t>),
      WRITTEN(work_on, work_on<"by_sum">)};
}

forms loops() {
  return {
      FORM(split, LOOPS_OF("B"), split<l[0], infer, 6>),
      FORM(fuse, LOOPS_OF("B"), fuse<l>),
      FORM(reorder, LOOPS_OF("C"), reorder<l[2], l[0]>),
      FORM(add_unit_loop, OF("C"), let<l> = add_unit_loop<b>),
      FORM(parallel, LOOPS_OF("B"), parallel<l[0]>),
      FORM(vectorize, LOOPS_OF("B"), vectorize<l[1]>),
      FORM(bind, LOOPS_OF("B"), bind<l[0], "blockIdx.x">, bind<l[1], "threadIdx.x">),
      FORM(unroll, LOOPS_OF("B"), unroll<l[-1]>),
      FORM(merge, OF("B"), let<c> = get_block<"C">, let<l> = get_loops<b>, let<m> = get_loops<c>,
           merge<l[2], m[2]>),
      FORM(loop_partition, LOOPS_OF("B"), let<"first", "rest"> = loop_partition<l[0], infer, 32>)};
}

forms movement() {
  return {FORM(compute_at, OF("B"), let<c> = get_block<"C">, let<l> = get_loops<c>,
               compute_at<b, l[0]>),
          FORM(reverse_compute_at, OF("C"), let<c> = get_block<"B">, let<l> = get_loops<c>,
               reverse_compute_at<b, l[0]>),
          FORM(compute_inline, OF("B"), compute_inline<b>),
          FORM(reverse_compute_inline, OF("C"), reverse_compute_inline<b>)};
}

forms staging() {
  return {FORM(cache_read, OF("C"), let<c> = cache_read<b, 0, "local">),
          FORM(cache_write, OF("C"), let<c> = cache_write<b, 0, "local">),
          FORM(cache_inplace, OF("A"), let<c, d> = cache_inplace<b, 0, "local">),
          FORM(cache_index, OF("B"), let<c, d> = cache_index<b, "global">),
          FORM(reindex, OF("C"), reindex<b>(read_buffer(0))),
          FORM(reindex_cache_read, OF("B"),
               reindex_cache_read<b, 0, "shared", "lambda i, j: (i // 16, j, i % 16)">),
          FORM(reindex_cache_write, OF("C"),
               reindex_cache_write<b, 0, "local", "lambda h, r: (h % 5, h // 5)">),
          FORM(read_at, LOOPS_OF("B"), read_at<l[0], b, 0, "shared">),
          FORM(write_at, LOOPS_OF("B"), write_at<l[0], b, 0, "local">),
          FORM(rolling_buffer, OF("B"), let<c> = get_block<"C">, let<l> = get_loops<c>,
               compute_at<b, l[0]>, rolling_buffer<b, 0>)};
}

forms buffers() {
  return {FORM(set_scope, OF("B"), set_scope<b, 0, "shared">),
          FORM(unsafe_set_dtype, OF("B"), unsafe_set_dtype<b, 0, "float16">),
          FORM(storage_align, OF("B"), storage_align<b, 0, 0, 32, 8>),
          FORM(set_axis_separator, OF("B"), set_axis_separator<b>(written_buffer(0), 1)),
          FORM(unsafe_hide_buffer_access, OF("C"), unsafe_hide_buffer_access<b, "read", 0>),
          FORM(annotate_buffer_access, OF("C"),
               annotate_buffer_access<b, 0, "read", "lambda i, j: [(0, 128), (j, j + 1)]">),
          FORM(transform_layout, OF("B"),
               transform_layout<b>(written_buffer(0), "lambda i, j: (i // 16, j, i % 16)"))};
}

forms reductions_and_padding() {
  return {FORM(decompose_reduction, LOOPS_OF("C"), decompose_reduction<b, l[1]>),
          FORM(rfactor, LOOPS_OF("B"), let<m> = split<l[1], infer, 32>, rfactor<m[1], 0>),
          FORM(add_atomically, LOOPS_OF("C"), decompose_reduction<b, l[0]>, add_atomically<b>,
               let<m> = get_loops<b>, let<c> = split<m[1], 16, infer>, bind<m[0], "threadIdx.x">,
               bind<c[0], "blockIdx.x">),
          FORM(fuse_reduction_epilogue, OF("S"), let<d> = get_block<"D">,
               fuse_reduction_epilogue<b, d>),
          FORM(pad_einsum, OF("C"), pad_einsum<b, 16, 16, 16>),
          FORM(decompose_padding, LOOPS_OF("P"), decompose_padding<b, l>)};
}

forms blocks_and_notes() {
  return {FORM(blockize, LOOPS_OF("B"), let<m> = split<l[0], 8, 16>, blockize<m[1]>),
          FORM(tensorize, LOOPS_OF("C"), let<m> = split<l[2], 8, 4>, reorder<m[0], l[1], m[1]>,
               tensorize<l[1], "dot_16x4_vnni">),
          FORM(transform_block_layout, OF("B"),
               transform_block_layout<b, "lambda i, j: (i // 16, j, i % 16)">),
          FORM(reorder_block_iter_var, OF("C"), reorder_block_iter_var<b, 2, 0, 1>),
          FORM(annotate, OF("B"), annotate<b, "note", 1>),
          FORM(unannotate, OF("B"), unannotate<b, "note">),
          WRITTEN(enter_postproc, enter_postproc<>)};
}

#undef FORM
#undef WRITTEN
#undef OF
#undef LOOPS_OF

}  // namespace

TEST_CASE("the trace of each section, written as an expression of steps") {
  static const target::cpu machine = target::named("haswell");
  const std::map<std::string, docs::section> sections = docs::documented();
  std::map<std::string_view, int> seen;
  for (const forms& page : {queries(), iterations(), samplings(), loops(), movement(), staging(),
                            buffers(), reductions_and_padding(), blocks_and_notes()})
    for (const auto& each : page) {
      const std::string_view name = each.first;
      const form& shown = each.second;
      INFO(name);
      ++seen[name];
      CHECK(without_blanks(shown.space.text()) == without_blanks(shown.written));
      const docs::section& s = sections.at(std::string(name));
      const std::vector<schedule> made =
          shown.space.sketches(ir::parse(s.code.at(0)), {&machine, 1}, 1);
      REQUIRE(!made.empty());
      const trace expected = trace::parse(s.code.at(1)),
                  shows = last_steps(made[0], expected.size());
      CHECK_MESSAGE(shows == expected, shows.print());
    }
  step_parts written;
  for (const auto& [name, times] : seen) {
    CAPTURE(name);
    CHECK(times == 1);
    written.add(*find_instruction_kind(name));
  }
  for (const instruction_kind& kind : instruction_kinds())
    CHECK_MESSAGE(written.holds(kind), "no step here has what ", kind.name,
                  " has among its parameters, results or decisions");
}
