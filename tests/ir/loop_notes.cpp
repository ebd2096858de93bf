#include <tilewright/ir/loop_notes.hpp>

#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("notes of loops keep their names, which stored traces have") {
  const std::set<std::string> names{ir::prefetch_note,     ir::stream_note,
                                    ir::stream_ahead_note, ir::resident_blocks_note,
                                    ir::unroll_note,       ir::explicit_unroll_note};
  CHECK(names == std::set<std::string>{"pragma_auto_unroll_max_step", "pragma_unroll_explicit",
                                       "tilewright.prefetch", "tilewright.resident_blocks",
                                       "tilewright.stream", "tilewright.stream_ahead"});
}
