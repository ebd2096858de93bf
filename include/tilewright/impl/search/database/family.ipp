#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search {
namespace detail {

/// Names that count in a family, beside the kernel's: the later the version, the fewer.
enum class family_names { none, blocks, blocks_and_parameters };

inline std::string family_text(const ir::function& f, family_names names) {
  support::hasher family;
  family.add(std::string_view(f.name));
  if (ir::keeps_term_order(f)) family.add(std::string_view(ir::in_order_value));
  for (const ir::param& p : f.params) {
    const std::string type(name(p.buffer ? p.buffer->type : p.scalar.type())),
        rank = std::to_string(p.buffer ? p.buffer->shape.size() : 0),
        named = names == family_names::blocks_and_parameters
                    ? (p.buffer ? p.buffer->name : p.scalar->name) + ":"
                    : std::string();
    family.add(std::string_view(named + type + ":" + rank));
  }
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    const auto* r = ir::as_realize(s);
    if (!r) return;
    if (names != family_names::none) return family.add(std::string_view(r->block->name));
    for (const ir::iter_var& iter : r->block->iters)
      family.add(static_cast<std::uint64_t>(iter.kind));
    family.add(std::string_view("block"));
  });
  return family.finish().hex();
}

}  // namespace detail

TILEWRIGHT_INLINE std::string family_of(const ir::function& f) {
  return detail::family_text(f, detail::family_names::none);
}

TILEWRIGHT_INLINE std::optional<record> nearest_record(const database& db, const workload& w) {
  if (auto r = db.nearest(w.family, w.extents, w.key)) return r;
  using names = detail::family_names;
  for (const names n : {names::blocks, names::blocks_and_parameters})
    if (auto r = db.nearest(detail::family_text(w.function, n), w.extents, w.key)) return r;
  return std::nullopt;
}

}  // namespace tilewright::search
