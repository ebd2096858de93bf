// Whatever the bytes: the script parser gives a function or an error with its place, and what it
// gives survives printing and parsing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ir::function f;
  try {
    f = ir::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const argument_error&) {
    return 0;
  }
  const std::string text = ir::print(f);
  const ir::function again = ir::parse(text);
  if (ir::print(again) != text || !ir::equal(again, f)) std::abort();
  try {
    ir::verify(f);
  } catch (const error&) {
    return 0;  // well written, but no program
  }
  return 0;
}
