#include "base/units.h"

#include <fmt/format.h>

namespace ferrox {

std::string format_bytes(uint64_t size_bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (size_bytes < 1024) return fmt::format("{} B", size_bytes);
  double value = static_cast<double>(size_bytes);
  int unit = 0;
  while (value >= 1023.5 && unit < 6) {  // 1023.5 and more would be shown as 1024
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace ferrox
