// Stands for a file that includes a header of its program, and thereby the library, whole. One header
// of the library is enough to show it, and is quick.
#include <tilewright/config.hpp>

#define TILEWRIGHT_IMPLEMENT
#include <tilewright/tilewright.hpp>
