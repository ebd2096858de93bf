// The one file that implements, networks too; a header of the program has declared before.
#include "kernel.hpp"

#define TILEWRIGHT_IMPLEMENT
#include <tilewright/models.hpp>
