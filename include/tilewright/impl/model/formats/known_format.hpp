// The formats that a call may convert a matrix of compressed rows into, and a kernel in one of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/expr/kernel.hpp>
#include <tilewright/impl/model/formats/converted_arrays.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::detail {

struct known_format {
  const char* name;
  dim form;
  format_maker make;

  /// Rows and columns of its blocks; 0: it has none.
  int block() const {
    if (form.storage == dim_storage::bsr) return form.group;
    return form.storage == dim_storage::parts ? form.parts.at[0].group : 0;
  }
  /// In names of algorithms: "sell_8", "bsr_16_and_rows".
  std::string identifier() const {
    std::string out;
    for (const char* c = name; *c; ++c)
      if (support::is_ascii_alnum(*c))
        out += *c;
      else if (!out.empty() && out.back() != '_' && *c != '>')
        out += '_';
    return out;
  }
};

template <dim Form>
constexpr known_format known_as(const char* name) {
  return {name, Form, convert<Form>};
}
template <int Block>
inline constexpr dim blocks_and_rows = parts<bsr<"K", Block>, compressed<"K">>;

/// In the order in which a session measures them first.
inline constexpr known_format known_formats[] = {known_as<sell<"K", 8>>("sell<8>"),
                                                 known_as<sell<"K", 16>>("sell<16>"),
                                                 known_as<bsr<"K", 16>>("bsr<16>"),
                                                 known_as<bsr<"K", 8>>("bsr<8>"),
                                                 known_as<bsr<"K", 4>>("bsr<4>"),
                                                 known_as<blocks_and_rows<16>>("bsr<16> and rows"),
                                                 known_as<blocks_and_rows<8>>("bsr<8> and rows"),
                                                 known_as<blocks_and_rows<4>>("bsr<4> and rows")};

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
inline const dsl::tensor_info* only_compressed(const any_kernel& kernel) {
  const dsl::tensor_info* out = nullptr;
  for (const dsl::tensor_info* t : kernel.params()) {
    if (!t->sparse()) continue;
    if (out || t->rank != 2 || t->dims[0].storage != dim_storage::dense ||
        t->dims[1].storage != dim_storage::compressed)
      return nullptr;
    out = t;
  }
  const bool followed = support::any(kernel.nodes(), [&](const dsl::node& n) {
    return n.tensor && n.tensor->sparse() &&
           (n.tensor->name != (out ? out->name : "") || n.stored == dsl::stored_read::looked_up);
  });
  return followed ? nullptr : out;
}

}  // namespace tilewright::detail
