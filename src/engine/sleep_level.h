// How deep does an engine sleep that has nothing to do?
#pragma once

namespace ferrox {

/// Either gives the memory of all keys and values back.
enum class SleepLevel {
  kKeepPrefixes = 1,  ///< prefixes go to the tiers, as far as there are some; weights may be dropped by the system
  kDropAll = 2,       ///< prefixes in memory go, those on disk stay; weights are read again from their file
};

}  // namespace ferrox
