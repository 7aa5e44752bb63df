// How is the query of a path read? By a table of fields, as bodies are; no name that it hasn't is passed over.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/schema/field.h"

namespace ferrox {

struct QueryPair {
  std::string name;
  std::string value;  ///< percent-decoded; empty without a '='
};

/// "a=1&b=x". 400: a name twice, or more than 16.
ApiResult<std::vector<QueryPair>> split_query(std::string_view query);

/// An integer where the text is one, else the text.
Json query_number(const std::string& text);

/// 400: "<name>: expected <known, known> in the query, found another name".
ApiError unknown_parameter(const std::string& name, const std::vector<std::string>& known);

namespace query_detail {

/// Texts have numbers for values where the slot takes numbers.
template <class T>
Json value_for(const FieldSlot<T>& slot, const std::string& text) {
  return std::holds_alternative<int64_t& (*)(T&)>(slot) ? query_number(text) : Json(text);
}

template <class T>
std::vector<std::string> names_of(std::span<const Field<T>> table) {
  std::vector<std::string> names;
  for (const Field<T>& field : table) names.emplace_back(field.name);
  return names;
}

}  // namespace query_detail

/// Slots are of int64_t or structured. 400 names the parameter, what it takes and what was found.
template <class T>
ApiResult<T> read_query(std::string_view query, std::span<const Field<T>> table) {
  TRY_ASSIGN(const auto pairs, split_query(query));
  T target;
  Json found = Json::object();
  for (const QueryPair& pair : pairs) {
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const auto& field) { return pair.name == field.name; });
    if (row == table.end()) return unknown_parameter(pair.name, query_detail::names_of(table));
    found[pair.name] = query_detail::value_for<T>(row->slot, pair.value);
    TRY(read_field(table, pair.name, found[pair.name], target));
  }
  TRY(require_fields(table, found, target));
  return target;
}

}  // namespace ferrox
