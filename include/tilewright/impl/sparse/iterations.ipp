#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/sparse/lower.hpp>

namespace tilewright::sparse {
namespace detail {

/// Programs of texts, beside what lowering makes of them: a search replays traces of a few alone.
struct read_iterations {
  std::string text;
  ir::sparse_function program;
  ir::function lowered;
};

inline const read_iterations& read_text(const std::string& text) {
  constexpr std::size_t most = 8;
  thread_local std::vector<read_iterations> known;
  for (const read_iterations& one : known)
    if (one.text == text) return one;
  ir::sparse_function program = ir::parse_sparse(text);
  ir::function lowered = lower(program);
  if (known.size() == most) known.erase(known.begin());
  known.push_back({text, std::move(program), std::move(lowered)});
  return known.back();
}

/// The lowered function under the name and with the attributes of another one.
inline ir::function named_as(ir::function lowered, const ir::function& f) {
  lowered.name = f.name;
  lowered.attrs = f.attrs;
  return lowered;
}

/// The program with the annotations that the innermost blocks of its iterations have in `f`: who annotates such a
/// block annotates the iteration. What lowering itself notes at a block is none of the iteration's.
inline ir::sparse_function annotated_as(ir::sparse_function program, const ir::function& f) {
  ir::for_each_stmt(f.body, [&](const ir::stmt& s) {
    const auto* realize = ir::as_realize(s);
    if (!realize) return;
    for (auto& part : program.body)
      if (auto* it = std::get_if<ir::sparse_iteration>(&part);
          it && it->name == realize->block->name) {
        it->annotations = realize->block->annotations;
        it->annotations.erase(ir::rising_annotation);
      }
  });
  return program;
}

/// Begins with rows and their elements, and sums over neither, or over elements alone.
inline bool walks_elements(const ir::sparse_iteration& it, ir::iter_kind elements_are) {
  if (it.iters.size() < 2) return false;
  const ir::sparse_iter &rows = it.iters[0], &elements = it.iters[1];
  return !rows.fused && !rows.axis->parent && elements.axis->variable() && !elements.attached &&
         elements.axis->parent == rows.axis && rows.kind == ir::iter_kind::spatial &&
         elements.kind == elements_are;
}

}  // namespace detail

TILEWRIGHT_INLINE ir::function with_iterations(const ir::sparse_function& f) {
  ir::function out = lower(f);
  out.attrs[ir::iterations_attribute] = ir::print(f);
  return out;
}

TILEWRIGHT_INLINE std::optional<ir::sparse_function> iterations_of(const ir::function& f) {
  const auto found = f.attrs.find(ir::iterations_attribute);
  if (found == f.attrs.end()) return std::nullopt;
  const auto* text = std::get_if<std::string>(&found->second.value);
  if (!text) return std::nullopt;
  const detail::read_iterations& read = detail::read_text(*text);
  ir::sparse_function out = read.program;
  if (!ir::equal(detail::named_as(read.lowered, f), f)) {
    out = detail::annotated_as(std::move(out), f);
    if (!ir::equal(detail::named_as(lower(out), f), f)) return std::nullopt;
  }
  out.name = f.name;
  return out;
}

TILEWRIGHT_INLINE std::vector<std::string> iterations_of_elements(const ir::sparse_function& f) {
  std::vector<std::string> out;
  for (const auto& part : f.body) {
    const auto* it = std::get_if<ir::sparse_iteration>(&part);
    if (!it) continue;
    if (!detail::walks_elements(*it, ir::iter_kind::spatial)) return {};
    out.push_back(it->name);
  }
  return out;
}

TILEWRIGHT_INLINE std::vector<std::string> sums_of_elements(const ir::sparse_function& f) {
  std::vector<std::string> out;
  for (const auto& part : f.body)
    if (const auto* it = std::get_if<ir::sparse_iteration>(&part);
        it && detail::walks_elements(*it, ir::iter_kind::reduce))
      out.push_back(it->name);
  return out;
}

}  // namespace tilewright::sparse
