// Is every documented field checked by every endpoint that has it? Below its least, above its most, of a wrong type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/reference/openapi.h"
#include "server/server_rig.h"

namespace ferrox {
namespace {

using ::testing::HasSubstr;
using testing::RawResponse;
using testing::shared_server;

/// One kind of body that an endpoint takes, or its query.
struct Form {
  std::string method;
  std::string path;  ///< with its query, where that isn't what is walked
  std::map<std::string, Json> fields;
  Json base = Json::object();  ///< what must be there
};

struct BadValue {
  Json value;
  std::vector<std::string> said;  ///< that the refusal names
};

const Json& resolved(const Json& document, const Json& schema) {
  if (!schema.contains("$ref")) return schema;
  return document.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
}

/// A value for a field that must be there. A new one needs an example here.
Json example_of(const std::string& name) {
  const std::map<std::string, Json> examples = {
      {"messages", Json::array({{{"role", "user"}, {"content", "x"}}})},
      {"prompt", "x"},
      {"max_tokens", 1},
      {"id", "none"},
  };
  EXPECT_TRUE(examples.contains(name)) << name;
  return examples.at(name);
}

void add_fields(const Json& document, const Json& schema, Form& form) {
  const Json& object = resolved(document, schema);
  if (object.contains("allOf")) {
    for (const Json& part : object["allOf"]) add_fields(document, part, form);
    return;
  }
  for (const auto& [name, field] : object["properties"].items()) form.fields[name] = field;
  for (const Json& name : object.value("required", Json::array())) form.base[name] = example_of(name);
}

/// The path with a number for its parameter, and what its query must have.
std::string target_of(const std::string& path, const Json& operation) {
  std::string target = path.substr(0, path.find('{'));
  if (target != path) target += "0";
  for (const Json& parameter : operation.value("parameters", Json::array())) {
    if (parameter["in"] == "query" && parameter["required"] == true) {
      target += fmt::format("?{}={}", parameter["name"].get<std::string>(),
                            parameter["schema"]["enum"].back().get<std::string>());
    }
  }
  return target;
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  const Json document = openapi_document();
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      if (!operation.contains("requestBody")) continue;
      const Json schema = operation["requestBody"]["content"]["application/json"]["schema"];
      for (const Json& body : schema.value("anyOf", Json::array({schema}))) {
        Form& form = forms.emplace_back();
        form.method = method == "post" ? "POST" : method;
        form.path = target_of(path, operation);
        add_fields(document, body, form);
      }
    }
  }
  return forms;
}

std::vector<BadValue> bad_integers(const Json& schema) {
  const std::vector<std::string> range = {dump_json(schema["minimum"]), dump_json(schema["maximum"])};
  const auto least = schema["minimum"].get<int64_t>();
  const auto most = schema["maximum"].get<uint64_t>();
  const Json above = most == ~uint64_t{0} ? Json(18446744073709551616.0) : Json(most + 1);
  return {{least - 1, range},
          {above, range},
          {static_cast<double>(least % 1000) + 0.5, range},
          {"odd", range},
          {true, range}};
}

std::vector<BadValue> bad_numbers(const Json& schema) {
  const std::vector<std::string> range = {dump_json(schema["minimum"]), dump_json(schema["maximum"])};
  return {{schema["minimum"].get<double>() - 1, range}, {schema["maximum"].get<double>() + 1, range}, {"odd", range}};
}

std::vector<BadValue> bad_strings(const Json& schema) {
  std::vector<BadValue> bad = {{7, {"a string"}}, {false, {"a string"}}};
  if (schema.contains("enum") || !schema.contains("maxLength")) return bad;
  const auto most = schema["maxLength"].get<size_t>();
  bad.push_back({std::string(most + 1, 'x'), {std::to_string(most), std::to_string(most + 1) + " bytes"}});
  if (schema.contains("minLength")) bad.push_back({"", {"from 1 to", "0 bytes"}});
  return bad;
}

/// Of one shape; none for lists and objects.
std::vector<BadValue> bad_scalars(const Json& schema) {
  const std::string type = schema.value("type", "");
  if (type == "integer" && schema.contains("minimum")) return bad_integers(schema);
  if (type == "number") return bad_numbers(schema);
  if (type == "string") return bad_strings(schema);
  if (type == "boolean") return {{7, {"true or false"}}, {"odd", {"true or false"}}};
  return {};
}

/// Where there are several shapes, what is of no other one's type.
std::vector<BadValue> bad_values(const Json& schema) {
  std::vector<BadValue> bad;
  for (const Json& shape : schema.value("anyOf", Json::array({schema}))) {
    for (BadValue& one : bad_scalars(shape)) {
      const bool is_plain = !schema.contains("anyOf") || one.value.type_name() == shape["type"].get<std::string>() ||
                            (shape["type"] == "integer" && one.value.is_number());
      if (is_plain) bad.push_back(std::move(one));
    }
  }
  return bad;
}

bool takes_objects(const Json& schema) {
  for (const Json& shape : schema.value("anyOf", Json::array({schema}))) {
    if (shape.value("type", "") == "object") return true;
  }
  return false;
}

Json error_of(const RawResponse& response) { return Json::parse(response.body)["error"]; }

/// 400 that names the field and the value, and says what was expected.
void expect_refused(const Form& form, const std::string& name, const Json& body, const BadValue& bad) {
  const RawResponse response = shared_server().call(form.method, form.path, body);
  const std::string where =
      fmt::format("{} {}: {} = {}", form.method, form.path, name, dump_json(bad.value).substr(0, 80));
  ASSERT_EQ(response.status, 400) << where << '\n' << response.body;
  const Json error = error_of(response);
  if (error.contains("param")) {
    EXPECT_EQ(error["param"], name) << where;
  }
  const auto message = error["message"].get<std::string>();
  EXPECT_THAT(message, HasSubstr(name + ": expected")) << where;
  for (const std::string& part : bad.said) EXPECT_THAT(message, HasSubstr(part)) << where;
  if (bad.value.is_number() || bad.value == "odd") {
    EXPECT_THAT(message, HasSubstr("found " + dump_json(bad.value))) << where;
  }
}

TEST(FieldWalk, ValuesOutsideTheirRangesAreRefusedByName) {
  int n_values = 0;
  for (const Form& form : all_forms()) {
    for (const auto& [name, schema] : form.fields) {
      if (schema.contains("x-ferrox-refused")) continue;
      for (const BadValue& bad : bad_values(schema)) {
        Json body = form.base;
        body[name] = bad.value;
        expect_refused(form, name, body, bad);
        ++n_values;
      }
    }
  }
  EXPECT_GT(n_values, 1000);
}

TEST(FieldWalk, ObjectsAreRefusedWhereNoneAreTaken) {
  for (const Form& form : all_forms()) {
    for (const auto& [name, schema] : form.fields) {
      const bool is_checked = schema.contains("type") || schema.contains("anyOf");
      if (!is_checked || takes_objects(schema)) continue;
      Json body = form.base;
      body[name] = {{"odd", Json::array({1})}};
      expect_refused(form, name, body, {Json::object(), {"an object"}});
    }
  }
}

TEST(FieldWalk, MembersOfObjectsAreCheckedByTheirPaths) {
  int n_members = 0;
  for (const Form& form : all_forms()) {
    for (const auto& [name, schema] : form.fields) {
      const Json members = schema.value("properties", Json::object());
      for (const auto& [member, inner] : members.items()) {
        for (const BadValue& bad : bad_scalars(inner)) {
          Json body = form.base;
          body[name] = {{member, bad.value}};
          expect_refused(form, name + "." + member, body, bad);
          ++n_members;
        }
      }
    }
  }
  EXPECT_GT(n_members, 0);
}

TEST(FieldWalk, WhatMustBeThereIsAskedForByName) {
  for (const Form& form : all_forms()) {
    for (const auto& [name, value] : form.base.items()) {
      if (name == "messages") continue;  // without it, where either will do, it is a completion
      for (const bool is_null : {false, true}) {
        Json body = form.base;
        body.erase(name);
        if (is_null) body[name] = nullptr;
        expect_refused(form, name, body, {Json(), {"found none"}});
      }
    }
  }
}

TEST(FieldWalk, WhatIsNotServedIsRefusedByName) {
  int n_fields = 0;
  for (const Form& form : all_forms()) {
    for (const auto& [name, schema] : form.fields) {
      if (!schema.contains("x-ferrox-refused")) continue;
      Json body = form.base;
      body[name] = {{"odd", Json::array({1})}};
      const RawResponse response = shared_server().call(form.method, form.path, body);
      EXPECT_EQ(response.status, 501) << form.path << ' ' << name << response.body;
      EXPECT_THAT(response.body, HasSubstr(name));
      ++n_fields;
    }
  }
  EXPECT_GT(n_fields, 20);
}

Json good_value(const Json& schema) {
  const std::string type = schema.value("type", "");
  if (type == "integer" || type == "number") return schema["maximum"];
  if (type == "boolean") return true;
  if (type == "array") return Json::array();
  return "odd";
}

TEST(FieldWalk, WhatHasNoEffectIsListed) {
  int n_listed = 0;
  for (Form form : all_forms()) {
    for (const auto& [name, schema] : form.fields) {
      if (schema.contains("x-ferrox-ignored")) form.base[name] = good_value(schema);
    }
    form.base["made_up"] = 1;
    if (form.fields.contains("max_tokens") && !form.base.contains("max_tokens")) form.base["max_tokens"] = 1;
    const RawResponse response = shared_server().call(form.method, form.path, form.base);
    if (response.status != 200) continue;  // no sessions, no such request
    const std::string listed = ", " + response.headers.at("x-ferrox-ignored") + ",";
    EXPECT_THAT(listed, HasSubstr(", made_up,")) << form.path;
    for (const auto& [name, schema] : form.fields) {
      if (schema.contains("x-ferrox-ignored")) {
        EXPECT_THAT(listed, HasSubstr(", " + name + ",")) << form.path;
      }
    }
    ++n_listed;
  }
  EXPECT_GE(n_listed, 6) << "chats, completions, admission of both, messages and their count";
}

TEST(FieldWalk, QueriesAreCheckedAsBodiesAre) {
  const auto message = [](const char* method, const char* target) {
    const RawResponse response = shared_server().call(method, target, Json::object());
    EXPECT_EQ(response.status, 400) << target;
    return error_of(response)["message"].get<std::string>();
  };
  EXPECT_EQ(message("GET", "/v1/cache?nodes=-1"), "nodes: expected an integer from 0 to 10000, found -1");
  EXPECT_EQ(message("GET", "/v1/cache?nodes=10001"), "nodes: expected an integer from 0 to 10000, found 10001");
  EXPECT_EQ(message("GET", "/v1/cache?nodes=x"), "nodes: expected an integer from 0 to 10000, found \"x\"");
  EXPECT_EQ(message("GET", "/v1/cache?nodes"), "nodes: expected an integer from 0 to 10000, found \"\"");
  EXPECT_EQ(message("GET", "/v1/cache?nodes=1&nodes=2"), "nodes: expected once in a query, found twice");
  EXPECT_EQ(message("GET", "/v1/cache?limit=1"), "limit: expected nodes in the query, found another name");
  EXPECT_EQ(message("POST", "/v1/cache/pins?ttl=31536001"),
            "ttl: expected an integer from 0 to 31536000, found 31536001");
  EXPECT_EQ(message("POST", "/slots/0"), "action: expected save or restore, found none");
  EXPECT_EQ(message("POST", "/slots/0?action=e%6Aect"), "action: expected save or restore, found \"eject\"");
  EXPECT_EQ(shared_server().call("GET", "/v1/cache?nodes=0&").status, 200);
}

}  // namespace
}  // namespace ferrox
