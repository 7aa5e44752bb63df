// How far may a kernel's sum be from the one in double precision?
#pragma once

namespace ferrox::testing {

inline constexpr double kHalfUlp = 0x1p-24;  ///< relative, of a float
inline constexpr double kExpError = 2e-7;    ///< relative, as body/math.inl promises

}  // namespace ferrox::testing
