#include "server/reference/openapi.h"

#include <algorithm>
#include <cctype>

#include "base/version.h"
#include "server/anthropic/message_error.h"
#include "server/endpoint.h"
#include "server/reference/error_schemas.h"
#include "server/schema/describe.h"

namespace ferrox {
namespace {

constexpr const char* kAbout =
    "A server of one model that speaks OpenAI's dialect and, under /v1/messages, Anthropic's. null stands for a field "
    "that isn't there. Fields that no table here has are accepted and named in the response header x-ferrox-ignored, "
    "as are those marked x-ferrox-ignored; with --strict unknown ones are refused. Those marked x-ferrox-refused are "
    "known, not served, and refused with status 501, unless their value asks for nothing. Lengths of texts are counted "
    "in bytes of UTF-8 and the schemas' in characters, so that the server may refuse what a schema admits. Keys are "
    "asked for where the server has some.";

Json component(const std::string& section, const std::string& name) {
  return {{"$ref", "#/components/" + section + "/" + name}};
}

/// "post_v1_chat_completions"
std::string operation_id(const Endpoint& endpoint) {
  std::string id = endpoint.method;
  for (const char* c = endpoint.path; *c != '\0'; ++c) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(*c)) != 0;
    if (is_word || id.back() != '_') id += is_word ? *c : '_';
  }
  if (id.back() == '_') id.pop_back();
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return id;
}

bool is_status_of(ErrorSet set, int status) {
  return std::ranges::any_of(error_table(),
                             [&](const ErrorRow& row) { return row.status == status && set.contains(row.kind); });
}

Json group_schema(const FieldGroup& group) {
  Json schema = object_schema(properties_of(group.fields), required_of(group.fields));
  schema["description"] = group.doc;
  return schema;
}

/// Puts a body and its groups among the components, and gives the reference to it.
Json add_body(const BodyDescription& body, Json& schemas) {
  for (const FieldGroup& group : body.groups) schemas[group.name] = group_schema(group);
  if (body.groups.size() > 1) {
    Json parts = Json::array();
    for (const FieldGroup& group : body.groups) parts.push_back(component("schemas", group.name));
    schemas[body.name] = {{"allOf", std::move(parts)}};
  }
  return component("schemas", body.name);
}

bool is_needed(const BodyDescription& body) {
  return std::ranges::any_of(body.groups, [](const FieldGroup& group) { return !required_of(group.fields).empty(); });
}

Json request_body(const std::vector<BodyDescription>& bodies, Json& schemas) {
  Json any = Json::array();
  for (const BodyDescription& body : bodies) any.push_back(add_body(body, schemas));
  Json media = Json::object();
  media["schema"] = any.size() == 1 ? any.front() : Json{{"anyOf", any}};
  Json body = Json::object();
  body["required"] = std::ranges::all_of(bodies, is_needed);
  body["content"]["application/json"] = std::move(media);
  return body;
}

/// The segment in braces, which the registry allows at a path's end.
Json path_parameters(const Endpoint& endpoint) {
  const std::string path = endpoint.path;
  const size_t brace = path.find('{');
  if (brace == std::string::npos) return Json::array();
  Json parameter = Json::object();
  parameter["name"] = path.substr(brace + 1, path.find('}') - brace - 1);
  parameter["in"] = "path";
  parameter["required"] = true;
  parameter["schema"] = {{"type", "string"}};
  return Json::array({std::move(parameter)});
}

Json query_parameter(const FieldDescription& field) {
  Json parameter = Json::object();
  parameter["name"] = field.name;
  parameter["in"] = "query";
  parameter["description"] = field.doc;
  parameter["required"] = field.is_required;
  parameter["schema"] = field.schema;
  return parameter;
}

Json parameters(const Endpoint& endpoint) {
  Json all = path_parameters(endpoint);
  if (endpoint.query == nullptr) return all;
  for (const FieldDescription& field : endpoint.query()) all.push_back(query_parameter(field));
  return all;
}

Json success(AnswerKind answer) {
  Json response = {{"description", "the answer"}};
  Json& content = response["content"];
  if (answer == AnswerKind::kText) {
    content["text/plain"]["schema"] = {{"type", "string"}};
    return response;
  }
  if (answer == AnswerKind::kEvents) {
    response["description"] = "server-sent events";
    content["text/event-stream"]["schema"] = {{"type", "string"}};
    return response;
  }
  content["application/json"]["schema"] = Json::object();
  if (answer == AnswerKind::kJsonOrEvents) {
    response["description"] = "the answer; with stream, server-sent events";
    content["text/event-stream"]["schema"] = {{"type", "string"}};
  }
  return response;
}

Json error_body_schema(const Endpoint& endpoint, int status) {
  const Json openai = component("schemas", kErrorName);
  if (!is_message_path(endpoint.path)) return openai;
  const Json anthropic = component("schemas", kMessageErrorName);
  return is_status_of(kUnreadErrors, status) ? any_of({anthropic, openai}) : anthropic;
}

/// One response for each status, with the codes that it may have here.
Json responses(const Endpoint& endpoint) {
  Json all = {{"200", success(endpoint.answer)}};
  const ErrorSet errors = errors_of(endpoint);
  for (const ErrorRow& row : error_table()) {
    if (!errors.contains(row.kind)) continue;
    Json& response = all[std::to_string(row.status)];
    if (response.is_null()) {
      response = {{"description", row.meaning}, {"x-ferrox-codes", Json::array()}};
      response["content"]["application/json"]["schema"] = error_body_schema(endpoint, row.status);
    } else {
      response["description"] = response["description"].get<std::string>() + "; or " + row.meaning;
    }
    response["x-ferrox-codes"].push_back(row.code);
  }
  return all;
}

/// Either header will do.
Json security(Access access) {
  Json ways = Json::array();
  if (access == Access::kPublic) return ways;
  for (const char* scheme : {"bearer", "x-api-key"}) ways.push_back(Json{{scheme, Json::array()}});
  return ways;
}

Json operation(const Endpoint& endpoint, Json& schemas) {
  Json json = {{"operationId", operation_id(endpoint)}, {"summary", endpoint.summary}};
  if (*endpoint.detail != '\0') json["description"] = endpoint.detail;
  json["x-ferrox-access"] = access_name(endpoint.access);
  json["security"] = security(endpoint.access);
  if (Json all = parameters(endpoint); !all.empty()) json["parameters"] = std::move(all);
  if (endpoint.bodies != nullptr) json["requestBody"] = request_body(endpoint.bodies(), schemas);
  json["responses"] = responses(endpoint);
  return json;
}

Json security_schemes() {
  Json schemes = Json::object();
  schemes["bearer"] = {{"type", "http"}, {"scheme", "bearer"}};
  schemes["x-api-key"] = {{"type", "apiKey"}, {"in", "header"}, {"name", "x-api-key"}};
  return schemes;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

Json openapi_document() {
  Json schemas = error_schemas();
  Json paths = Json::object();
  for (const Endpoint* const* endpoint = all_endpoint; *endpoint != nullptr; ++endpoint) {
    paths[(*endpoint)->path][lower_case((*endpoint)->method)] = operation(**endpoint, schemas);
  }
  Json document = {{"openapi", "3.1.0"}};
  document["info"] = {{"title", "ferrox"}, {"version", kVersion}, {"description", kAbout}};
  document["paths"] = std::move(paths);
  document["components"]["schemas"] = std::move(schemas);
  document["components"]["securitySchemes"] = security_schemes();
  return document;
}

const std::string& openapi_text() {
  static const std::string text = dump_json(openapi_document());
  return text;
}

}  // namespace ferrox
