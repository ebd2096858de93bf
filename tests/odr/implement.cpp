// The one file that implements, networks too; headers of the program have declared before.
#include <tilewright/models.hpp>

#include "kernel.hpp"

#define TILEWRIGHT_IMPLEMENT
#include <tilewright/models.hpp>
