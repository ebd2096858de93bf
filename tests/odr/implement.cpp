// The one file that implements; a header of the program has declared before.
#include "kernel.hpp"

#define TILEWRIGHT_IMPLEMENT
#include <tilewright/tilewright.hpp>
