#if __has_include(<protozero/pbf_reader.hpp>)
#include "network_file.hpp"

#include <fstream>
#include <string_view>

#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/number_text.hpp>

#include "../assignments.hpp"

namespace tool {

using namespace tilewright;

network::extent_values graph_extents_of(const network_options& o) {
  network::extent_values out;
  for (const auto& [name, text] : split_assignments(o.extents, "--extent")) {
    const std::optional<std::int64_t> extent = support::read_number<std::int64_t>(text);
    if (!extent) throw argument_error("--extent " + name + "=" + text + ": not a number");
    out[name] = *extent;
  }
  return out;
}

bool is_saved(const std::string& file) {
  constexpr std::string_view begin = network::model_file_magic.substr(0, 7);  // of any version
  std::string start(begin.size(), '\0');
  std::ifstream(file, std::ios::binary)
      .read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == begin;
}

network::graph read_network(const network_options& o) {
  if (is_saved(o.file))
    throw argument_error(o.file +
                         ": a saved model, whose kernels are fixed; give the ONNX file that it was "
                         "saved from");
  return interop::read_onnx(o.file);
}

model load(const network_options& o) {
  if (is_saved(o.file)) read_network(o);
  if (o.engine == "emulate" && o.seconds.value_or(0) > 0)
    throw argument_error("--seconds: nothing can be tuned in the emulator; leave one of both out");
  model_options m;
  m.extents = graph_extents_of(o);
  m.seconds = o.seconds.value_or(0);
  m.database = o.database;
  m.mode = m.seconds > 0 ? mode::now : mode::off;
  m.threads = o.threads;
  m.seed = o.seed;
  m.optimize = !o.plain;
  if (o.convolution_error) m.convolution_error = *o.convolution_error;
  m.keep_f16 = o.keep_f16;
  m.verbose = o.verbose;
  m.target = o.target;
  return load_onnx(o.file, m);
}

}  // namespace tool
#endif
