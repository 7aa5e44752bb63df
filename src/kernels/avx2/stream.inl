// How are rows streamed with AVX2? The parts that body/stream.inl is put together from.
#include "kernels/avx2/row_codes.inl"
#include "kernels/avx2/stream_lanes.inl"

#include "kernels/body/stream_sums.inl"

#include "kernels/avx2/row_sums.inl"

#include "kernels/body/stream.inl"

namespace ferrox {
namespace {

/// Activation rows up to which weight rows are read in a straight line. Small codes are worth a panel from three rows
/// on: there, eight weight rows share a multiplication by the scale.
template <class Format>
constexpr int kStreamedRows = Format::kScale != ScaleKind::kFloat&& ShapeOf<Format>::kWordSteps >= 4 ? 2 : 4;

}  // namespace
}  // namespace ferrox
