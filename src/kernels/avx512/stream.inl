// How are rows streamed with AVX-512? The parts that body/stream.inl is put together from.
#include "kernels/avx512/row_codes.inl"

#include "kernels/avx512/grid_codes.inl"

#include "kernels/avx512/stream_lanes.inl"

#include "kernels/body/stream_sums.inl"

#include "kernels/avx512/row_sums.inl"

#include "kernels/body/stream.inl"

namespace ferrox {
namespace {

/// Activation rows up to which weight rows are read in a straight line.
template <class Format>
constexpr int kStreamedRows = 4;

}  // namespace
}  // namespace ferrox
