#pragma once

#include <string_view>
#include <utility>

#include <tilewright/impl/schedule/trace/rv_renaming.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail::trace_names {

using step = support::ref<const instruction>;

template <class Change>
step changed(const step& what, const Change& change) {
  auto* out = new instruction(*what);
  step owner(out);
  change(*out);
  return owner;
}

/// The trace as it is recorded when `change(instruction, schedule)` is applied in the place of each
/// instruction.
template <class Change>
trace rewritten(const trace& t, const ir::function& f, const Change& change) {
  schedule s(f);
  tilewright::detail::rv_renaming names;
  for (const trace::step& recorded : t.steps()) {
    const step what = names.identity()
                          ? recorded.what
                          : tilewright::detail::with_arguments(*recorded.what, names.numbers());
    names.bind(recorded.what->outputs, s.apply(change(what, s), recorded.choice));
  }
  return s.trace();
}

inline const std::string* block_name(const instruction& what) {
  return what.kind->name == "get_block" ? std::get_if<std::string>(&what.args[0]) : nullptr;
}

inline step with_block_name(const step& what, const std::string& name) {
  return changed(what, [&](instruction& out) { out.args[0] = name; });
}

/// The place of a named buffer among the regions of a block; what is not found stays.
inline buffer_selector place_of(const buffer_selector& buffer, const ir::block_node& b) {
  const auto place = [&](const std::vector<ir::buffer_region>& regions) {
    for (std::size_t i = 0; i < regions.size(); ++i)
      if (regions[i].buffer->name == buffer.name) return static_cast<int>(i);
    return -1;
  };
  if (const int i = place(b.reads); i >= 0) return read_buffer(i);
  if (const int i = place(b.writes); i >= 0) return written_buffer(i);
  return buffer;
}

inline step without_names(const step& what, const schedule& s) {
  if (const std::string* name = block_name(*what))
    return with_block_name(
        what, primitive::place_of_block(s.function(), primitive::get_block(s.function(), *name)));
  for (std::size_t i = 1; i < what->args.size(); ++i) {
    const auto* buffer = std::get_if<buffer_selector>(&what->args[i]);
    const auto* block = std::get_if<rv>(&what->args[0]);
    if (!buffer || !block || buffer->in != buffer_selector::list::named) continue;
    const ir::block_node& b = *s.get(block_rv{block->number}).block;
    return changed(what, [&](instruction& out) { out.args[i] = place_of(*buffer, b); });
  }
  return what;
}

inline bool is_only_block(const ir::function& f, const std::string& name, std::uint64_t block) {
  try {
    return primitive::get_block(f, name) == block;
  } catch (const schedule_error&) {  // several blocks have the name
    return false;
  }
}

inline step with_names(const step& what, const schedule& s) {
  const std::string* place = block_name(*what);
  if (!place || !place->starts_with('#')) return what;
  const std::uint64_t block = primitive::get_block(s.function(), *place);
  const primitive::path at = primitive::find_block(s.function(), block);
  const std::string& name = ir::as_realize(at.target())->block->name;
  return is_only_block(s.function(), name, block) ? with_block_name(what, name) : what;
}

/// Names are for reading, and a trace that is not of this program is used, or refused, as it is.
template <class Change>
trace rewritten_or_same(const trace& t, const ir::function& f, const Change& change) {
  try {
    return rewritten(t, f, change);
  } catch (const internal_error&) {
    throw;
  } catch (const error&) {
    return t;
  }
}

inline std::string rewritten_text(const std::string& text, const ir::function& f,
                                  trace (*rewrite)(const trace&, const ir::function&)) {
  if (text.empty()) return text;
  try {
    return rewrite(trace::parse(text), f).print();
  } catch (const argument_error&) {
    return text;
  }
}

}  // namespace detail::trace_names

TILEWRIGHT_INLINE trace by_position(const trace& t, const ir::function& f) {
  return detail::trace_names::rewritten_or_same(t, f, detail::trace_names::without_names);
}

TILEWRIGHT_INLINE trace by_name(const trace& t, const ir::function& f) {
  return detail::trace_names::rewritten_or_same(t, f, detail::trace_names::with_names);
}

TILEWRIGHT_INLINE std::string trace_by_position(const std::string& text, const ir::function& f) {
  return detail::trace_names::rewritten_text(text, f, by_position);
}

TILEWRIGHT_INLINE std::string trace_by_name(const std::string& text, const ir::function& f) {
  return detail::trace_names::rewritten_text(text, f, by_name);
}

}  // namespace tilewright::search
