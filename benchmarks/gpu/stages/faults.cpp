#include "faults.hpp"

#include "../ceilings.hpp"

namespace gpu_faults {

std::vector<entry> all() {
  return {{"fault_illegal", gpu_ceilings::one_kernel("fault_illegal", 1, 32,
                                                     "  volatile float* p = (volatile float*)16;\n"
                                                     "  *p = A[TW_THREAD(x)];\n"
                                                     "  tw_store(B, TW_THREAD(x), *p);\n")},
          {"fault_hang", gpu_ceilings::one_kernel("fault_hang", 1, 32,
                                                  "  const volatile float* p = A;\n"
                                                  "  while (*p > -2.0f) {}\n"
                                                  "  tw_store(B, TW_THREAD(x), *p);\n")}};
}

}  // namespace gpu_faults
