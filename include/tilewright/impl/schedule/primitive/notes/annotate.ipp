#pragma once

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/schedule/primitive/notes/annotate.hpp>

namespace tilewright::primitive {
namespace detail::annotating {

inline void add(ir::annotations& notes, const std::string& owner, const std::string& key,
                const ir::attr& value) {
  const auto [at, fresh] = notes.emplace(key, value);
  if (!fresh && !(at->second == value))
    refusal{"annotate"}(1, {owner, " has another annotation \"", key, "\"; unannotate it first"});
}

inline void remove(ir::annotations& notes, const std::string& owner, const std::string& key) {
  if (notes.erase(key) == 0) refusal{"unannotate"}(1, {owner, " has no annotation \"", key, "\""});
}

/// The function with the annotations of one loop changed by `edit(notes, owner)`.
template <class Edit>
ir::function edit_loop(const ir::function& f, const ir::var& loop, const char* primitive,
                       const Edit& edit) {
  const path at = need_loop(f, loop, primitive);
  auto* changed = new ir::loop_node(*ir::as_loop(at.target()));
  ir::stmt owner(changed);
  edit(changed->annotations, "loop \"" + loop->name + "\"");
  return replace(f, at, std::move(owner));
}

template <class Edit>
ir::function edit_block(const ir::function& f, std::uint64_t id, const char* primitive,
                        const Edit& edit) {
  const path at = need_block(f, id, primitive);
  ir::block_node changed = *ir::as_realize(at.target())->block;
  edit(changed.annotations, "block \"" + changed.name + "\"");
  return replace_block(f, at, ir::make_block(std::move(changed)));
}

}  // namespace detail::annotating

TILEWRIGHT_INLINE ir::function annotate_block(const ir::function& f, std::uint64_t block,
                                              const std::string& key, const ir::attr& value) {
  return detail::annotating::edit_block(f, block, "annotate",
                                        [&](auto& notes, const std::string& owner) {
                                          detail::annotating::add(notes, owner, key, value);
                                        });
}

TILEWRIGHT_INLINE ir::function annotate_loop(const ir::function& f, const ir::var& loop,
                                             const std::string& key, const ir::attr& value) {
  return detail::annotating::edit_loop(f, loop, "annotate",
                                       [&](auto& notes, const std::string& owner) {
                                         detail::annotating::add(notes, owner, key, value);
                                       });
}

TILEWRIGHT_INLINE ir::function unannotate_block(const ir::function& f, std::uint64_t block,
                                                const std::string& key) {
  return detail::annotating::edit_block(f, block, "unannotate",
                                        [&](auto& notes, const std::string& owner) {
                                          detail::annotating::remove(notes, owner, key);
                                        });
}

TILEWRIGHT_INLINE ir::function unannotate_loop(const ir::function& f, const ir::var& loop,
                                               const std::string& key) {
  return detail::annotating::edit_loop(f, loop, "unannotate",
                                       [&](auto& notes, const std::string& owner) {
                                         detail::annotating::remove(notes, owner, key);
                                       });
}

}  // namespace tilewright::primitive
