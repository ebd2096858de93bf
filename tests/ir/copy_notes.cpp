#include <tilewright/ir/copy_notes.hpp>

#include <string>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("notes of copies keep their names, which stored traces have") {
  CHECK(std::string(ir::cooperative_fetch_note) == "meta_schedule.cooperative_fetch");
  CHECK(std::string(ir::row_padding_note) == "tilewright.row_padding");
}
