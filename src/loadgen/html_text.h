// How does foreign text stand in a page without becoming a part of it?
#pragma once

#include <string>
#include <string_view>

namespace ferrox {

/// `text` with the five characters that mean something to HTML, in and out of attributes, written as entities.
std::string html_text(std::string_view text);

}  // namespace ferrox
