// Which values do seeds and deadlines take?
#include "server/request/shared_fields.h"

#include <limits>

#include "server/schema/json_schema.h"

namespace ferrox {
namespace {

constexpr FieldRange kTimeoutS{0, 86'400};

}  // namespace

ApiResult<void> read_seed(const Json& value, GenerationParams& params) {
  if (value.is_number_unsigned()) {
    params.seed = value.get<uint64_t>();
    return {};
  }
  const auto seed = read_integer("seed", value, {-kMostExact, kMostExact});
  if (!seed) return wrong_value("seed", "an integer from -9007199254740992 to 18446744073709551615", value);
  if (*seed != -1) params.seed = static_cast<uint64_t>(*seed);  // -1 asks for a random one
  return {};
}

Json seed_schema() {
  Json schema = integer_schema({-kMostExact, kMostExact});
  schema["maximum"] = std::numeric_limits<uint64_t>::max();
  return schema;
}

ApiResult<void> read_timeout(const Json& value, GenerationParams& params) {
  TRY_ASSIGN(const double seconds, read_number("timeout", value, kTimeoutS));
  params.request.timeout_ms = static_cast<int64_t>(seconds * 1000);
  return {};
}

Json timeout_schema() { return number_schema(kTimeoutS); }

}  // namespace ferrox
