// Which bytes of a string were written by the template, and which came from the caller?
#pragma once

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ferrox::jinja {

/// Who wrote a byte: the template (its literals and what the engine prints), or the caller's variables.
enum class Origin : uint8_t { kTemplate, kData };

/// Whether a string was declared safe for HTML; joining such a string with `+` escapes the other side, as in Python.
enum class Markup : uint8_t { kNo, kYes };

/// UTF-8 bytes plus the origin of each, kept as runs:
///
///     bytes  < | u s e r | > h e l l o
///     runs   [0,7) template  [7,12) data
///
/// Every operation of the engine that builds a string builds it from pieces of Texts, so origins survive it.
class Text {
 public:
  Text() = default;
  Text(std::string bytes, Origin origin);

  std::string_view bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  Markup markup() const { return markup_; }
  void set_markup(Markup markup) { markup_ = markup; }

  /// Adds bytes of one origin at the end.
  void append(std::string_view bytes, Origin origin);
  /// Adds another text, or its byte range [begin, end), with its origins.
  void append(const Text& other) { append(other, 0, other.size()); }
  void append(const Text& other, size_t begin, size_t end);

  /// The byte range [begin, end) as a text of its own; keeps the markup flag.
  Text slice(size_t begin, size_t end) const;

  /// Calls visit(std::string_view bytes, Origin) for each maximal run of one origin within [begin, end), in order.
  template <class Visit>
  void for_each_run(size_t begin, size_t end, Visit&& visit) const {
    for (size_t i = run_at(begin); begin < end; ++i) {
      const size_t stop = runs_[i].end < end ? runs_[i].end : end;
      visit(bytes().substr(begin, stop - begin), runs_[i].origin);
      begin = stop;
    }
  }

 private:
  struct Run {
    size_t end;
    Origin origin;
  };
  size_t run_at(size_t byte) const;

  std::string bytes_;
  boost::container::small_vector<Run, 2> runs_;  // ends ascend; the last one is bytes_.size()
  Markup markup_ = Markup::kNo;
};

}  // namespace ferrox::jinja
