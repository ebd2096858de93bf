// Elements of a short table at computed places: the table in vector registers, which one or two instructions look up for all lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/backend/llvm/builder.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::backend::llvm::detail::table_parts {

/// What looks a table up: lanes and elements of a register, and elements that one instruction chooses from.
struct lookup {
  std::int64_t lanes, most;
  const char *one,
      *two;  // names of instructions for a table of one register, and of two; null: there is none
};

/// The instruction for elements of so many bytes; nothing where the machine has none.
inline std::optional<lookup> lookup_of(const target::cpu& cpu, std::int64_t bytes) {
  if (bytes == 1 && cpu.has("avx512vbmi"))
    return lookup{64, 256, "llvm.x86.avx512.permvar.qi.512", "llvm.x86.avx512.vpermi2var.qi.512"};
  if (bytes == 4 && cpu.has("avx512f"))
    return lookup{16, 64, "llvm.x86.avx512.permvar.si.512", "llvm.x86.avx512.vpermi2var.d.512"};
  if (bytes == 4 && cpu.has("avx2")) return lookup{8, 16, "llvm.x86.avx2.permd", nullptr};
  return std::nullopt;
}

/// Lanes from `first` on, as many as a register has; those behind the last one repeat it.
inline value_ref part_of(const builder& b, value_ref all, std::int64_t lanes, std::int64_t first,
                         std::int64_t count) {
  std::vector<std::int64_t> from;
  for (std::int64_t i = 0; i < count; ++i) from.push_back(std::min(first + i, lanes - 1));
  return b.c.BuildShuffleVector(b.b, all, all, b.integers(b.i32, from), "");
}

/// The parts one behind the other, the first `lanes` of them.
inline value_ref joined(const builder& b, std::vector<value_ref> parts, std::int64_t width,
                        std::int64_t lanes) {
  while (parts.size() > 1) {
    std::vector<std::int64_t> from;
    for (std::int64_t i = 0; i < 2 * width; ++i) from.push_back(i);
    std::vector<value_ref> pairs;
    for (std::size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(b.c.BuildShuffleVector(
          b.b, parts[i], parts[std::min(i + 1, parts.size() - 1)], b.integers(b.i32, from), ""));
    parts = std::move(pairs);
    width *= 2;
  }
  return width == lanes ? parts[0] : part_of(b, parts[0], width, 0, lanes);
}

/// The table of `elements` integers at `from`, in registers; what is behind it is not read.
inline std::vector<value_ref> loaded(const builder& b, const lookup& how, std::int64_t bytes,
                                     value_ref from, std::int64_t elements) {
  const type_ref all = b.vector(bytes == 1 ? b.i8 : b.i32, static_cast<int>(how.lanes));
  std::vector<value_ref> out;
  for (std::int64_t first = 0; first < elements; first += how.lanes) {
    const value_ref at = b.byte_pointer(from, first * bytes);
    if (first + how.lanes <= elements) {
      out.push_back(b.load(all, at, static_cast<unsigned>(bytes)));
      continue;
    }
    std::vector<std::int64_t> there;
    for (std::int64_t i = 0; i < how.lanes; ++i) there.push_back(first + i < elements);
    out.push_back(
        b.intrinsic("llvm.masked.load", {all, b.ptr},
                    {at, b.integer(b.i32, bytes), b.integers(b.i1, there), b.c.ConstNull(all)}));
  }
  return out;
}

/// The elements at the places in `at`, a vector of integers as wide as these, for one register of lanes.
inline value_ref looked_up(const builder& b, const lookup& how, const std::vector<value_ref>& table,
                           value_ref at, type_ref integer) {
  const std::size_t of_one = how.two && table.size() > 1 ? 2 : 1;
  value_ref out = nullptr;
  for (std::size_t first = 0; first < table.size(); first += of_one) {
    const bool pair = of_one == 2 && first + 1 < table.size();
    const value_ref found = pair ? b.target_intrinsic(how.two, {table[first], at, table[first + 1]})
                                 : b.target_intrinsic(how.one, {table[first], at});
    const auto begin = static_cast<std::int64_t>(first) * how.lanes;
    const value_ref behind = out ? b.compare(int_predicate::uge, at,
                                             b.integer(integer, begin, static_cast<int>(how.lanes)))
                                 : nullptr;
    out = out ? b.select(behind, found, out) : found;
  }
  return out;
}

}  // namespace tilewright::backend::llvm::detail::table_parts
