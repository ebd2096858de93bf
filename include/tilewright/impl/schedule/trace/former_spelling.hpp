// What TVM wrote otherwise in other years: names of parameters, and a buffer in parameters of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <tilewright/ir/index_map.hpp>
#include <tilewright/schedule/instruction.hpp>

namespace tilewright::detail {

/// What TVM called a parameter in other years.
struct former_name {
  std::string_view kind, name, today;
};
inline constexpr std::array<former_name, 3> former_names{{{"blockize", "loop", "target"},
                                                          {"tensorize", "loop", "block_or_loop"},
                                                          {"get_block", "block_name", "name"}}};

inline std::string_view name_today(const instruction_kind& kind, std::string_view name) {
  for (const former_name& f : former_names)
    if (f.kind == kind.name && f.name == name) return f.today;
  return name;
}

/// A buffer as 2022 wrote it, in parameters of its own: `buffer_index=0, is_write_index=True`, or
/// `buffer_index=0, buffer_index_type="write"`.
struct split_selector {
  std::optional<std::int64_t> index;
  std::optional<bool> written;
  bool any() const { return index || written; }
};

/// The map that changes nothing.
inline bool is_identity(const ir::index_map& m) {
  if (m.inputs.size() != m.outputs.size()) return false;
  for (std::size_t i = 0; i < m.inputs.size(); ++i)
    if (!m.inputs[i].same(m.outputs[i])) return false;
  return true;
}

}  // namespace tilewright::detail
