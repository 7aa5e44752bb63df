// What does an object do unless it says otherwise?
#include "text/jinja/object.h"

#include "text/jinja/failure.h"

namespace ferrox::jinja {

Value Object::call(Interpreter&, const Arguments&) { fail("'{}' object is not callable", type_name()); }

std::optional<Value> Object::attribute(Interpreter&, std::string_view) { return std::nullopt; }

}  // namespace ferrox::jinja
