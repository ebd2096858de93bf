#include "tilewright_engine.hpp"

namespace bench {
peer tilewright_engine() {
  peer out;
  out.name = "tilewright";
  out.missing = "not built yet";
  return out;
}
}  // namespace bench
