// Where reads beyond the edge go, and checks of what the definitions of a kernel store.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <tilewright/expr/check/checks.hpp>

namespace tilewright::dsl {

/// What becomes of one guarded read.
struct padding_plan {
  enum kind : std::uint8_t {
    direct,  // it never leaves the tensor
    padded,  // it reads the copy with borders of `group`
    guarded  // its indices are not known (a gather): the guard stays at the read
  };
  kind how = direct;
  int group = -1;
};

/// Guarded reads that share one copy with borders: same tensor, border, and state of the tensor.
struct padding_group {
  const tensor_info* tensor = nullptr;
  border edge = border::zero;
  int version = 0;                  // definitions of the tensor before the read
  std::vector<index_interval> box;  // [rank], indices into the tensor
};

struct padding_plans {
  std::map<int, padding_plan> reads;  // by position of the load
  std::vector<padding_group> groups;

  const padding_plan& at(int load) const { return reads.at(load); }
};

/// Plans all guarded reads; all extents are known.
padding_plans find_paddings(const program_view& p);

/// Each definition stores an element at most once, and the definitions of an output cover it.
/// @throws argument_error
void check_stores(std::string_view kernel, const program_view& p);

}  // namespace tilewright::dsl
