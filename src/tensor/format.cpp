#include "tensor/format.h"

#include <strings.h>

#include <string>

namespace ferrox {

const FormatInfo* find_format(DType dtype) {
  for (const auto* const* format = all_format; *format != nullptr; ++format) {
    if ((*format)->dtype == dtype) return *format;
  }
  return nullptr;
}

const FormatInfo* find_format(std::string_view name) {
  for (const auto* const* format = all_format; *format != nullptr; ++format) {
    if (strcasecmp((*format)->name, std::string(name).c_str()) == 0) return *format;
  }
  return nullptr;
}

}  // namespace ferrox
