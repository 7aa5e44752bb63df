// The avx512 table: the common bodies on this folder's sixteen lanes.
#include "kernels/avx512/vec.h"

#include "kernels/body/table.inl"

namespace ferrox {

extern const KernelTable kernels_avx512;
constexpr KernelTable kernels_avx512 = make_table("avx512", 30);

}  // namespace ferrox
