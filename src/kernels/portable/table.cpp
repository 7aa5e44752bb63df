// The portable table: the common bodies on this folder's sixteen lanes.
#include "kernels/portable/vec.h"

#include "kernels/body/table.inl"

namespace ferrox {

extern const KernelTable kernels_portable;
constexpr KernelTable kernels_portable = make_table("portable", 0);

}  // namespace ferrox
