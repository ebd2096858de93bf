#pragma once

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/schedule/primitive/notes/annotate.hpp>

namespace tilewright::primitive {
namespace detail::annotating {

/// The function with the annotations of a loop, or of a block, changed by `edit(notes, owner)`.
template <class Edit>
ir::function edited(const ir::function& f, const ir::var& loop, const char* primitive,
                    const Edit& edit) {
  const path at = need_loop(f, loop, primitive);
  auto* changed = new ir::loop_node(*ir::as_loop(at.target()));
  ir::stmt owner(changed);
  edit(changed->annotations, "loop \"" + loop->name + "\"");
  return replace(f, at, std::move(owner));
}
template <class Edit>
ir::function edited(const ir::function& f, std::uint64_t block, const char* primitive,
                    const Edit& edit) {
  const path at = need_block(f, block, primitive);
  ir::block_node changed = *ir::as_realize(at.target())->block;
  edit(changed.annotations, "block \"" + changed.name + "\"");
  return replace_block(f, at, ir::make_block(std::move(changed)));
}

template <class Owner>
ir::function annotated(const ir::function& f, const Owner& of, const std::string& key,
                       const ir::attr& value) {
  return edited(f, of, "annotate", [&](ir::annotations& notes, const std::string& owner) {
    const auto [at, fresh] = notes.emplace(key, value);
    if (!fresh && !(at->second == value))
      refusal{"annotate"}(1, {owner, " has another annotation \"", key, "\"; unannotate it first"});
    if (fresh && key == ir::rising_annotation)
      refusal{"annotate"}(
          2, {"\"", key, "\" of ", owner,
              " would promise what no call checks; store the rows with dcsr<..>, which says it"});
  });
}

template <class Owner>
ir::function unannotated(const ir::function& f, const Owner& of, const std::string& key) {
  return edited(f, of, "unannotate", [&](ir::annotations& notes, const std::string& owner) {
    if (notes.erase(key) == 0)
      refusal{"unannotate"}(1, {owner, " has no annotation \"", key, "\""});
    if (key == ir::atomic_note)
      refusal{"unannotate"}(2,
                            {"threads may rely on the additions of ", owner,
                             " being atomic; leave out add_atomically, which says that they are"});
  });
}

}  // namespace detail::annotating

TILEWRIGHT_INLINE ir::function annotate_block(const ir::function& f, std::uint64_t block,
                                              const std::string& key, const ir::attr& value) {
  return detail::annotating::annotated(f, block, key, value);
}

TILEWRIGHT_INLINE ir::function annotate_loop(const ir::function& f, const ir::var& loop,
                                             const std::string& key, const ir::attr& value) {
  return detail::annotating::annotated(f, loop, key, value);
}

TILEWRIGHT_INLINE ir::function unannotate_block(const ir::function& f, std::uint64_t block,
                                                const std::string& key) {
  return detail::annotating::unannotated(f, block, key);
}

TILEWRIGHT_INLINE ir::function unannotate_loop(const ir::function& f, const ir::var& loop,
                                               const std::string& key) {
  return detail::annotating::unannotated(f, loop, key);
}

}  // namespace tilewright::primitive
