#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/impl/schedule/primitive/reductions/algorithm_form.hpp>
#include <tilewright/impl/schedule/primitive/reductions/cascade.hpp>
#include <tilewright/impl/schedule/primitive/reductions/factored_sums.hpp>
#include <tilewright/impl/schedule/primitive/reductions/joined_reductions.hpp>
#include <tilewright/impl/schedule/primitive/reductions/prefix_scans.hpp>
#include <tilewright/ir/reformatted.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/work_on.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {
namespace detail::algorithms {

/// An algorithm's name, and the numbers behind its suffix.
struct sized_form {
  std::string name;
  std::vector<std::int64_t> sizes;
};

/// Nothing for a name that does not end with the suffix and that many numbers.
inline std::optional<sized_form> form_in(const std::string& name, std::string_view suffix,
                                         std::size_t numbers) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.compare(dot, suffix.size(), suffix) != 0)
    return std::nullopt;
  sized_form out{name.substr(0, dot), {}};
  const char *from = name.data() + dot + suffix.size(), *to = name.data() + name.size();
  while (from != to && *from == '_') {
    const auto read = std::from_chars(from + 1, to, out.sizes.emplace_back());
    if (read.ec != std::errc()) return std::nullopt;
    from = read.ptr;
  }
  if (from != to || out.sizes.size() != numbers) return std::nullopt;
  return out;
}

/// The function without numbers that were drawn for the name of an algorithm.
inline ir::function without_sizes(const ir::function& f) {
  const ir::block_realize_node* root = ir::as_realize(f.body);
  if (!root || root->block->annotations.count(ir::sizes_attribute) == 0) return f;
  ir::block_node changed = *root->block;
  changed.annotations.erase(ir::sizes_attribute);
  return replace_block(f, find_block(f, root->block->id), ir::make_block(std::move(changed)));
}

}  // namespace detail::algorithms

TILEWRIGHT_INLINE ir::function work_on(const ir::function& f, const std::string& func_name) {
  if (const std::optional<std::string> plain = before_suffix(func_name, joined_suffix)) {
    if (std::optional<joined_reductions> joined = join_reductions(work_on(f, *plain)))
      return std::move(joined->function);
    refusal{"work_on"}(2, {"no reductions of ", *plain, " can be joined"});
  }
  if (const std::optional<std::string> plain = before_suffix(func_name, factored_suffix)) {
    if (std::optional<ir::function> factored = factor_sums(work_on(f, *plain)))
      return std::move(*factored);
    refusal{"work_on"}(4, {"no sum of ", *plain, " has factors that are better taken out"});
  }
  if (const std::optional<std::string> plain = before_suffix(func_name, scans_suffix)) {
    if (std::optional<ir::function> scans = scan_prefixes(work_on(f, *plain)))
      return std::move(*scans);
    refusal{"work_on"}(6, {"no reduction of ", *plain, " is over what stands before its result"});
  }
  const ir::block_realize_node* root = ir::as_realize(f.body);
  const std::string name = ir::sized_name(
      func_name, root ? ir::sizes_in(root->block->annotations) : std::vector<std::int64_t>());
  if (const auto parts = detail::algorithms::form_in(name, parts_suffix, 1)) {
    parted_cascade out = reduce_in_parts(work_on(detail::algorithms::without_sizes(f), parts->name),
                                         parts->sizes[0]);
    if (out.function) return std::move(*out.function);
    refusal{"work_on"}(3, {"no reductions of ", parts->name, " run in parts: ", out.refusal});
  }
  if (const auto running = detail::algorithms::form_in(name, running_suffix, 2)) {
    parted_cascade out =
        reduce_running(work_on(detail::algorithms::without_sizes(f), running->name),
                       running->sizes[0], running->sizes[1]);
    if (out.function) return std::move(*out.function);
    refusal{"work_on"}(5,
                       {"no reductions of ", running->name, " run part after part: ", out.refusal});
  }
  if (const auto padded = detail::algorithms::form_in(name, padded_suffix, 2)) {
    parted_cascade out = pad_cascade(work_on(detail::algorithms::without_sizes(f), padded->name),
                                     padded->sizes[0], padded->sizes[1]);
    if (out.function) return std::move(*out.function);
    refusal{"work_on"}(7, {"no reductions of ", padded->name, " can be padded: ", out.refusal});
  }
  if (!ir::has_alternatives(f)) return f;
  if (std::optional<ir::function> one = ir::alternative(f, name)) {
    one->name = f.name;
    return std::move(*one);
  }
  std::string known;
  for (const ir::function& each : ir::alternatives(f))
    known += (known.empty() ? "" : ", ") + each.name;
  refusal{"work_on"}(1, {"no algorithm is called ", name, "; there is ", known});
}

}  // namespace tilewright::primitive
