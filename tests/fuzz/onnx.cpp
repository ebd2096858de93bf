// Whatever the bytes: the reader gives a graph or an error, and inference types the graph or says
// which node makes no sense.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    network::graph g =
        interop::parse_onnx(std::string_view(reinterpret_cast<const char*>(data), size));
    network::print(g);
    std::int64_t elements = 0;  // constants larger than the file are made by folding alone
    for (const network::value_id v : g.inputs)
      for (std::int64_t& e : g.at(v).type->extents)
        if (e < 0) e = 2;
    for (const network::value& v : g.values)
      if (v.data) elements += v.data->type().elements();
    if (elements < 10000) network::infer_types(g);
  } catch (const error&) {
  }
  return 0;
}
