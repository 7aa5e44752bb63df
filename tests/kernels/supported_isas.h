// Which instruction sets can this machine judge? Every compiled table whose instructions the CPU has.
#pragma once

#include <vector>

#include "kernels/kernel_table.h"

namespace ferrox::testing {

inline std::vector<const KernelTable*> supported_isas() {
  std::vector<const KernelTable*> tables;
  for (const auto* const* isa = all_isas; *isa != nullptr; ++isa) {
    if ((*isa)->supported()) tables.push_back(*isa);
  }
  return tables;
}

}  // namespace ferrox::testing
