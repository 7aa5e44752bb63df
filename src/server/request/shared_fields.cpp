// Which values do seeds and deadlines take?
#include "server/request/shared_fields.h"

namespace ferrox {

ApiResult<void> read_seed(const Json& value, GenerationParams& params) {
  if (value.is_number_unsigned()) {
    params.seed = value.get<uint64_t>();
    return {};
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const auto seed = read_integer("seed", value, {-kExact, kExact});
  if (!seed) return wrong_value("seed", "an integer from -9007199254740992 to 18446744073709551615", value);
  if (*seed != -1) params.seed = static_cast<uint64_t>(*seed);  // -1 asks for a random one
  return {};
}

ApiResult<void> read_timeout(const Json& value, GenerationParams& params) {
  TRY_ASSIGN(const double seconds, read_number("timeout", value, {0, 86'400}));
  params.request.timeout_ms = static_cast<int64_t>(seconds * 1000);
  return {};
}

}  // namespace ferrox
