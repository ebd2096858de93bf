// expect: second | tuned_options
#include <tilewright/search/options.hpp>

const tilewright::tuned_options options{.second = 5};
