#include "written.hpp"

#include <cstddef>
#include <utility>

#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/root_blocks.hpp>

#include "tensor_workloads.hpp"

namespace gpu_written {
namespace {

using namespace tilewright;

/// What a block of threads makes of one axis of the result.
struct side {
  int virtuals = 1, threads = 1, results = 1;
};

/// Tiles of a product or a window.
struct tiles {
  std::string block;
  std::vector<side> sides;           // of spatial loops
  std::vector<int> steps;            // of reductions, between two barriers
  std::vector<int> row_threads{};    // of the last but one side: warps, above each other, in twos
  int column_lanes = 0;              // of the last side, beside each other in a warp
  int group = 1;                     // rows of blocks that begin one after the other
  int padding = 0;                   // bytes behind rows of the first operand
  int resident = 0;                  // blocks on a multiprocessor
  int ahead = 1;                     // steps that are copied ahead
  std::vector<std::string> after{};  // blocks behind the result, the last one first
};

using loops = std::vector<loop_rv>;

void append(loops& to, const loops& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Splits all loops of the block and binds those of blocks and threads. @returns the loops over steps between two
/// barriers
loops bind_tiles(schedule& s, block_rv block, const tiles& t) {
  const loops all = s.get_loops(block);
  const std::size_t n = t.sides.size();
  loops grid, virtuals, threads, results, rounds, inside;
  for (std::size_t i = 0; i < n; ++i) {
    const side& x = t.sides[i];
    const loops parts =
        s.split(all[i], std::vector<factor>{infer, x.virtuals, x.threads, x.results});
    grid.push_back(parts[0]);
    virtuals.push_back(parts[1]);
    threads.push_back(parts[2]);
    results.push_back(parts[3]);
  }
  for (std::size_t i = 0; i < t.steps.size(); ++i) {
    const auto [round, step] = s.split(all[n + i], {infer, t.steps[i]});
    rounds.push_back(round);
    inside.push_back(step);
  }
  if (t.group > 1) {  // groups of rows, columns, rows of a group
    const auto [outer, inner] = s.split(grid[n - 2], {infer, t.group});
    grid[n - 2] = outer;
    grid.push_back(inner);
  }
  if (!t.row_threads.empty()) {
    const loops r = s.split(
        threads[n - 2], std::vector<factor>{t.row_threads[0], t.row_threads[1], t.row_threads[2]});
    const auto [warps, lanes] = s.split(threads[n - 1], {infer, t.column_lanes});
    threads[n - 2] = r[0];
    threads[n - 1] = warps;
    append(threads, {r[1], lanes, r[2]});
  }
  loops order = grid;
  for (const loops* part : {&virtuals, &threads, &rounds, &inside, &results}) append(order, *part);
  s.reorder(order);
  const loop_rv blocks = s.fuse(grid), own = s.fuse(threads);
  s.bind(blocks, "blockIdx.x");
  s.bind(s.fuse(virtuals), "vthread.x");
  s.bind(own, "threadIdx.x");
  s.annotate(blocks, ir::resident_blocks_note, t.resident);
  s.reverse_compute_at(s.cache_write(block, 0, "local"), own, true);
  return rounds;
}

/// Both operands lie in shared memory, copied together in vectors and ahead.
void stage_operands(schedule& s, block_rv block, const tiles& t, const loops& rounds) {
  for (const int operand : {0, 1}) {
    const block_rv copy = s.cache_read(block, operand, "shared", {block});
    s.compute_at(copy, rounds.back(), true);
    const std::size_t rank = s.get(copy).block->writes[0].buffer->shape.size();
    loops places = s.get_loops(copy);
    places.erase(places.begin(), places.end() - static_cast<std::ptrdiff_t>(rank));
    s.fuse(places);
    s.annotate(copy, ir::cooperative_fetch_note, 4);
    if (operand == 0 && t.padding > 0) s.annotate(copy, ir::row_padding_note, t.padding);
  }
  const loop_rv first = rounds.front();
  s.annotate(first, "software_pipeline_stage", ir::attr::list{0, 0, t.ahead});
  s.annotate(first, "software_pipeline_order", ir::attr::list{0, 1, 2});
  s.annotate(first, "software_pipeline_async_stages", ir::attr::list{0});
}

schedule tiled(const ir::function& f, const space::context& where, const tiles& t) {
  schedule s(f);
  const block_rv block = s.get_block(t.block);
  stage_operands(s, block, t, bind_tiles(s, block, t));
  for (const std::string& name : t.after) s.reverse_compute_inline(s.get_block(name));
  if (space::has_block(s, "P")) s.compute_inline(s.get_block("P"));
  s.annotate(s.get_block("root"), "meta_schedule.unroll_explicit", 2048);
  space::default_gpu().finish(s, where);
  return s;
}

entry written(std::string workload, std::string name, tiles t) {
  return {std::move(workload), std::move(name),
          [t = std::move(t)](const ir::function& f, const space::context& where) {
            return tiled(f, where, t);
          }};
}

/// The first schedule of a space of this rule alone; what is left of a function becomes part of it or gets threads.
entry on_tensor_cores(std::string workload, std::string name, const space::use_tensor_core& rule) {
  return {std::move(workload), std::move(name),
          [rule](const ir::function& f, const space::context& where) {
            return search::default_schedule(f, gpu_workloads::tensor_space(rule), where, 1);
          }};
}

/// What of a product by warp groups is left to others than the groups: operands to the copy engine, which a group more asks;
/// results to it; tiles of a multiprocessor to one block.
struct leaving {
  bool boxes = false, roles = false, rounds = false, stores = false;
};

/// Blocks of 128 x `columns` by two warp groups, 64 terms a step, `ahead` steps copied ahead; eight blocks above each
/// other share columns.
entry by_groups(std::string workload, int columns, int ahead, const leaving& to = {}) {
  space::use_tensor_core rule;
  const std::string type = workload[0] == 'B' ? "bf16" : "f16";
  rule.intrinsics = {"wgmma_64x" + std::to_string(columns) + "x16_" + type + type + "f32"};
  rule.rows = {8, 2, 1};
  rule.columns = {1, 1, 1};
  rule.background = ahead;
  rule.tensor_copies = to.boxes;
  rule.producer = to.roles;
  rule.persistent = to.rounds;
  rule.tensor_stores = to.stores;
  std::string name = "groups_128x" + std::to_string(columns) + "_" + std::to_string(ahead);
  for (const auto& [is, word] : {std::pair(to.boxes, "_boxes"), std::pair(to.roles, "_roles"),
                                 std::pair(to.rounds, "_rounds"), std::pair(to.stores, "_stores")})
    if (is) name += word;
  entry out = on_tensor_cores(std::move(workload), std::move(name), rule);
  out.in_groups = true;
  return out;
}

/// Windows of 7 x 7 on three channels: so many pixels and filters of a thread, in twos or not.
tiles window(side h, side w, side filters, std::vector<std::string> after = {}) {
  return {
      .block = "Y", .sides = {{}, h, w, filters}, .steps = {7, 7, 3}, .after = std::move(after)};
}

tiles in_twos(tiles t) {
  const int rows = t.sides[t.sides.size() - 2].threads, columns = t.sides.back().threads;
  t.row_threads = {1, rows / 2, 2};
  t.column_lanes = columns;
  return t;
}

tiles product(side rows, side columns, int step, std::vector<int> row_threads) {
  return {.block = "C",
          .sides = {{}, rows, columns},
          .steps = {step},
          .row_threads = std::move(row_threads),
          .column_lanes = 8,
          .padding = 16};
}

space::use_tensor_core cores(int background, bool staged, bool carried) {
  space::use_tensor_core out;
  out.background = background;
  out.staged = staged;
  out.carried = carried;
  return out;
}

}  // namespace

std::vector<entry> all() {
  std::vector<entry> out;
  // 3044 us where the default took 3301: 32 terms at a time, rows of A apart, two blocks to a multiprocessor, in groups
  tiles large = product({1, 16, 8}, {2, 16, 4}, 32, {4, 2, 2});
  large.group = 8;
  large.resident = 2;
  out.push_back(written("GEMM4096", "written", large));
  // the same with rows of a thread in two halves, so that threads in twos read banks apart
  large.sides[1] = {2, 16, 4};
  out.push_back(written("GEMM4096", "halves", large));
  out.push_back(written("GEMM1024", "written",
                        product({1, 8, 4}, {2, 16, 4}, 32, {2, 2, 2})));  // 57.0 of 65.1
  tiles small = product({1, 8, 1}, {1, 8, 2}, 64, {2, 2, 2});             // 1.91 of 2.74
  small.ahead = 2;
  out.push_back(written("GMM", "written", small));
  // threads of windows in a line, as they were, and four pixels of four filters to a thread
  for (const auto& [name, after] :
       {std::pair<const char*, std::vector<std::string>>{"C2D", {}},
        std::pair<const char*, std::vector<std::string>>{"CBR", {"Z", "YO", "YG", "YB"}}}) {
    out.push_back(written(name, "line", window({1, 4, 1}, {1, 8, 2}, {2, 4, 4}, after)));
    out.push_back(
        written(name, "squares", in_twos(window({1, 4, 1}, {1, 4, 4}, {1, 8, 4}, after))));
  }
  const tiles deep{.block = "Y",
                   .sides = {{}, {1, 1, 1}, {1, 16, 1}, {1, 2, 8}, {2, 8, 4}},
                   .steps = {1, 7, 7, 3}};
  out.push_back(written("C3D", "line", deep));
  // 64 x 128 x 64, four steps on their way, and what ran before it
  space::use_tensor_core one = cores(4, false, true);
  one.rows = {1, 2, 2, 1};
  one.columns = {1, 2, 4, 1};
  one.steps = {4, 1};
  out.push_back(on_tensor_cores("F16_1024", "written", one));
  out.push_back(on_tensor_cores("F16_1024", "before", cores(3, false, true)));
  // steps of 64 that the copy engine of sm_90a brings, three ahead, and the same by threads: untimed
  for (const int columns : {4, 2})
    for (const bool boxes : {true, false}) {
      space::use_tensor_core by_steps = cores(3, false, true);
      by_steps.columns = {1, columns, 4, 1};
      by_steps.steps = {4, 1};
      by_steps.tensor_copies = boxes;
      const std::string tile = columns == 4 ? "" : "_narrow";
      out.push_back(on_tensor_cores("F16_4096", (boxes ? "boxes" : "threads") + tile, by_steps));
    }
  // 25.9 of 27.1 us: results through shared memory
  out.push_back(on_tensor_cores("DENSE_tensor_cores", "written", cores(2, true, true)));
  out.push_back(on_tensor_cores("DENSE_tensor_cores", "before", cores(3, false, true)));
  for (const char* name : {"F16_1024", "F16_4096", "F16_8192", "BF16_4096"}) {
    for (const int columns : {128, 256})
      for (const int ahead : {1, 2}) out.push_back(by_groups(name, columns, ahead));
    for (const leaving& to : {leaving{true}, leaving{true, true}}) {
      out.push_back(by_groups(name, 128, 4, to));
      out.push_back(by_groups(name, 256, 2, to));
    }
    out.push_back(by_groups(name, 256, 2, {true, true, true}));
    out.push_back(by_groups(name, 128, 2, {true, true, false, true}));
    out.push_back(by_groups(name, 128, 2, {true, true, true, true}));
  }
  return out;
}

}  // namespace gpu_written
