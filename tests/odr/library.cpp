#include "kernel.hpp"

outcome use_in_library() { return use_kernel(); }
