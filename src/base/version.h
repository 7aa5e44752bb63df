// Which version of ferrox is this?
#pragma once

namespace ferrox {

/// The project's version as CMakeLists.txt states it: "0.1.0".
extern const char* const kVersion;

}  // namespace ferrox
