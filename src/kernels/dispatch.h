// Which instruction set does this process use?
#pragma once

#include <string>

#include "base/result.h"
#include "kernels/kernel_table.h"

namespace ferrox {

/// The table named by FERROX_ISA, or the supported one of the highest rank. Chosen once.
/// Errors: FERROX_ISA names an ISA that wasn't compiled in or that this CPU lacks.
Result<const KernelTable*> active_kernels();

/// A compiled table by name, or nullptr.
const KernelTable* find_isa(const std::string& name);

/// The entry of a weight format, or nullptr.
const FormatKernels* find_format_kernels(const KernelTable& table, DType dtype);

}  // namespace ferrox
