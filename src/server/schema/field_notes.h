// What becomes of fields without effect? They are listed, or refused where the server is strict and no table has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/api_error.h"

namespace ferrox {

/// What happens to names that no table has?
enum class UnknownFields { kListed, kRefused };

/// What a body is read into notes what of it had no effect.
struct FieldNotes {
  UnknownFields unknown = UnknownFields::kListed;
  std::vector<std::string> ignored;  ///< nested names with their path
};

/// Lists a name that no table has, or refuses it.
inline ApiResult<void> pass_over(std::string name, FieldNotes& notes) {
  if (notes.unknown == UnknownFields::kRefused) {
    return invalid_request(name, name + ": expected a field of this endpoint, found an unknown one");
  }
  notes.ignored.push_back(std::move(name));
  return {};
}

}  // namespace ferrox
