// The avx2 table: the common bodies on this folder's sixteen lanes.
#include "kernels/avx2/vec.h"

#include "kernels/body/table.inl"

namespace ferrox {

extern const KernelTable kernels_avx2;
constexpr KernelTable kernels_avx2 = make_table("avx2", 20);

}  // namespace ferrox
