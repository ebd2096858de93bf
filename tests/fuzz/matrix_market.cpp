// Whatever the bytes: the reader of Matrix Market files gives a matrix whose pattern is right, or an error
// with its place.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <tilewright/interop/matrix_market.hpp>
#include <tilewright/support/sparse_pattern.hpp>

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  matrix_market_options options;
  options.most_rows = 1 << 16;
  options.twice = size % 2 ? duplicates::summed : duplicates::refused;
  try {
    const auto m = parse_matrix_market<float>(
        std::string_view(reinterpret_cast<const char*>(data), size), options);
    const std::string offsets = "offsets", indices = "indices";
    if (!support::wrong_pattern(
             support::pattern_view<std::int32_t>{m.offsets().data(), m.indices().data(), m.rows(),
                                                 m.columns(), m.nonzeros(), offsets, indices})
             .empty())
      std::abort();
  } catch (const argument_error&) {
  }
  return 0;
}
