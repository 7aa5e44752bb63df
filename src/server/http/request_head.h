// What stands in a request's head, and what of it does the transport refuse?
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <optional>
#include <string>

#include "server/http/message.h"

namespace ferrox {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

/// A refusal that the transport itself makes.
struct TransportFault {
  int status;
  std::string message;
};

/// The head that `parser` has read, with a new id and without a body.
HttpRequest read_head(const RequestParser& parser);

/// What makes the request's length, target or meaning doubtful: a proxy in front may have read it otherwise, so the
/// connection can't go on.
std::optional<TransportFault> fault_of_head(const RequestParser& parser, const HttpRequest& request);

}  // namespace ferrox
