#include "base/version.h"

namespace ferrox {

const char* const kVersion = FERROX_VERSION;

}  // namespace ferrox
