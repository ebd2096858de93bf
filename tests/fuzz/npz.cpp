// Whatever the bytes: the reader of SciPy's .npz archives gives a matrix whose pattern is right, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <tilewright/support/error.hpp>
#include <tilewright/support/sparse_pattern.hpp>

#include "../../tools/arrays/npz.hpp"
#include "../../tools/command.hpp"

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tool::npz_limits limits{1 << 20, 1 << 16};
  try {
    const tool::stored_matrix m =
        tool::parse_npz("input", {reinterpret_cast<const char*>(data), size}, limits);
    const std::string offsets = "offsets", indices = "indices";
    if (!support::wrong_pattern(
             support::pattern_view<std::int64_t>{m.offsets().data(), m.indices().data(), m.rows(),
                                                 m.columns(), m.nonzeros(), offsets, indices})
             .empty())
      std::abort();
  } catch (const argument_error&) {
  } catch (const tool::input_error&) {
  }
  return 0;
}
