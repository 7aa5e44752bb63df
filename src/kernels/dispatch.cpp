#include "kernels/dispatch.h"

#include <cstdlib>

namespace ferrox {
namespace {

std::string compiled_names() {
  std::string names;
  for (const auto* const* isa = all_isas; *isa != nullptr; ++isa)
    names += (names.empty() ? "" : ", ") + std::string((*isa)->name);
  return names;
}

Result<const KernelTable*> choose() {
  if (const char* forced = std::getenv("FERROX_ISA"); forced != nullptr && *forced != '\0') {
    const KernelTable* table = find_isa(forced);
    if (table == nullptr) {
      return make_error(ErrorCode::kInvalidArgument, "FERROX_ISA: expected one of {}, found '{}'", compiled_names(),
                        forced);
    }
    if (!table->supported()) {
      return make_error(ErrorCode::kUnsupported, "FERROX_ISA: this CPU lacks what '{}' needs", forced);
    }
    return table;
  }
  const KernelTable* best = nullptr;
  for (const auto* const* isa = all_isas; *isa != nullptr; ++isa) {
    if ((*isa)->supported() && (best == nullptr || (*isa)->rank > best->rank)) best = *isa;
  }
  return best;
}

}  // namespace

Result<const KernelTable*> active_kernels() {
  static const Result<const KernelTable*> chosen = choose();
  return chosen;
}

const KernelTable* find_isa(const std::string& name) {
  for (const auto* const* isa = all_isas; *isa != nullptr; ++isa) {
    if (name == (*isa)->name) return *isa;
  }
  return nullptr;
}

const FormatKernels* find_format_kernels(const KernelTable& table, DType dtype) {
  for (const FormatKernels* format = table.formats; format->product != nullptr; ++format) {
    if (format->dtype == dtype) return format;
  }
  return nullptr;
}

}  // namespace ferrox
