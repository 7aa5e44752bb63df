// Who asks for work? Callers share the engine by their weights.
#pragma once

#include <string>

namespace ferrox {

struct Caller {
  std::string name;   ///< empty: whoever has no name of its own
  double weight = 1;  ///< of its share while others wait too; more than 0
};

}  // namespace ferrox
