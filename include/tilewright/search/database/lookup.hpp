// Why a lookup found what it found: the stored keys that come near the wanted one, field by field.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/record.hpp>

namespace tilewright::search {

/// A stored record beside a wanted one.
struct near_record {
  record stored;
  /// One sentence per field of the key that differs, in the order of record_key.
  std::vector<std::string> differences;
  /// 0 for an equal key. Instruction set, argument classes and thread count count 1 each, other
  /// extents of the same kernel 2 and the sum of |log2| of the ratios on top, another kernel 100.
  double distance = 0;
};

/// The chosen records of `db`, at most `most`, nearest first; among equally near ones those of the
/// same CPU model, then of the same code generator, then of the same lowering revision, then the
/// newest. Key, family, extents and provenance of `wanted` are looked at; a family that is empty is
/// unknown.
std::vector<near_record> nearest_records(const database& db, const record& wanted,
                                         std::size_t most);

/// In words: what is stored for a key and where it was measured, whether its code can be loaded as
/// it is; or why nothing is chosen for it and which stored keys come nearest.
std::string explain_lookup(const database& db, const record& wanted);

}  // namespace tilewright::search
