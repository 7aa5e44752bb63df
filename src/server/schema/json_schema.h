// How is what a field takes written as JSON Schema? Bounds that the readers check, said by the same constants.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "server/json_text.h"
#include "server/schema/field_range.h"

namespace ferrox {

/// Bounds as a schema has them: whole ones without a fraction.
Json integer_schema(FieldRange range);
Json number_schema(FieldRange range);
Json boolean_schema();
/// `bytes` are of UTF-8, of which a character has one to four: the schema's bounds, in characters, admit no less.
Json string_schema(FieldRange bytes);
Json array_schema(Json items, FieldRange sizes);
Json one_of_words(const std::vector<std::string>& words);
Json any_of(std::initializer_list<Json> shapes);

/// An object with these members.
Json object_schema(Json properties, const std::vector<std::string>& required);

/// A number as a float of 32 bits means it: 0.8, not 0.800000011920929.
Json shortest_number(float value);

}  // namespace ferrox
