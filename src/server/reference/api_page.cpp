#include "server/reference/api_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "server/anthropic/message_error.h"
#include "server/endpoint.h"
#include "server/reference/shape_text.h"

namespace ferrox {
namespace {

constexpr const char* kHead = R"(# Paths, fields and errors

Made by `ferrox openapi --markdown` from the tables that requests are read with. [The guide](http-api.md) explains what
they are for; `GET /openapi.json` of a server says the same for programs.

- A field that isn't in a table is accepted and named in the response header `x-ferrox-ignored`, as are those without effect;
  with `--strict` unknown ones are refused (400).
- A refused field is known and not served: 501, unless its value asks for nothing.
- `null` stands for a field that isn't there. A text's length is in bytes of UTF-8.
- Access: *public* needs no key. Where the server has keys, *key* needs one and *admin* that of an admin.
)";

/// A cell of a table can hold no line end and no bar.
std::string cell(std::string text) {
  for (size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2)) text.insert(bar, "\\");
  return text;
}

std::string anchor(std::string_view heading) {
  std::string id;
  for (const char c : heading) {
    if (c == ' ') id += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return id;
}

std::string link(const std::string& heading) { return fmt::format("[{}](#{})", heading, anchor(heading)); }

std::string heading_of(const Endpoint& endpoint) { return fmt::format("{} {}", endpoint.method, endpoint.path); }

std::string value_text(const FieldDescription& field) {
  if (field.standing == Standing::kRefused) return "*refused*";
  if (field.standing == Standing::kIgnored) return "*without effect*";
  std::string text = shape_text(field.schema);
  return field.is_required ? text + ", *required*" : text;
}

std::string default_text(const FieldDescription& field) {
  return field.schema.contains("default") ? fmt::format("`{}`", dump_json(field.schema["default"])) : "";
}

std::string field_rows(const std::vector<FieldDescription>& fields) {
  std::string rows = "| field | value | default | |\n|---|---|---|---|\n";
  for (const FieldDescription& field : fields) {
    rows += fmt::format("| `{}` | {} | {} | {} |\n", field.name, cell(value_text(field)), cell(default_text(field)),
                        cell(field.doc));
  }
  return rows;
}

std::string body_text(const BodyDescription& body) {
  std::string text;
  for (const FieldGroup& group : body.groups) text += (text.empty() ? "" : " and ") + link(group.name);
  return text;
}

std::string bodies_text(const std::vector<BodyDescription>& bodies) {
  std::string text;
  for (const BodyDescription& body : bodies) text += (text.empty() ? "" : ", or ") + body_text(body);
  return text;
}

const char* answer_text(AnswerKind answer) {
  switch (answer) {
    case AnswerKind::kJson:
      return "JSON";
    case AnswerKind::kJsonOrEvents:
      return "JSON; with `stream`, server-sent events";
    case AnswerKind::kEvents:
      return "server-sent events";
    case AnswerKind::kText:
      break;
  }
  return "text";
}

/// What it may be refused with beside what any request may be.
std::string codes_text(const Endpoint& endpoint) {
  std::string codes;
  for (const ErrorRow& row : error_table()) {
    if (!errors_of(endpoint).contains(row.kind) || kTransportErrors.contains(row.kind)) continue;
    codes += fmt::format("{}`{}` ({})", codes.empty() ? "" : ", ", row.code, row.status);
  }
  return codes;
}

std::string section(const Endpoint& endpoint) {
  std::string text = fmt::format("\n### {}\n\n{}.", heading_of(endpoint), endpoint.summary);
  if (*endpoint.detail != '\0') text += fmt::format(" {}", endpoint.detail);
  text += fmt::format("\n\n- Access: {}\n", access_name(endpoint.access));
  if (endpoint.bodies != nullptr) text += fmt::format("- Body: {}\n", bodies_text(endpoint.bodies()));
  text += fmt::format("- Answer: {}\n", answer_text(endpoint.answer));
  if (const std::string codes = codes_text(endpoint); !codes.empty()) text += fmt::format("- Refusals: {}\n", codes);
  if (endpoint.query != nullptr) text += "\nQuery:\n\n" + field_rows(endpoint.query());
  return text;
}

/// By path, so that the methods of one stand together.
std::vector<const Endpoint*> endpoints_by_path() {
  std::vector<const Endpoint*> all;
  for (const Endpoint* const* endpoint = all_endpoint; *endpoint != nullptr; ++endpoint) all.push_back(*endpoint);
  const auto key = [](const Endpoint* endpoint) {
    return std::pair<std::string_view, std::string_view>(endpoint->path, endpoint->method);
  };
  std::ranges::sort(all, {}, key);
  return all;
}

/// Every table that a body has, each once.
std::vector<FieldGroup> groups_of(const std::vector<const Endpoint*>& endpoints) {
  std::vector<FieldGroup> groups;
  for (const Endpoint* endpoint : endpoints) {
    if (endpoint->bodies == nullptr) continue;
    for (BodyDescription& body : endpoint->bodies()) {
      for (FieldGroup& group : body.groups) {
        if (std::ranges::find(groups, group.name, &FieldGroup::name) == groups.end())
          groups.push_back(std::move(group));
      }
    }
  }
  return groups;
}

std::string error_rows() {
  std::string rows;
  for (const ErrorRow& row : error_table()) {
    rows += fmt::format("| {} | `{}` | `{}` | `{}` | {} |\n", row.status, row.code, row.type,
                        message_error_type(row.status), cell(row.meaning));
  }
  return rows;
}

std::string codes_of(ErrorSet set) {
  std::string statuses;
  for (const ErrorRow& row : error_table()) {
    if (set.contains(row.kind)) statuses += fmt::format("{}{}", statuses.empty() ? "" : ", ", row.status);
  }
  return statuses;
}

}  // namespace

std::string api_page() {
  const std::vector<const Endpoint*> endpoints = endpoints_by_path();
  std::string page = kHead;
  page += "\n## Paths\n\n| path | access | |\n|---|---|---|\n";
  for (const Endpoint* endpoint : endpoints) {
    page += fmt::format("| {} | {} | {} |\n", link(heading_of(*endpoint)), access_name(endpoint->access),
                        cell(endpoint->summary));
  }
  for (const Endpoint* endpoint : endpoints) page += section(*endpoint);
  page += "\n## Fields\n";
  for (const FieldGroup& group : groups_of(endpoints)) {
    page += fmt::format("\n### {}\n\n{}:\n\n{}", group.name, group.doc, field_rows(group.fields));
  }
  page +=
      "\n## Errors\n\n`type` is that of OpenAI's body, and of Anthropic's under `/v1/messages`.\n\n"
      "| status | code | type | Anthropic's type | |\n|---|---|---|---|---|\n" +
      error_rows();
  page += fmt::format(
      "\nAny request may be refused with {}. Where that happens before its path is known ({}) it has OpenAI's "
      "body.\n",
      codes_of(kTransportErrors), codes_of(kUnreadErrors));
  return page;
}

}  // namespace ferrox
