// How is a template's own refusal told from a mistake in it?
#pragma once

#include <string_view>

namespace ferrox::jinja {

/// Stands before the message that a template gave to raise_exception().
inline constexpr std::string_view kRaised = "template raised: ";

}  // namespace ferrox::jinja
