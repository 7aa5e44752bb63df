#include "server/schema/describe.h"

namespace ferrox {

Json properties_of(const std::vector<FieldDescription>& fields) {
  Json properties = Json::object();
  for (const FieldDescription& field : fields) {
    Json& property = properties[field.name];
    property = field.schema;
    property["description"] = field.doc;
    if (field.standing == Standing::kRefused) property["x-ferrox-refused"] = true;
    if (field.standing == Standing::kIgnored) property["x-ferrox-ignored"] = true;
  }
  return properties;
}

std::vector<std::string> required_of(const std::vector<FieldDescription>& fields) {
  std::vector<std::string> names;
  for (const FieldDescription& field : fields) {
    if (field.is_required) names.push_back(field.name);
  }
  return names;
}

}  // namespace ferrox
