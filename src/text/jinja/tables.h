// Which tables of built-in functions are there?
#pragma once

#include "text/jinja/builtin.h"

namespace ferrox::jinja {

BuiltinTable text_filters();
BuiltinTable sequence_filters();
BuiltinTable selection_filters();
BuiltinTable value_filters();
BuiltinTable all_tests();
BuiltinTable global_functions();
BuiltinTable text_methods();
BuiltinTable text_predicates();
BuiltinTable dict_methods();
BuiltinTable list_methods();

}  // namespace ferrox::jinja
