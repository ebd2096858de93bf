#include "kernel.hpp"

outcome use_in_other() { return use_kernel(); }
