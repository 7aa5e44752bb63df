#include "server/endpoint.h"

namespace ferrox {

ErrorSet errors_of(const Endpoint& endpoint) {
  ErrorSet errors = kTransportErrors | endpoint.refusals;
  if (endpoint.access != Access::kPublic) errors = errors | ErrorSet{ErrorKind::kInvalidApiKey};
  if (endpoint.is_metered) errors = errors | ErrorSet{ErrorKind::kRateLimited};
  return errors;
}

}  // namespace ferrox
