// Whatever the plan of a saved network says: the reader gives one whose places exist, or an error.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

/// A file around the bytes of a plan, with the digest that it needs.
std::vector<std::byte> file_of(const std::uint8_t* plan, std::size_t size) {
  std::vector<std::byte> out(network::model_file_header + size + 4096);
  std::memcpy(out.data(), network::model_file_magic.data(), 8);
  if (size > 0) std::memcpy(out.data() + network::model_file_header, plan, size);
  const support::hash128 digest = network::digest_of(out.data() + network::model_file_header,
                                                     out.size() - network::model_file_header);
  const std::uint64_t words[4] = {out.size(), size, digest.hi, digest.lo};
  std::memcpy(out.data() + 8, words, sizeof words);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> file = file_of(data, size);
  try {
    for (const network::saved_plan& p : network::read_model_file(file.data(), file.size()))
      for (const network::saved_kernel& k : p.kernels) {
        for (const network::launch::index_check& c : k.checks)  // reads what the argument has
          if (k.arguments[c.param].where == network::saved_argument::constant)
            c.bound.outside(file.data() + k.arguments[c.param].at, c.type);
        backend::deserialize(k.code.data(), k.code.size());
      }
  } catch (const error&) {
  }
  return 0;
}
