// What does a product need? Included after the ISA's vec.h by the files that hold its products, a few formats each.
#include <utility>

#include "formats_list.inl"
#include "kernels/kernel_table.h"

#include "kernels/body/lanes.inl"

#include "kernels/body/panel.inl"
#include "kernels/body/unpack_lanes.inl"

#include "kernels/body/unpack_lanes_32.inl"

#include "kernels/body/finish.inl"

#ifdef FERROX_ISA_MULTIPLY
#include FERROX_ISA_MULTIPLY
#else
#include "kernels/body/multiply_codes.inl"
#endif

#include "kernels/body/multiply_float.inl"

#include "kernels/body/product.inl"

#ifdef FERROX_ISA_STREAM
#include FERROX_ISA_STREAM
#endif
#include "kernels/body/choose_product.inl"
