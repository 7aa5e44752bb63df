// How is a running request found and cancelled by its id?
#include "server/running_generations.h"

#include "server/generation.h"
#include "server/keys/api_key.h"

namespace ferrox {

bool RunningGenerations::cancel(std::string_view id, const ApiKey* caller) {
  if (const size_t end = id.find_last_of("-_"); end != std::string_view::npos) id.remove_prefix(end + 1);
  const auto found = by_id_.find(std::string(id));
  if (found == by_id_.end()) return false;
  if (caller != nullptr && !caller->is_admin && found->second->caller() != caller) return false;
  found->second->cancel();
  return true;
}

void RunningGenerations::cancel_all() {
  for (const auto& [id, generation] : by_id_) generation->cancel();
}

}  // namespace ferrox
