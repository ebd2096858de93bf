// The formats that a call may convert a matrix of compressed rows into, and a kernel in one of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/expr/kernel.hpp>
#include <tilewright/impl/model/formats/converted_arrays.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::detail {

struct known_format {
  const char* family;       // in names of algorithms, before the numbers
  std::array<int, 2> size;  // the numbers
  int sizes;                // how many
  dim form;
  format_maker make;

  /// Rows and columns of its blocks; 0: it has none.
  int block() const {
    if (form.storage == dim_storage::bsr) return form.group;
    if (form.storage != dim_storage::parts) return 0;
    return form.parts.at[0].storage == dim_storage::bsr ? form.parts.at[0].group : 0;
  }
  /// Places of rows of one width, and how many parts the columns have; 0: it has no such rows.
  int width() const { return is_hybrid() ? size[1] : 0; }
  int column_parts() const { return is_hybrid() ? size[0] : 1; }
  /// Of rows side by side; 0: it has none.
  int window() const { return form.storage == dim_storage::sell ? size[1] : 0; }

  std::vector<std::int64_t> numbers() const { return {size.begin(), size.begin() + sizes}; }
  /// "sell<8, 4096>", "bsr_and_rows<16>"
  std::string name() const {
    std::string out = std::string(family) + "<" + std::to_string(size[0]);
    if (sizes > 1) out += ", " + std::to_string(size[1]);
    return out + ">";
  }

 private:
  bool is_hybrid() const {
    return form.storage == dim_storage::parts && form.parts.at[0].storage == dim_storage::ell;
  }
};

template <int Lanes, int Window>
inline constexpr known_format side_by_side = {
    "sell", {Lanes, Window}, 2, sell<"K", Lanes>, convert<sell<"K", Lanes>, Window>};
template <int Block>
inline constexpr known_format in_blocks = {
    "bsr", {Block, 0}, 1, bsr<"K", Block>, convert<bsr<"K", Block>, 0>};
template <int Block>
inline constexpr dim blocks_then_rows = parts<bsr<"K", Block>, compressed<"K">>;
template <int Block>
inline constexpr known_format blocks_and_rows = {
    "bsr_and_rows", {Block, 0}, 1, blocks_then_rows<Block>, convert<blocks_then_rows<Block>, 0>};
template <int Width>
inline constexpr dim width_then_rows = parts<ell<"K", Width>, dcsr<"K">>;
template <int Width>
inline constexpr dim halves_then_rows = parts<ell<"K", Width>, ell<"K", Width>, dcsr<"K">>;
/// Rows of one width, of all columns or of each half of them, beside what is left (HYB: Bell and Garland, SC 09;
/// hyb(c, k): SparseTIR).
template <int Width>
inline constexpr known_format hybrid = {
    "hyb", {1, Width}, 2, width_then_rows<Width>, convert<width_then_rows<Width>, 0>};
template <int Width>
inline constexpr known_format hybrid_in_halves = {
    "hyb", {2, Width}, 2, halves_then_rows<Width>, convert<halves_then_rows<Width>, 0>};

/// In the order in which a session measures them first. Formats of one family are one after the other.
inline constexpr known_format known_formats[] = {side_by_side<8, 4096>,
                                                 side_by_side<16, 4096>,
                                                 side_by_side<8, 256>,
                                                 side_by_side<16, 256>,
                                                 in_blocks<16>,
                                                 in_blocks<8>,
                                                 in_blocks<4>,
                                                 blocks_and_rows<16>,
                                                 blocks_and_rows<8>,
                                                 blocks_and_rows<4>,
                                                 hybrid<4>,
                                                 hybrid<16>,
                                                 hybrid_in_halves<4>,
                                                 hybrid_in_halves<16>};

/// The kernel with one parameter in another format.
inline any_kernel with_format(const any_kernel& kernel, std::string_view parameter,
                              const known_format& format) {
  struct owned {
    any_kernel original;
    std::vector<dsl::dim_info> dims;
    dsl::tensor_info tensor;
  };
  const auto own = std::make_shared<owned>(owned{kernel, {}, {}});
  std::vector<const dsl::tensor_info*> params = kernel.params();
  for (const dsl::tensor_info*& t : params) {
    if (t->name != parameter) continue;
    own->dims.assign(t->dims, t->dims + t->rank);
    own->dims.back().storage = format.form.storage;
    own->dims.back().group = format.form.group;
    own->dims.back().parts = format.form.parts;
    own->tensor = *t;
    own->tensor.dims = own->dims.data();
    t = &own->tensor;
  }
  std::vector<dsl::node> nodes = kernel.nodes();
  for (dsl::node& n : nodes)
    if (n.tensor && n.tensor->name == parameter) n.tensor = &own->tensor;
  return {kernel.name(), std::move(params), std::move(nodes), own};
}

/// The one matrix in compressed rows of a kernel; null where there is none or more that is sparse, and
/// where elements of it are looked up.
/// @param followed whether there may be temporaries and parameters on its pattern
inline const dsl::tensor_info* only_compressed(const any_kernel& kernel, bool followed) {
  const dsl::tensor_info* out = nullptr;
  for (const dsl::tensor_info* t : kernel.params()) {
    if (!t->sparse() || (followed && t->rank == 2 && t->pattern() != t->name)) continue;
    if (out || t->rank != 2 || t->dims[0].storage != dim_storage::dense ||
        t->dims[1].storage != dim_storage::compressed)
      return nullptr;
    out = t;
  }
  const auto is_taken = [&](const dsl::tensor_info& t) {
    if (!out) return false;
    return t.name == out->name || (followed && t.rank == 2 && t.pattern() == out->name);
  };
  const bool others = support::any(kernel.nodes(), [&](const dsl::node& n) {
    return n.tensor && n.tensor->sparse() &&
           (!is_taken(*n.tensor) || n.stored == dsl::stored_read::looked_up);
  });
  return others || support::any(
                       kernel.params(),
                       [&](const dsl::tensor_info* t) { return t->sparse() && !is_taken(*t); })
             ? nullptr
             : out;
}

}  // namespace tilewright::detail
