// What is known of a request's fields, whatever they are read into? What documentation is made of.
#pragma once

#include <string>
#include <vector>

#include "server/json_text.h"

namespace ferrox {

enum class Standing {
  kServed,
  kIgnored,  ///< accepted, without effect
  kRefused,  ///< refused by name, unless the value asks for nothing
};

struct FieldDescription {
  std::string name;
  std::string doc;
  Standing standing = Standing::kServed;
  bool is_required = false;
  Json schema = Json::object();  ///< JSON Schema: type, bounds, default; empty: any value
};

/// A table of fields, under a name of the document.
struct FieldGroup {
  std::string name;
  std::string doc;
  std::vector<FieldDescription> fields;
};

/// A body that has the fields of these groups, under a name of the document: that of its group, where it has one.
struct BodyDescription {
  std::string name;
  std::vector<FieldGroup> groups;
};

/// A body of one table.
inline BodyDescription one_table(std::string name, std::string doc, std::vector<FieldDescription> fields) {
  BodyDescription body{name, {}};
  body.groups.push_back({std::move(name), std::move(doc), std::move(fields)});
  return body;
}

}  // namespace ferrox
