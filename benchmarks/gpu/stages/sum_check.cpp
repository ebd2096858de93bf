#include "sum_check.hpp"

#include <cstddef>
#include <cstring>

#include "../case_memory.hpp"
#include "../cases/small_cases.hpp"
#include "../result_file.hpp"

namespace gpu_sums {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;

result on_device(const cu::device& device, const gpu_time::device_clock& clock,
                 const backend::artifact& code) {
  const gpu_corpus::entry e = gpu_cases::summed_product();
  const cu::device_code loaded(device, code);
  gpu_case::case_memory memory(device, e.written, 43);
  memory.poison();
  loaded.start(memory.addresses().data(), nullptr, 0);
  clock.settle();
  const double off = memory.difference_in_double();
  constexpr std::size_t product = 2, element = 12345;
  gpu_case::byte_list spoiled = memory.result(product);
  float value = 0;
  std::memcpy(&value, &spoiled[4 * element], sizeof value);
  value += 0.3F;  // as large as a term of its sum
  std::memcpy(&spoiled[4 * element], &value, sizeof value);
  device.copy_in(memory.all()[product].device.get(), spoiled.data(), spoiled.size());
  const bool found = memory.difference_in_double() > e.tolerance;
  return {off <= e.tolerance && memory.outputs_in_sums() == 1 && found,
          gpu_results::number("max_rel_err", off) +
              ", \"one_wrong_element\": " + (found ? "\"found\"" : "\"not found\"")};
}

}  // namespace gpu_sums
