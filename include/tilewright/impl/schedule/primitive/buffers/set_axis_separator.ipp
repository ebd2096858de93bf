#pragma once

#include <algorithm>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/rewrite/block_buffers.hpp>
#include <tilewright/schedule/primitive/buffers/set_axis_separator.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::primitive {
namespace detail::axis_separators {

/// Requirement 3.
inline std::vector<int> checked(const ir::buffer& b, const std::vector<std::int64_t>& separators) {
  const auto rank = static_cast<std::int64_t>(b->shape.size());
  std::vector<int> out;
  std::int64_t least = 0;
  for (const std::int64_t s : separators) {
    if (s < least || s > rank)
      refusal{"set_axis_separator"}(
          3, {"separator ", s, " of \"", b->name, "\" is not from ", least, " to ", rank});
    out.push_back(static_cast<int>(s));
    least = s;
  }
  return out;
}

}  // namespace detail::axis_separators

TILEWRIGHT_INLINE ir::function set_axis_separator(
    const ir::function& f, std::uint64_t block, const buffer_selector& buffer,
    const std::vector<std::int64_t>& axis_separators) {
  using namespace detail::block_buffers;
  constexpr const char* name = "set_axis_separator";
  const path at = need_block(f, block, name);
  const ir::buffer x = selected(name, 1, *ir::as_realize(at.target())->block, buffer);
  const std::vector<int> separators = detail::axis_separators::checked(x, axis_separators);
  const auto mine = support::find(f.params, [&](const ir::param& p) { return p.buffer == x; });
  const int slot = mine == f.params.end() ? allocation_site(at, x) : 0;
  if (slot < 0)
    refusal{name}(2, {"\"", x->name, "\" is a part of another buffer; name that one instead"});
  path site = at;
  site.slots.resize(static_cast<std::size_t>(slot) + 1);
  if (x->axis_separators == separators) return f;
  const ir::buffer_map map = changed_buffers(site.target(), x, [&](ir::buffer_node& b) {
    b.axis_separators =
        b.shape.size() == x->shape.size() ? separators : std::vector<int>(separators.size(), 0);
  });
  ir::function out = replace(f, site, ir::replace_buffers(site.target(), map));
  for (ir::param& p : out.params)
    if (p.buffer == x) p.buffer = map.at(x);
  return out;
}

}  // namespace tilewright::primitive
