// control: compiles
#include <tilewright/search/options.hpp>

const tilewright::tuned_options options{.seconds = 5};
